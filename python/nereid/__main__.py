"""`python -m nereid`: the command `nereid` of the environment of this Python."""

# SPDX-License-Identifier: MIT
import sys

from .cli import main

sys.exit(main())
