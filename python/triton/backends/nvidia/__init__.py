"""NVIDIA's GPUs as a target."""
# SPDX-License-Identifier: MIT
