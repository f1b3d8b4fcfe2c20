"""Kernels with inputs, run on a GPU or on the simulated one, for the benchmarks of the simulator."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl
from kernels import EPS, add, layernorm, matmul, softmax


@triton.jit
def attention(
    q, k, v, out, scale, LENGTH: tl.constexpr, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr
):
    base = tl.program_id(1) * LENGTH * D
    rows = tl.program_id(0) * M + tl.arange(0, M)
    at = tl.arange(0, D)
    query = tl.load(q + base + rows[:, None] * D + at[None, :])
    highest = tl.full((M,), -float("inf"), tl.float32)
    total = tl.zeros((M,), tl.float32)
    result = tl.zeros((M, D), tl.float32)
    for start in range(0, LENGTH, N):
        keys = start + tl.arange(0, N)
        key = tl.load(k + base + keys[None, :] * D + at[:, None])
        scores = tl.dot(query, key) * scale
        new = tl.maximum(highest, tl.max(scores, axis=1))
        powers = tl.exp2(scores - new[:, None])
        change = tl.exp2(highest - new)
        total = total * change + tl.sum(powers, axis=1)
        value = tl.load(v + base + keys[:, None] * D + at[None, :])
        result = tl.dot(powers.to(value.dtype), value, result * change[:, None])
        highest = new
    tl.store(
        out + base + rows[:, None] * D + at[None, :],
        (result / total[:, None]).to(out.dtype.element_ty),
    )


@triton.jit
def transpose(x, out, n, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    tile = tl.load(x + rows[:, None] * n + columns[None, :])
    tl.store(out + columns[:, None] * n + rows[None, :], tl.trans(tile))


@triton.jit
def gather(x, index, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + tl.load(index + at)))


@triton.jit
def transpose_tiles(x, out, N: tl.constexpr):
    """By a gather in shared memory, which has bank conflicts."""
    at = tl.arange(0, N * N)
    base = tl.program_id(0) * N * N
    tl.store(out + base + at, tl.gather(tl.load(x + base + at), at % N * N + at // N, axis=0))


@triton.jit
def column_sums(x, out, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, ROWS):
        rows = start + tl.arange(0, ROWS)
        total += tl.sum(tl.load(x + rows[:, None] * n + columns[None, :]), axis=0)
    tl.store(out + columns, total)


@triton.jit
def count_values(x, counts, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.load(x + at), 1)


@dataclass
class Case:
    """`launch()` returns the compiled kernel; `result` is what it wrote, `expect()` what is right."""

    name: str
    launch: Callable[[], Any]
    result: torch.Tensor
    expect: Callable[[], torch.Tensor]
    tolerance: float = 1e-4

    def is_right(self) -> bool:
        """Launches once, into zeros."""
        self.result.zero_()
        self.launch()
        got, right = self.result.double(), self.expect().double()
        return bool(torch.allclose(got, right, rtol=self.tolerance, atol=self.tolerance))


class Cases:
    """Makes a case by name; small sizes are for measuring the simulator itself."""

    def __init__(self, device: str, small: bool):
        self.device, self.small = device, small

    def random(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        torch.manual_seed(0)
        return torch.randn(*shape, dtype=torch.float32).to(dtype).to(self.device)

    def like(self, x: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
        return torch.empty_like(x, dtype=dtype)

    def add(self) -> Case:
        n = 1 << (20 if self.small else 24)
        x, y = self.random(n), self.random(n)
        out = self.like(x)
        grid = (triton.cdiv(n, 1024),)
        return Case("add", lambda: add[grid](x, y, out, n, BLOCK=1024), out, lambda: x + y)

    def softmax(self) -> Case:
        x = self.random(256 if self.small else 4096, 4096)
        out, (rows, columns) = self.like(x), x.shape
        return Case(
            "softmax",
            lambda: softmax[(rows,)](x, out, columns, BLOCK=4096, num_warps=8),
            out,
            lambda: torch.softmax(x, 1),
        )

    def layernorm(self) -> Case:
        x = self.random(256 if self.small else 4096, 4096, dtype=torch.float16)
        weight, bias = (
            self.random(4096, dtype=torch.float16),
            self.random(4096, dtype=torch.float16),
        )
        out, (rows, columns) = self.like(x), x.shape
        return Case(
            "layernorm",
            lambda: layernorm[(rows,)](x, weight, bias, out, columns, EPS, BLOCK=4096, num_warps=8),
            out,
            lambda: torch.nn.functional.layer_norm(
                x.float(), (4096,), weight.float(), bias.float(), EPS
            ),
            tolerance=2e-2,
        )

    def product(self, name: str, n: int, tile: tuple[int, int, int], warps: int) -> Case:
        a, b = (self.random(n, n, dtype=torch.bfloat16) / n**0.25 for _ in range(2))
        out = self.like(a, torch.float32)
        grid = (n // tile[0], n // tile[1])
        return Case(
            name,
            lambda: matmul[grid](a, b, out, n, n, *tile, num_warps=warps, num_stages=3),
            out,
            lambda: a.float() @ b.float(),
            tolerance=2e-2,
        )

    def matmul_wgmma(self) -> Case:
        return self.product("matmul_wgmma", 256 if self.small else 2048, (128, 128, 64), 8)

    def matmul_mma(self) -> Case:
        return self.product("matmul_mma", 256 if self.small else 1024, (32, 64, 32), 4)

    def attention(self) -> Case:
        heads, length, dim = (1, 512, 64) if self.small else (16, 2048, 64)
        q, k, v = (self.random(heads, length, dim, dtype=torch.bfloat16) for _ in range(3))
        out, scale = self.like(q), dim**-0.5
        grid = (length // 128, heads)
        return Case(
            "attention",
            lambda: attention[grid](
                q, k, v, out, scale * 1.4426950408889634, length, dim, 128, 64, num_warps=8
            ),
            out,
            lambda: torch.softmax(q.float() @ k.float().transpose(1, 2) * scale, 2) @ v.float(),
            tolerance=2e-2,
        )

    def transpose(self) -> Case:
        n = 512 if self.small else 4096
        x = self.random(n, n)
        out = self.like(x)
        return Case(
            "transpose",
            lambda: transpose[(n // 64, n // 64)](x, out, n, TILE=64),
            out,
            lambda: x.t(),
        )

    def gather(self) -> Case:
        n = 1 << (17 if self.small else 22)
        x = self.random(n)
        index = torch.randperm(n, generator=torch.Generator().manual_seed(0), dtype=torch.int32).to(
            self.device
        )
        out = self.like(x)
        return Case(
            "gather",
            lambda: gather[(n // 1024,)](x, index, out, BLOCK=1024),
            out,
            lambda: x[index.long()],
        )

    def transpose_tiles(self) -> Case:
        tiles = 16 if self.small else 4096
        x = self.random(tiles, 32, 32)
        out = self.like(x)
        return Case(
            "transpose_tiles",
            lambda: transpose_tiles[(tiles,)](x, out, N=32),
            out,
            lambda: x.transpose(1, 2),
        )

    def column_sums(self) -> Case:
        n = 512 if self.small else 4096
        x = self.random(n, n)
        out = self.like(x[0])
        return Case(
            "column_sums",
            lambda: column_sums[(n // 32,)](x, out, n, ROWS=128, BLOCK=32),
            out,
            lambda: x.double().sum(0),
            tolerance=1e-2,
        )

    def count_values(self) -> Case:
        n, bins = 1 << (17 if self.small else 20), 4096
        x = torch.randint(
            bins, (n,), generator=torch.Generator().manual_seed(0), dtype=torch.int32
        ).to(self.device)
        counts = torch.zeros(bins, dtype=torch.int32, device=self.device)

        return Case(
            "count_values",
            lambda: count_values[(n // 1024,)](x, counts, BLOCK=1024),
            counts,
            lambda: torch.bincount(x, minlength=bins),
        )

    def make(self, name: str) -> Case:
        return getattr(self, name)()


NAMES = (
    "add",
    "softmax",
    "layernorm",
    "matmul_wgmma",
    "matmul_mma",
    "attention",
    "transpose",
    "transpose_tiles",
    "gather",
    "column_sums",
    "count_values",
)
