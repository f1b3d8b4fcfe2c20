"""The variants of a kernel: listing, recording, compiling before they are launched."""

# SPDX-License-Identifier: MIT
