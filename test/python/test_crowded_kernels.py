"""Kernels of more values than a thread has registers: what PTX they become, so that assemblers are quick."""
# SPDX-License-Identifier: MIT

import re

import pytest
import triton
import triton.language as tl
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


def ptx_of(kernel, constants, arch=90, num_warps=4, **signature):
    constexprs = dict.fromkeys(constants, "constexpr")
    attrs = {(at,): [["tt.divisibility", 16]] for at in range(len(signature))}
    source = ASTSource(kernel, {**signature, **constexprs}, constants, attrs)
    with knobs.nvidia.scope():
        knobs.nvidia.ptxas = "/bin/true"  # the text alone is looked at
        made = triton.compile(source, GPUTarget("cuda", arch, 32), {"num_warps": num_warps})
    return made.asm["ptx"]


@triton.jit
def scaled(a, s, b, t, o, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 2)
    group = tl.arange(0, K // 32)
    acc = tl.dot_scaled(
        tl.load(a + m[:, None] * (K // 2) + k),
        tl.load(s + m[:, None] * (K // 32) + group),
        "e2m1",
        tl.load(b + k[:, None] * N + n),
        tl.load(t + n[:, None] * (K // 32) + group),
        "e2m1",
    )
    tl.store(o + m[:, None] * N + n, acc)


@pytest.mark.parametrize(("arch", "instruction"), [(80, "mma.sync"), (90, "wgmma.mma_async")])
@pytest.mark.parametrize("shape", [(64, 64, 64), (128, 128, 256)])
def test_scaled_dots_run_on_tensor_cores(arch, instruction, shape):
    pointers = {**dict.fromkeys("asbt", "*u8"), "o": "*fp32"}
    text = ptx_of(scaled, dict(zip("MNK", shape, strict=True)), arch, **pointers)
    assert re.search(rf"{instruction}\S*\.bf16", text)
    assert "fma.rn.f32" not in text
    decoded = (shape[0] + shape[1]) * shape[2] // 128  # values of a thread
    assert text.count("\n") < 3000 + 40 * decoded


@triton.jit
def polynomial(x, o, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    v = tl.load(x + at).to(tl.float32)
    tl.store(o + at, ((v * v + 1) * v + 2) * v + 3)


@pytest.mark.parametrize(("size", "is_crowded"), [(8192, False), (65536, True)])
def test_chains_end_one_after_the_other_where_all_have_no_room(size, is_crowded):
    """Op by op, every step of the chain would hold the whole tile at one time."""
    text = ptx_of(polynomial, {"SIZE": size}, x="*bf16", o="*fp32")
    last_of_chain = max(at.start() for at in re.finditer(r"fma\.rn\.f32", text))
    first_store = text.index("st.global")
    assert (first_store < last_of_chain) == is_crowded
