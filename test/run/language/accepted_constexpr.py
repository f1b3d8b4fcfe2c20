"""Compile-time values, and run-time values annotated as such"""
# SPDX-License-Identifier: MIT

import enum

import numpy as np
import triton
import triton.language as tl
from _accepted import accepts


class Mode(enum.Enum):
    PLAIN = 1
    NEGATED = 2


MODES = tl.constexpr(Mode)
NEGATED = tl.constexpr(Mode.NEGATED)


@triton.jit
def pick(x, flag: tl.constexpr):
    return tl.where(flag, x, -x)


@triton.jit
def scalar_argument(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, pick(tl.load(x + i), n > 6))


def test_scalar_argument(device):
    """A `tl.constexpr` parameter of a called function takes a run-time scalar."""
    accepts(scalar_argument, lambda x, n: x if n > 6 else -x, device)
    accepts(scalar_argument, lambda x, n: x if n > 6 else -x, device, n=7)


@triton.jit
def tile_argument(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, pick(tl.load(x + i), i < n))


def test_tile_argument(device):
    """A `tl.constexpr` parameter of a called function takes a tile."""
    accepts(tile_argument, lambda x, n: np.where(np.arange(16) < n, x, -x), device)


@triton.jit
def scaled(x, factors: tl.constexpr):
    size: tl.constexpr = factors[1]
    return x * factors[0] + tl.sum(tl.zeros([size], tl.float32) + 1, 0)


@triton.jit
def tuple_argument(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, scaled(tl.load(x + i), (n, 8)))


def test_tuple_argument(device):
    """A `tl.constexpr` parameter takes a tuple with run-time elements; its constants stay constants."""
    accepts(tuple_argument, lambda x, n: x * n + 8, device)


@triton.jit
def add_constexpr(a: tl.constexpr, b: tl.constexpr):
    return a + b


@triton.jit
def combine_function(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.reduce(tl.load(x + i), 0, add_constexpr))


def test_combine_function(device):
    """A combine function may declare its parameters `tl.constexpr`."""
    accepts(combine_function, lambda x, n: x.sum(), device)


@triton.jit
def annotated_local(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    m: tl.constexpr = 2 * n
    v: tl.constexpr = tl.load(x + i)
    tl.store(out + i, v + m)


def test_annotated_local(device):
    """A local annotated `tl.constexpr` takes run-time scalars and tiles."""
    accepts(annotated_local, lambda x, n: x + 2 * n, device)


@triton.jit
def annotated_in_blocks(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.load(x + i)
    for k in range(n):
        m: tl.constexpr = k * 2
        total += m
    if n > 3:
        extra: tl.constexpr = n + 1
        total += extra
    tl.store(out + i, total)


def test_annotated_in_blocks(device):
    """A local annotated `tl.constexpr` in a loop or in a branch does so, too."""
    accepts(annotated_in_blocks, lambda x, n: x + n * (n - 1) + n + 1, device)


@triton.jit
def annotated_then_changed(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    m: tl.constexpr = n * 2
    m += 1
    c: tl.constexpr = 4
    c = c + 1
    tl.store(out + i, tl.load(x + i) + m + c)


def test_annotated_then_changed(device):
    """A local annotated `tl.constexpr` may be assigned again, without an annotation."""
    accepts(annotated_then_changed, lambda x, n: x + 2 * n + 1 + 5, device)


@triton.jit
def bare_annotation(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    m: tl.constexpr
    m = n * 2
    size: tl.constexpr
    size = 8
    tl.store(out + i, tl.load(x + i) + m + tl.sum(tl.zeros([size], tl.float32) + 1, 0))


def test_bare_annotation(device):
    """An annotation without a value applies to the next assignment."""
    accepts(bare_annotation, lambda x, n: x + 2 * n + 8, device)


@triton.jit
def other_annotations(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    m: tl.int32 = n * 2
    k: int = n
    v: tl.tensor = tl.load(x + i)
    tl.store(out + i, v + m + k)


def test_other_annotations(device):
    """Other annotations of locals have no effect."""
    accepts(other_annotations, lambda x, n: x + 3 * n, device)


@triton.jit
def annotated_on_two_sides(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    if n > 3:
        m: tl.constexpr = 1
    else:
        m: tl.constexpr = n
    tl.store(out + i, tl.load(x + i) + m)


def test_annotated_on_two_sides(device):
    """Beyond: a name that both sides of a run-time `if` annotate keeps its value after it."""
    accepts(annotated_on_two_sides, lambda x, n: x + 1, device)
    accepts(annotated_on_two_sides, lambda x, n: x + 2, device, n=2)


@triton.jit
def lowest(dtype):
    if dtype.value.is_floating() and dtype == tl.float32:
        low: tl.constexpr = -100.0
        return low
    least: tl.constexpr = -7
    return least


@triton.jit
def dtype_argument(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=lowest(x.dtype.element_ty)))


def test_dtype_argument(device):
    """A dtype passed to a function is a constexpr there: it has `.value`, comparisons and the type's attributes."""
    accepts(dtype_argument, lambda x, n: np.where(np.arange(16) < n, x, -100), device)


@triton.jit
def add_one(x):
    return x + 1


@triton.jit
def of_values(x, size, name, nothing, sizes, function: tl.constexpr):
    tl.static_assert(name.value == "sum" and name[0] == "s" and nothing.value is None)
    tl.static_assert(sizes[0].value == 4)
    return function(x) + tl.sum(tl.zeros([size.value], tl.float32) + 1, 0)


@triton.jit
def constant_arguments(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.static_assert(B.value == 16)
    tl.store(out + i, of_values(tl.load(x + i), 8, "sum", None, (4, n), add_one))


def test_constant_arguments(device):
    """Every constant argument is a constexpr: a number, a string, None, a function, an element of a tuple."""
    accepts(constant_arguments, lambda x, n: x + 1 + 8, device)


@triton.jit
def of_mode(x, mode: tl.constexpr):
    if mode.value == MODES.NEGATED:
        return -x
    return x


@triton.jit
def enumerations(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.static_assert(
        NEGATED.value.value == 2 and NEGATED.name == "NEGATED" and MODES.PLAIN.value == 1
    )
    tl.store(out + i, of_mode(tl.load(x + i), NEGATED))


def test_enumerations(device):
    """`.value` of a constexpr of an enumeration member is the member; `.value` of the member is its number."""
    accepts(enumerations, lambda x, n: -x, device)


@triton.jit
def asked_for_class(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    t = (n, 2)
    tl.static_assert(
        isinstance(B, int) and not isinstance(B, tl.constexpr) and isinstance(n, tl.tensor)
    )
    tl.static_assert(
        isinstance(t, tl.tuple) and isinstance(x.dtype, tl.dtype) and not hasattr(B, "value")
    )
    tl.store(out + i, tl.load(x + i).to(tl.dtype("fp16")))


def test_asked_for_class(device):
    """`isinstance` and `hasattr` apply to the value of a constexpr; `tl.dtype("fp16")` is a dtype."""
    accepts(asked_for_class, lambda x, n: x, device)


@triton.jit
def after_star(x, *rest, scale, shift=3):
    return x * scale + shift + rest[0]


@triton.jit
def by_name(x, *, shift: tl.constexpr):
    return x + shift


@triton.jit
def keyword_only(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, by_name(after_star(tl.load(x + i), n, scale=2), shift=n))


def test_keyword_only(device):
    """Functions may have keyword-only parameters, after `*` or `*args`."""
    accepts(keyword_only, lambda x, n: 2 * x + 3 + n + n, device)
