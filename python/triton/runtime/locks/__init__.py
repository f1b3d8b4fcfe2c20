"""Decisions of autotuners that several processes share."""

# SPDX-License-Identifier: MIT
