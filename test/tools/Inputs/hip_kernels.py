"""Kernels that AMD's GPUs cannot run as they are asked to."""
# SPDX-License-Identifier: MIT
import triton
import triton.language as tl


@triton.jit
def copy(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i))


@triton.jit
def broken_assembly(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    y = tl.inline_asm_elementwise("v_frobnicate_b32 $0, $1", "=v,v", [tl.load(x + i)], tl.int32, True, 1)
    tl.store(o + i, y)


@triton.jit
def large(x, o):
    tl.store(o + tl.arange(0, 65536), tl.histogram(tl.load(x + tl.arange(0, 128)), 65536))
