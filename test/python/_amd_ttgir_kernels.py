"""Kernels whose TTGIR another compiler prints for AMD's GPUs (test/scripts/make_amd_ttgir.py)."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, field

import triton
import triton.language as tl


@triton.jit
def masked_sum(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside, other=3.0)
    y = tl.load(y_ptr + at, mask=inside & (at % 2 == 0), other=0.0)
    tl.store(out_ptr + at, x + y, mask=inside, cache_modifier=".wt")


@triton.jit
def counters(x_ptr, sum_ptr, most_ptr, slot_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.atomic_add(
        sum_ptr + at % 8, tl.load(x_ptr + at, mask=inside, other=0.0), mask=inside, sem="relaxed"
    )
    old = tl.atomic_max(most_ptr + at, at % 5, mask=inside)
    tl.store(most_ptr + n + at, old, mask=inside)
    found = tl.atomic_cas(slot_ptr + at, at, at + 1)
    tl.store(slot_ptr + 2 * BLOCK + at, found)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    columns = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    along = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + along
        a = tl.load(a_ptr + rows * K + k[None, :], mask=(rows < M) & (k[None, :] < K), other=0.0)
        b = tl.load(
            b_ptr + k[:, None] * N + columns, mask=(k[:, None] < K) & (columns < N), other=0.0
        )
        sums = tl.dot(a, b, sums)
    tl.store(c_ptr + rows * N + columns, sums, mask=(rows < M) & (columns < N))


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, n, BLOCK: tl.constexpr, D: tl.constexpr, STEP: tl.constexpr
):
    rows, d = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + d[None, :])
    most = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    sums = tl.zeros((BLOCK, D), tl.float32)
    for start in range(0, n, STEP):
        keys = start + tl.arange(0, STEP)
        scores = tl.dot(q, tl.load(k_ptr + keys[None, :] * D + d[:, None]))
        now = tl.maximum(most, tl.max(scores, 1))
        weights, old = tl.exp2(scores - now[:, None]), tl.exp2(most - now)
        total = total * old + tl.sum(weights, 1)
        values = tl.load(v_ptr + keys[:, None] * D + d[None, :])
        sums = tl.dot(weights.to(tl.float16), values, sums * old[:, None])
        most = now
    tl.store(out_ptr + rows[:, None] * D + d[None, :], sums / total[:, None])


@triton.jit
def scaled_matmul(
    a_ptr, s_ptr, b_ptr, t_ptr, c_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    A: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    A_PACK: tl.constexpr = 2 if A == "e2m1" else 1
    B_PACK: tl.constexpr = 2 if B == "e2m1" else 1
    m, n = tl.arange(0, BM)[:, None], tl.arange(0, BN)
    groups = tl.arange(0, BK // 32)[None, :]
    sums = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a_k, b_k = (
            start // A_PACK + tl.arange(0, BK // A_PACK),
            start // B_PACK + tl.arange(0, BK // B_PACK),
        )
        a = tl.load(a_ptr + m * (K // A_PACK) + a_k[None, :])
        b = tl.load(b_ptr + n[None, :] * (K // B_PACK) + b_k[:, None])
        s = tl.load(s_ptr + m * (K // 32) + start // 32 + groups)
        t = tl.load(t_ptr + n[:, None] * (K // 32) + start // 32 + groups)
        sums = tl.dot_scaled(a, s, A, b, t, B, sums)
    tl.store(c_ptr + m * BN + n[None, :], sums)


@dataclass
class Case:
    kernel: object
    signature: dict
    constants: dict
    arch: str
    options: dict = field(default_factory=dict)
    environment: dict = field(default_factory=dict)
    divisible: bool = True  # the integers by 16


def _case(kernel, kinds, constants, arch, **more):
    names = list(kernel.arg_names)
    signature = dict(zip(names, [*kinds.split(), *["constexpr"] * len(constants)], strict=True))
    return Case(kernel, signature, constants, arch, **more)


_MATMUL = "*fp16 *fp16 *fp32 i32 i32 i32"
_TILES = {"BM": 64, "BN": 64, "BK": 64}
_ATTENTION = "*fp16 *fp16 *fp16 *fp32 i32"
_SCALED = "*u8 *u8 *u8 *u8 *fp32 i32"
CASES = {
    "masked_sum_gfx942": _case(
        masked_sum, "*fp32 *fp32 *fp32 i32", {"BLOCK": 256}, "gfx942", divisible=False
    ),
    "masked_sum_gfx1100": _case(masked_sum, "*fp32 *fp32 *fp32 i32", {"BLOCK": 256}, "gfx1100"),
    "counters_gfx942": _case(counters, "*fp32 *fp32 *i32 *i32 i32", {"BLOCK": 256}, "gfx942"),
    "counters_gfx90a": _case(counters, "*fp32 *fp32 *i32 *i32 i32", {"BLOCK": 256}, "gfx90a"),
    "matmul_gfx942": _case(matmul, _MATMUL, _TILES, "gfx942"),
    "matmul_copies_gfx942": _case(
        matmul, _MATMUL, _TILES, "gfx942", environment={"TRITON_HIP_USE_ASYNC_COPY": "1"}
    ),
    "matmul_hints_gfx942": _case(matmul, _MATMUL, {"BM": 128, "BN": 128, "BK": 64}, "gfx942"),
    "matmul_halves_gfx942": _case(
        matmul,
        _MATMUL,
        {"BM": 256, "BN": 256, "BK": 64},
        "gfx942",
        options={"num_warps": 8},
    ),
    "matmul_gfx90a": _case(matmul, _MATMUL, _TILES, "gfx90a"),
    "matmul_gfx950": _case(matmul, _MATMUL, _TILES, "gfx950"),
    "matmul_copies_gfx950": _case(
        matmul,
        _MATMUL,
        {"BM": 128, "BN": 128, "BK": 64},
        "gfx950",
        environment={"TRITON_HIP_USE_ASYNC_COPY": "1"},
    ),
    "matmul_gfx1200": _case(matmul, _MATMUL, _TILES, "gfx1200"),
    "attention_gfx942": _case(
        attention,
        _ATTENTION,
        {"BLOCK": 64, "D": 32, "STEP": 32},
        "gfx942",
        options={"schedule_hint": "attention"},
    ),
    "attention_gfx950": _case(attention, _ATTENTION, {"BLOCK": 64, "D": 64, "STEP": 32}, "gfx950"),
    "scaled_fp8_gfx950": _case(
        scaled_matmul, _SCALED, {"BM": 64, "BN": 32, "BK": 128, "A": "e4m3", "B": "e5m2"}, "gfx950"
    ),
    "scaled_fp4_gfx950": _case(
        scaled_matmul, _SCALED, {"BM": 128, "BN": 64, "BK": 256, "A": "e2m1", "B": "e4m3"}, "gfx950"
    ),
}
