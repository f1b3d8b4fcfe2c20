"""What Gluon's language has in common with Triton's: constants."""
# SPDX-License-Identifier: MIT

from ....language import constexpr

__all__ = ["constexpr"]
