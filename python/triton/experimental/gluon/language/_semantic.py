"""What built-ins that others write in Python get as `_semantic`, under Gluon's name."""
# SPDX-License-Identifier: MIT

from typing import Any

from ....language.semantic import TritonSemantic as GluonSemantic

__all__ = ["GluonSemantic"]


def _check(condition: Any, message: Any) -> None:
    if not condition:
        raise ValueError(message())
