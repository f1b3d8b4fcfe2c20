"""Searching the configurations of an autotuner: classes of keys, estimates, samples, tables."""

# SPDX-License-Identifier: MIT
