"""Tests inside PyTorch/XLA, on its CPU device unless PJRT_DEVICE says otherwise."""
# SPDX-License-Identifier: MIT

import os
import sys

os.environ.setdefault("PJRT_DEVICE", "CPU")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
