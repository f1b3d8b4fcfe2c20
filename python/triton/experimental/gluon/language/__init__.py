"""The built-ins that Gluon's language shares with Triton's."""
# SPDX-License-Identifier: MIT

from typing import Any

from .... import language as _language
from ....language import constexpr, extra

__all__ = ["constexpr", "extra"]


def __getattr__(name: str) -> Any:
    """Built-ins of Triton's language by the same names."""
    if name in _language.__all__ or name.startswith("__"):
        return getattr(_language, name)
    raise AttributeError(f"Gluon is not part of nereid, which has no `{name}` of its language")
