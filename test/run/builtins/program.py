"""program_id, num_programs; grids of one to three dimensions, also empty, large and computed."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check


@triton.jit
def mark(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(axis=2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(axis=2)
    at = (z * ny + y) * nx + x
    tl.store(out_ptr + at * 4 + tl.arange(0, 4), at)
    tl.store(out_ptr + at * 4, x + 10 * y + 100 * z)
    tl.store(out_ptr + at * 4 + 1, nx + 10 * ny + 100 * nz)


@pytest.mark.parametrize("grid", [(1,), (7,), (3, 5), (2, 3, 4), (1, 1, 9), (64, 2)])
def test_grids(grid, device):
    nx, ny, nz = (*grid, 1, 1)[:3]
    at = np.arange(nx * ny * nz)
    expected = np.repeat(at[:, None], 4, 1).astype(np.int32)
    expected[:, 0] = at % nx + 10 * (at // nx % ny) + 100 * (at // nx // ny)
    expected[:, 1] = nx + 10 * ny + 100 * nz
    arguments = dict(out_ptr=np.zeros_like(expected))
    check(mark, grid, arguments, dict(out_ptr=expected), device=device)


@pytest.mark.parametrize("grid", [(0,), (0, 5), (3, 0), (2, 2, 0)])
def test_empty_grids_launch_nothing(grid, device):
    out = np.full(16, 7, np.int32)
    check(mark, grid, dict(out_ptr=out), dict(out_ptr=out), device=device)


@triton.jit
def one_each(out_ptr, n, BLOCK: tl.constexpr = 4):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, at, mask=at < n)


@pytest.mark.parametrize("programs", [1, 2, 1000, 100_000])
def test_every_program_runs_once(programs, device):
    n = programs * 4 - 1
    expected = np.arange(n, dtype=np.int32)
    arguments = dict(out_ptr=np.zeros(n, np.int32), n=n)
    check(one_each, (programs,), arguments, dict(out_ptr=expected), device=device)


def test_a_grid_that_is_a_function_of_the_arguments(device):
    n = 1001
    arguments = dict(out_ptr=np.zeros(n, np.int32), n=n, BLOCK=64)
    expected = dict(out_ptr=np.arange(n, dtype=np.int32))
    grid = lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)  # noqa: E731
    check(one_each, grid, arguments, expected, device=device)


@triton.jit
def persistent(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)


@pytest.mark.parametrize("programs", [1, 3, 50])
def test_programs_that_share_the_work_by_their_number(programs, device):
    x = np.arange(1000, dtype=np.float32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x), n=1000, BLOCK=32)
    check(persistent, (programs,), arguments, dict(out_ptr=x * 2), device=device)
