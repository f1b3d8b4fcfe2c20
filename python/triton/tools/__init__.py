"""Host-side helpers that kernels' callers use."""
# SPDX-License-Identifier: MIT
