"""Runs a function of tiles over arrays of any length, for most run-tests of built-ins.

def test_exp(device):
    check_pointwise(tl.exp, [x], np.exp(x), device=device, ulps=2)
"""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np
import triton
import triton.language as tl
from harness import BFloat16, Float8, check

BLOCK = 64
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
OF_TL = {name: getattr(tl, name) for name in [*SIGNED, *UNSIGNED, *FLOATS, "bfloat16"]}
OF_TL["bool"] = tl.int1


def anything(dtype, seed=0, n=500):
    """Values of all kinds: integers of every bit pattern, floats with the special ones."""
    random = np.random.default_rng(seed)
    if np.issubdtype(np.dtype(dtype), np.integer):
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
    x = ((random.random(n) - 0.5) * 20).astype(dtype)
    x[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, np.finfo(dtype).smallest_subnormal]
    return random.permutation(x)


@triton.jit
def one_operand(a_ptr, out_ptr, n, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, FUNCTION(tl.load(a_ptr + offsets, mask)), mask)


@triton.jit
def two_operands(a_ptr, b_ptr, out_ptr, n, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(a_ptr + offsets, mask, other=1)
    b = tl.load(b_ptr + offsets, mask, other=1)
    tl.store(out_ptr + offsets, FUNCTION(a, b), mask)


@triton.jit
def three_operands(a_ptr, b_ptr, c_ptr, out_ptr, n, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(a_ptr + offsets, mask, other=1)
    b = tl.load(b_ptr + offsets, mask, other=1)
    c = tl.load(c_ptr + offsets, mask, other=1)
    tl.store(out_ptr + offsets, FUNCTION(a, b, c), mask)


KERNELS = {1: one_operand, 2: two_operands, 3: three_operands}


def blank(expected: Any) -> Any:
    """An output for `expected`, filled with bytes that no kernel writes by chance."""
    if isinstance(expected, BFloat16):
        return BFloat16(np.full(expected.shape, -77.0))
    if isinstance(expected, Float8):
        return Float8(np.full(expected.shape, 0xCD), expected.dtype)
    out = np.empty(expected.shape, expected.dtype)
    out.view(np.uint8).fill(1 if expected.dtype == bool else 0xCD)
    return out


def check_pointwise(
    function: Any,
    operands: list[Any],
    expected: Any,
    *,
    device: str,
    out: Any = None,
    block: int = BLOCK,
    **tolerance: Any,
) -> None:
    """Compares function(*operands) with `expected`.

    `out` is the output if its type is not that of `expected` (a reference of higher precision).
    """
    n = operands[0].shape[0]
    arguments = dict(zip(("a_ptr", "b_ptr", "c_ptr"), operands, strict=False))
    arguments |= dict(
        out_ptr=blank(expected) if out is None else out, n=n, FUNCTION=function, BLOCK=block
    )
    check(
        KERNELS[len(operands)],
        (triton.cdiv(n, block),),
        arguments,
        dict(out_ptr=expected),
        device=device,
        **tolerance,
    )


def widened(dtype):
    """The type in which integers of a type are added."""
    if dtype in ("int8", "int16"):
        return "int32"
    return "uint32" if dtype in ("uint8", "uint16", "bool") else dtype
