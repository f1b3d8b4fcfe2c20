"""A GPU that is simulated on the CPU, as a device."""
# SPDX-License-Identifier: MIT
