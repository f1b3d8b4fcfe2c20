"""Options of launches"""
# SPDX-License-Identifier: MIT

import re

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def product(a, b, out, T: tl.constexpr, K: tl.constexpr):
    i, k = tl.arange(0, T), tl.arange(0, K)
    left = tl.load(a + i[:, None] * K + k[None, :])
    right = tl.load(b + k[:, None] * T + i[None, :])
    tl.store(out + i[:, None] * T + i[None, :], tl.dot(left, right))


def widths(**options):
    """The neighbours along k that a lane holds of an operand."""
    signature = {"a": "*fp16", "b": "*fp16", "out": "*fp32", "T": "constexpr", "K": "constexpr"}
    source = ASTSource(product, signature, constexprs={"T": 64, "K": 64})
    compiled = triton.compile(source, target=GPUTarget("hip", "gfx942", 64), options=options)
    return {int(width) for width in re.findall(r"kWidth = (\d+)", compiled.asm["ttgir"])}


def test_kpack():
    """Differs: Without `kpack` one load from LDS brings 16 bytes of an operand on AMD GPUs; Triton's default is 1, and
    1 given explicitly narrows the loads."""
    assert widths() == widths(kpack=0) == {8}
    assert widths(kpack=1) == {4}
    assert widths(kpack=2) == {8}
