"""Classes of key values: values of one class share the choice of an autotuner."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Any

from ... import knobs
from ..._C import libtriton
from ..errors import AutotunerError

KeyClass = Callable[[Any], Any]


def pow2_class(value: int) -> int:
    """The least power of two that is not below `value`; 0 and negative numbers likewise by magnitude."""
    if value < 0:
        return -pow2_class(-value)
    return 1 << (value - 1).bit_length() if value > 0 else 0


def multiple_class(step: int) -> KeyClass:
    """A class that rounds up to a multiple of `step`."""
    if step < 1:
        raise ValueError(f"multiple_class takes a positive step, got {step}")

    def multiple(value: int) -> int:
        return -(-value // step) * step

    return multiple


def bounds_class(*bounds: int) -> KeyClass:
    """A class for each interval between `bounds`, an upper one included; values above all form the last one."""
    ordered = sorted(bounds)

    def interval(value: int) -> int:
        return bisect.bisect_left(ordered, value)

    return interval


def check_names(kernel: str, classes: dict[str, KeyClass], keys: list[str]) -> None:
    for name, key_class in classes.items():
        if name not in keys:
            near = libtriton.suggest_name(name, list(keys))
            raise ValueError(
                f"{kernel}: key_class names `{name}`, which is not in key={list(keys)}{near}"
            )
        if not callable(key_class):
            raise TypeError(
                f"{kernel}: key_class of `{name}` must be a function of one value, such as "
                f"triton.pow2_class, got {key_class!r}"
            )


def class_of(kernel: str, classes: dict[str, KeyClass], name: str, value: Any) -> Any:
    """What stands for `value` of the parameter `name` in a tuning key."""
    key_class = classes.get(name)
    if key_class is None:
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        return pow2_class(value) if is_integer and knobs.autotuning.key_class == "pow2" else value
    try:
        result = key_class(value)
        hash(result)
    except Exception as error:
        shown = getattr(key_class, "__qualname__", repr(key_class))
        raise AutotunerError(
            f"{kernel}: the key class `{shown}` of parameter `{name}` fails for {value!r}: "
            f"{type(error).__name__}: {error}"
        ) from error
    return result
