"""The machine code of warp-group dots: the number of instructions follows from the sizes, none is serialised.

ptxas says in notes C75xx where it waits for wgmma although the PTX has no wait there.
"""
# SPDX-License-Identifier: MIT

import collections
import re
import subprocess

import pytest
import triton
import triton.language as tl
from test_sass import INSTRUCTION, TARGET, disassembler, named
from triton.backends.nvidia.assembler import find_assembler
from triton.compiler.compiler import ASTSource


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, k, am, bk, bn, cm,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TRANSPOSED: tl.constexpr, OUT: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a = a_ptr + i[:, None] * am + depth[None, :]
    if TRANSPOSED:
        b = b_ptr + depth[:, None] + j[None, :] * bn
    else:
        b = b_ptr + depth[:, None] * bk + j[None, :]
    acc = tl.zeros((BM, BN), OUT)
    for _ in range(0, k, BK):
        acc = tl.dot(tl.load(a), tl.load(b), acc, input_precision="tf32", out_dtype=OUT)
        a += BK
        b += BK if TRANSPOSED else BK * bk
    tl.store(c_ptr + i[:, None] * cm + j[None, :], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, o_ptr, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.arange(0, BN)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + i[:, None] * D + d[None, :])
    k_at = k_ptr + j[None, :] * D + d[:, None]
    v_at = v_ptr + j[:, None] * D + d[None, :]
    top = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for _ in range(0, n, BN):
        s = tl.dot(q, tl.load(k_at))
        new_top = tl.maximum(top, tl.max(s, 1) * scale)
        p = tl.exp2(s * scale - new_top[:, None])
        shrink = tl.exp2(top - new_top)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(v_ptr.dtype.element_ty), tl.load(v_at), acc * shrink[:, None])
        top = new_top
        k_at += BN * D
        v_at += BN * D
    tl.store(o_ptr + i[:, None] * D + d[None, :], (acc / total[:, None]).to(o_ptr.dtype.element_ty))


class Code:
    """A kernel's machine code and the notes of ptxas."""

    def __init__(self, compiled, folder):
        ptx, cubin = folder / "kernel.ptx", folder / "kernel.cubin"
        ptx.write_text(compiled.asm["ptx"])
        ptxas = find_assembler(90).ptxas
        if not ptxas:
            pytest.skip("there is no ptxas to assemble with; ./dev setup installs it")
        self.ptx = compiled.asm["ptx"]
        self.notes = subprocess.run(
            [ptxas, "-v", "-arch=sm_90a", str(ptx), "-o", str(cubin)],
            capture_output=True, text=True, check=True,
        ).stderr  # fmt: skip
        text = subprocess.run(
            [disassembler(), "-c", str(cubin)], capture_output=True, text=True, check=True
        ).stdout
        self.opcodes = collections.Counter(INSTRUCTION.findall(text))
        self.dots = collections.Counter(re.findall(r"\b([A-Z]GMMA\.\d+x\d+x\d+)", text))

    def check(self, expected):
        assert "C75" not in self.notes, self.notes
        assert re.search(r"\b0 bytes spill stores, 0 bytes spill loads", self.notes), self.notes
        assert named(self.opcodes, "LDL", "STL") == 0
        assert self.dots == expected
        assert named(self.opcodes, "HMMA", "QMMA", "IMMA") == 0


def compiled(kernel, types, warps, **constants):
    signature, attributes = {}, {}
    for param in kernel.params:
        kind = "*" + types.get(param.name, types[""]) if param.name.endswith("_ptr") else "i32"
        kind = "fp32" if param.name == "scale" else kind
        signature[param.name] = "constexpr" if param.is_constexpr else kind
        if not param.is_constexpr and kind != "fp32":
            attributes[(param.num,)] = [["tt.divisibility", 16]]
    source = ASTSource(kernel, signature, constants, attributes)
    return triton.compile(source, target=TARGET, options=dict(num_warps=warps, num_stages=1))


# Element type, block, warps, whether rows of b run along the depth: the instruction and how many of it each warp has.
DOTS = {
    ("bf16", (128, 128, 64), 4, False): ("HGMMA.64x128x16", 8),
    ("bf16", (128, 128, 64), 4, True): ("HGMMA.64x128x16", 8),
    ("bf16", (128, 256, 64), 8, False): ("HGMMA.64x256x16", 4),
    ("fp16", (256, 128, 64), 8, False): ("HGMMA.64x128x16", 8),
    ("fp16", (64, 256, 64), 8, True): ("HGMMA.64x128x16", 4),
    ("fp8e4nv", (128, 128, 128), 4, True): ("QGMMA.64x128x32", 8),
    ("fp8e5", (128, 256, 128), 8, False): ("QGMMA.64x256x32", 4),
    ("fp32", (64, 128, 32), 4, True): ("HGMMA.64x128x8", 4),
    ("i8", (128, 128, 64), 4, True): ("IGMMA.64x128x32", 4),
}


@pytest.mark.parametrize("dot", DOTS)
def test_matmul(dot, tmp_path):
    element, block, warps, transposed = dot
    sums = tl.int32 if element == "i8" else tl.float32
    code = Code(
        compiled(matmul, {"": element, "c_ptr": "i32" if element == "i8" else "fp32"}, warps,
                 BM=block[0], BN=block[1], BK=block[2], TRANSPOSED=transposed, OUT=sums),
        tmp_path,
    )  # fmt: skip
    code.check(dict([DOTS[dot]]))


@pytest.mark.parametrize("element", ["fp16", "bf16"])
@pytest.mark.parametrize("block, warps", [((128, 64, 128), 8), ((128, 64, 64), 4), ((64, 64, 64), 4)])
def test_attention_keeps_the_first_dot_in_registers(element, block, warps, tmp_path):
    """Shared memory is read for the output alone: the operand of the second dot does not go through it."""
    m, n, depth = block
    code = Code(compiled(attention, {"": element}, warps, BM=m, BN=n, D=depth), tmp_path)
    steps = m // 64 // (warps // 4)
    expected = collections.Counter({f"HGMMA.64x{n}x16": steps * depth // 16})
    expected[f"HGMMA.64x{depth}x16"] += steps * n // 16
    code.check(expected)
    last_dot = code.ptx.rindex("wgmma.mma_async")
    assert "ld.shared" not in code.ptx[:last_dot]
