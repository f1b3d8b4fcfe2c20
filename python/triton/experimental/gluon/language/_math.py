"""A part of `gluon.language` under a name of its own."""
# SPDX-License-Identifier: MIT

from ....language.math import *  # noqa: F403
