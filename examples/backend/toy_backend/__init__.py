"""A backend of Triton for a toy machine."""
# SPDX-License-Identifier: MIT
