"""Built-ins written in Python: they take `_semantic`, and take and return tensors."""
# SPDX-License-Identifier: MIT

import numpy as np
import triton
import triton.language as tl
from harness import check


@tl.core.builtin
def scaled(x, factor, _semantic=None):
    """Uses built-ins, operators and methods; the factor is a constexpr."""
    assert isinstance(x, tl.tensor) and isinstance(factor, tl.constexpr)
    assert x.type.is_block() and [extent.value for extent in x.shape] == [8]
    y = _semantic.mul(x, factor.value)
    y = y.__add__(1, _semantic=_semantic)
    bigger = _semantic.greater_than(y, 20)
    return tl.where(bigger, tl.cast(y, tl.int32, _semantic=_semantic), 0, _semantic=_semantic)


@tl.core.extern
def split_pair(x, _semantic=None):
    return tl.tuple([tl.sum(x, 0, _semantic=_semantic), x.max(0, _semantic=_semantic)])


@tl.core._tensor_member_fn
@tl.core.builtin
def plus_all(x, *others, _semantic=None):
    for other in others:
        x = _semantic.add(x, other)
    return x


@triton.jit
def helper(x, y):
    return x - y


@tl.core.builtin
def through_jit(x, _semantic=None):
    return _semantic.call_function(helper, (x, 3))


@tl.core.builtin
def constant(n, text, _semantic=None):
    return tl.constexpr(n.value + len(text.value))


def outside(*args, _semantic, **kwargs):
    kwargs["_builder"] = _semantic
    return inner(*args, **kwargs)


def inner(mask, value, *, _builder=None):
    return tl.constexpr(None) if isinstance(mask, tl.constexpr) and mask.value is None else value


outside.__triton_builtin__ = True


@triton.jit
def kernel(x_ptr, out_ptr, n):
    i = tl.arange(0, 8)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, scaled(x, 3))
    total, largest = split_pair(x)
    tl.store(out_ptr + 8, total)
    tl.store(out_ptr + 9, largest)
    tl.store(out_ptr + 10, n.plus_all(1, n))
    tl.store(out_ptr + 11, through_jit(n))
    SIZE: tl.constexpr = constant(4, "ab")
    tl.store(out_ptr + 12, SIZE)
    if outside(None, n) is None:
        tl.store(out_ptr + 13, outside(n > 0, n))


def test_extensions(device):
    x = np.arange(8, dtype=np.int32) * 3
    y = x * 3 + 1
    expected = [*np.where(y > 20, y, 0), x.sum(), x.max(), 15, 4, 6, 7]
    arguments = dict(x_ptr=x, out_ptr=np.zeros(14, np.int32), n=7)
    check(kernel, (1,), arguments, dict(out_ptr=np.array(expected, np.int32)), device=device)
