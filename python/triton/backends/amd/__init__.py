"""AMD's GPUs as a target and as devices."""
# SPDX-License-Identifier: MIT
