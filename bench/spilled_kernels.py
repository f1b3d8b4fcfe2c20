"""Matmul and attention in their usual form, and the resources of a compiled kernel; for any package
named `triton`.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from typing import Any

import triton
import triton.language as tl
from triton.compiler import ASTSource


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_a, stride_b, stride_c,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_at = a_ptr + (rows % M)[:, None] * stride_a + k[None, :]
    b_at = b_ptr + k[:, None] * stride_b + (columns % N)[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_at, mask=k[None, :] < K - start, other=0.0)
        b = tl.load(b_at, mask=k[:, None] < K - start, other=0.0)
        acc = tl.dot(a, b, acc)
        a_at += BLOCK_K
        b_at += BLOCK_K * stride_b
    c_at = c_ptr + rows[:, None] * stride_c + columns[None, :]
    tl.store(c_at, acc.to(tl.float16), mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, N, scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1) * N * D
    start = tl.program_id(0) * BLOCK_M
    rows, d = start + tl.arange(0, BLOCK_M), tl.arange(0, D)
    q = tl.load(q_ptr + head + rows[:, None] * D + d[None, :])
    peak = tl.full([BLOCK_M], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    end = start + BLOCK_M if CAUSAL else N
    for begin in range(0, end, BLOCK_N):
        columns = begin + tl.arange(0, BLOCK_N)
        at = columns[:, None] * D + d[None, :]
        s = tl.dot(q, tl.trans(tl.load(k_ptr + head + at))) * scale
        if CAUSAL:
            s = tl.where(rows[:, None] >= columns[None, :], s, float("-inf"))
        higher = tl.maximum(peak, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        rescale = tl.exp2(peak - higher)
        total = total * rescale + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), tl.load(v_ptr + head + at), acc * rescale[:, None])
        peak = higher
    out = out_ptr + head + rows[:, None] * D + d[None, :]
    tl.store(out, (acc / total[:, None]).to(tl.float16))


def source(kernel: Any, constants: dict[str, Any]) -> ASTSource:
    """The kernel for f16 at aligned addresses, with extents and strides that are multiples of 16."""
    signature, attrs = {}, {}
    for index, name in enumerate(kernel.arg_names):
        if name in constants:
            signature[name] = "constexpr"
            continue
        signature[name] = "*fp16" if name.endswith("_ptr") else "fp32" if name == "scale" else "i32"
        if name != "scale":
            attrs[(index,)] = [["tt.divisibility", 16]]
    return ASTSource(kernel, signature, constants, attrs)


def resources(cubin: bytes) -> dict[str, int]:
    """Registers per thread and accesses to spilled values, from the machine code, for both
    compilers alike.
    """
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [find_cuobjdump(), "--dump-resource-usage", file.name]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        command[1] = "-sass"
        sass = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    registers = int(re.search(r"REG:(\d+)", text)[1])
    spills = len(re.findall(r"\b(?:STL|LDL)\b", sass))
    return {"registers": registers, "spills": spills}


def find_cuobjdump() -> str:
    folders = [os.path.join(path, "nvidia", "cu13", "bin") for path in sys.path]
    folders += [os.environ.get("CUOBJDUMP_FOLDER", ""), "/usr/local/cuda/bin"]
    for folder in folders:
        path = os.path.join(folder, "cuobjdump")
        if os.path.exists(path):
            return path
    raise SystemExit("cuobjdump is not found; name its folder in CUOBJDUMP_FOLDER")
