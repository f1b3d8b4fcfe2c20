"""The CPU as a target."""
# SPDX-License-Identifier: MIT
