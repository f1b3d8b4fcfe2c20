"""`triton.experimental.gluon.language`: Gluon's own names, and those that it shares with Triton."""

# SPDX-License-Identifier: MIT
from typing import Any

from .... import language as _language
from ....language import core as _core_names
from ....language import extra
from ._layouts import (
    AutoLayout,
    BlockedLayout,
    CoalescedLayout,
    DistributedLayout,
    DistributedLinearLayout,
    DotOperandLayout,
    NVMMADistributedLayout,
    SharedLayout,
    SliceLayout,
    SwizzledSharedLayout,
)

__all__ = [
    "AutoLayout",
    "BlockedLayout",
    "CoalescedLayout",
    "DistributedLayout",
    "DistributedLinearLayout",
    "DotOperandLayout",
    "NVMMADistributedLayout",
    "SharedLayout",
    "SliceLayout",
    "SwizzledSharedLayout",
    "extra",
]
__all__ += _core_names.bind_names(globals(), __name__)


def __getattr__(name: str) -> Any:
    """Built-ins of Triton's language by the same names."""
    if name in _language.__all__ or name.startswith("__"):
        return getattr(_language, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
