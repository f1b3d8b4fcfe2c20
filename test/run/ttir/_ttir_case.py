"""The table of kernels whose TTIR is read and run, and the decorator that enters one."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Case:
    kernel: Any
    signature: dict[str, str]
    constants: dict[str, Any] = field(default_factory=dict)
    aligned: bool = True  # pointers are multiples of 16
    debug: bool = False


CASES: dict[str, Case] = {}


def case(debug=False, aligned=True, **types):
    """A decorator: the types of the parameters, or their constant values."""

    def add(kernel):
        constants = {name: value for name, value in types.items() if not isinstance(value, str)}
        names = {n: "constexpr" if n in constants else kind for n, kind in types.items()}
        CASES[kernel.__name__] = Case(kernel, names, constants, aligned, debug)
        return kernel

    return add
