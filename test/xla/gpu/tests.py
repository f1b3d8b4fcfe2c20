"""Runs the tests of test/xla/torch for any device, by pytest in this process."""
# SPDX-License-Identifier: MIT

import os
import sys

import pytest

TESTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "torch")
FILES = [os.path.join(TESTS, name) for name in ("test_add.py", "test_flash_attention.py")]
sys.exit(pytest.main(["-q", "--show-capture=no", "-W", "ignore", "-p", "no:cacheprovider", *FILES]))
