"""Warnings that are issued once per process: those of Triton 3.9 about changes of its next release.
"""

# SPDX-License-Identifier: MIT
#
# Programs match these texts to silence them. A default of this package that is not about to change has no warning here.
from __future__ import annotations

import functools
import warnings

FP_FUSION_DEFAULT_WARNING = "TRITON_DEFAULT_FP_FUSION is unset: floating-point fusion stays enabled. Set it to 1 or 0 to choose."
CAT_CAN_REORDER_WARNING = (
    "tl.cat(can_reorder=True) is deprecated; pass can_reorder=False (the default)."
)
RESHAPE_CAN_REORDER_WARNING = (
    "tl.reshape(can_reorder=True) is deprecated; pass can_reorder=False (the default)."
)


@functools.cache
def warn_once(message: str) -> None:
    """Issues a UserWarning at the first call with this text."""
    warnings.warn(message, UserWarning, stacklevel=2)


def prewarm_deprecation_warnings() -> None:
    """Marks all warnings as issued."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for message in (
            FP_FUSION_DEFAULT_WARNING,
            CAT_CAN_REORDER_WARNING,
            RESHAPE_CAN_REORDER_WARNING,
        ):
            warn_once(message)
