"""Domains of arguments: what a parameter may be given, reduced to one example of each class."""

# SPDX-License-Identifier: MIT
#
# A class is what the native classifier makes of an example; no rule of specialisation is stated here.
from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from ..._C import libtriton
from ..._dtype_names import canonicalize_dtype
from ..._utils import is_namedtuple
from ...tools.tensor_descriptor import TensorDescriptor

# Values of one constant that a domain may list as a range.
_MOST_CONSTANTS = 4096
_INTEGERS = range(-(2**63), 2**63)


class _Pointee:
    """Stands for a tensor: what the classifier asks of one."""

    def __init__(self, dtype: str, address: int, is_small: bool):
        self.dtype = dtype
        self._address = address
        self._bytes = 0 if is_small else 2**31

    def data_ptr(self) -> int:
        return self._address

    def ptr_range(self) -> int:
        return self._bytes

    def __repr__(self) -> str:
        return f"<tensor of {self.dtype}>"


class pointer:  # noqa: N801  (used as a function is)
    """Tensors of a dtype, or of several, for a domain. `aligned`: whether their addresses are multiples
    of 16, or both: `[True, False]`. `within_2gib`: the same of their storage's size, which matters on
    AMD GPUs.
    """

    def __init__(self, dtype: Any, aligned: Any = True, within_2gib: Any = True):
        self.dtypes = [_name_of(each) for each in _as_list(dtype)]
        self.aligned = _flags("aligned", aligned)
        self.within_2gib = _flags("within_2gib", within_2gib)

    def examples(self) -> Iterator[Any]:
        for dtype, is_aligned, is_small in itertools.product(
            self.dtypes, self.aligned, self.within_2gib
        ):
            yield _Pointee(dtype, 0 if is_aligned else 8, is_small)

    def __repr__(self) -> str:
        return f"triton.pointer({', '.join(self.dtypes)})"


class descriptor:  # noqa: N801
    """Tensor descriptors made on the host, for a domain: of a dtype, with a block shape."""

    def __init__(self, dtype: Any, block_shape: Iterable[int]):
        self.dtypes = [_name_of(each) for each in _as_list(dtype)]
        self.block_shape = list(block_shape)

    def examples(self) -> Iterator[Any]:
        for dtype in self.dtypes:
            example = object.__new__(TensorDescriptor)
            example.base, example.block_shape = _Pointee(dtype, 0, True), self.block_shape
            yield example

    def __repr__(self) -> str:
        return f"triton.descriptor({', '.join(self.dtypes)}, {self.block_shape})"


class Constant:
    """Exactly this value, a list or a range included: what a configuration gives."""

    def __init__(self, value: Any):
        self.value = value


def examples(given: Any, is_constexpr: bool) -> Iterator[Any]:
    """Values that together have each class of what a parameter may be given."""
    if isinstance(given, Constant):
        yield given.value
    elif isinstance(given, (list, set, frozenset)):
        for each in given:
            yield from examples(each, is_constexpr)
    elif is_constexpr:
        yield from _constants(given)
    else:
        yield from _run_time_values(given)


def _constants(given: Any) -> Iterator[Any]:
    if not isinstance(given, range):
        yield given
    elif len(given) > _MOST_CONSTANTS:
        raise ValueError(
            f"{given} has {len(given)} values, each a constant of its own; at most {_MOST_CONSTANTS} are listed"
        )
    else:
        yield from given


def _run_time_values(given: Any) -> Iterator[Any]:
    if isinstance(given, (pointer, descriptor)):
        yield from given.examples()
    elif isinstance(given, range):
        yield from _integers(given)
    elif isinstance(given, type) and given in (int, float, bool):
        yield from _integers(_INTEGERS) if given is int else [given(0)]
    elif isinstance(given, tuple):
        for parts in itertools.product(*(list(examples(part, False)) for part in given)):
            yield type(given)(*parts) if is_namedtuple(given) else parts
    elif isinstance(given, str):
        raise TypeError(
            f"{given!r} is a text; a tensor is a dtype such as torch.float16, or "
            "triton.pointer('fp16'); a number is int, float, a range or a list of numbers"
        )
    elif _is_dtype(given):
        yield from pointer(given).examples()
    else:
        yield given


def _integers(given: range) -> Iterator[int]:
    if not given:
        return
    first, last = min(given[0], given[-1]), max(given[0], given[-1])
    if first not in _INTEGERS or last not in _INTEGERS:
        raise ValueError(f"{given} exceeds 64 bits; list integers from 2**63 on one by one")
    yield from libtriton.integers_of_each_class(first, last, abs(given.step))


def _is_dtype(given: Any) -> bool:
    """Whether it is a dtype of torch, NumPy, JAX or the language."""
    from ...language.core import dtype

    if isinstance(given, dtype):
        return True
    kind = type(given)
    if kind.__name__ == "dtype" and kind.__module__ == "torch":
        return True
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return False
    is_scalar_class = isinstance(given, type) and issubclass(given, numpy.generic)
    return is_scalar_class or isinstance(given, numpy.dtype)


def _name_of(dtype: Any) -> str:
    from ...language.core import pointer_type

    if isinstance(dtype, pointer_type):
        dtype = dtype.element_ty
    text = dtype.__name__ if isinstance(dtype, type) else str(dtype)
    is_name = isinstance(dtype, str) or _is_dtype(dtype)
    with contextlib.suppress(KeyError):
        if is_name:
            return canonicalize_dtype(text)
    near = libtriton.suggest_name(text, [row[1][0] for row in libtriton.element_types()])
    raise TypeError(f"{dtype!r} is no dtype that tensors have{near}")


def _as_list(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (list, tuple, set, frozenset)) else [given]


def _flags(name: str, given: Any) -> list[bool]:
    flags = _as_list(given)
    if not flags or any(type(flag) is not bool for flag in flags):
        raise TypeError(f"`{name}` must be True, False or a list of both, got {given!r}")
    return flags
