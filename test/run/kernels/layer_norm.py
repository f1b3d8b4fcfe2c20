"""Layer norm with weights: rows forward; backward with sums over rows that programs accumulate under locks."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values

EPS = 1e-5


@triton.jit
def forward(x_ptr, w_ptr, b_ptr, y_ptr, mean_ptr, rstd_ptr, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * stride
    y_ptr += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + at, mask=at < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / N
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < N, other=0.0).to(tl.float32)
        x = tl.where(at < N, x - mean, 0.0)
        squares += x * x
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / N + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < N
        w, b = tl.load(w_ptr + at, mask=mask), tl.load(b_ptr + at, mask=mask)
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + at, (x - mean) * rstd * w + b, mask=mask)


@triton.jit
def backward_rows(
    dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, lock_ptr, stride, N,
    GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < N
    x = tl.load(x_ptr + row * stride + at, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * stride + at, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + at, mask=mask).to(tl.float32)
    mean, rstd = tl.load(mean_ptr + row), tl.load(rstd_ptr + row)
    xhat = tl.where(mask, (x - mean) * rstd, 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(xhat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    tl.store(dx_ptr + row * stride + at, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)

    group = row % GROUPS
    lock, count = lock_ptr + group, lock_ptr + GROUPS + group
    dw_ptr += group * N
    db_ptr += group * N
    dw, db = dy * xhat, dy
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        dw += tl.load(dw_ptr + at, mask=mask)
        db += tl.load(db_ptr + at, mask=mask)
    tl.store(dw_ptr + at, dw, mask=mask)
    tl.store(db_ptr + at, db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def backward_sums(
    dw_ptr, db_ptr, total_dw_ptr, total_db_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    columns = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dw = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    db = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, M, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < M) & (columns[None, :] < N)
        at = rows[:, None] * N + columns[None, :]
        dw += tl.load(dw_ptr + at, mask=mask, other=0.0)
        db += tl.load(db_ptr + at, mask=mask, other=0.0)
    tl.store(total_dw_ptr + columns, tl.sum(dw, axis=0), mask=columns < N)
    tl.store(total_db_ptr + columns, tl.sum(db, axis=0), mask=columns < N)


class Reference:
    """The whole computation in float64."""

    def __init__(self, rows, columns, dtype="float32"):
        self.x, self.dy = (values(dtype, rows, columns, seed=seed) for seed in (0, 1))
        self.w, self.b = (values("float32", columns, seed=seed) for seed in (2, 3))
        x, dy, w = (array.astype(np.float64) for array in (self.x, self.dy, self.w))
        self.mean = x.mean(1)
        self.rstd = 1 / np.sqrt(((x - self.mean[:, None]) ** 2).mean(1) + EPS)
        self.xhat = (x - self.mean[:, None]) * self.rstd[:, None]
        self.y = self.xhat * w + self.b
        wdy = w * dy
        means = (self.xhat * wdy).mean(1, keepdims=True), wdy.mean(1, keepdims=True)
        self.dx = (wdy - (self.xhat * means[0] + means[1])) * self.rstd[:, None]
        self.dw_rows, self.db_rows = dy * self.xhat, dy

    def by_group(self, rows, groups):
        return np.stack([rows[group::groups].sum(0) for group in range(groups)]).astype(np.float32)


def single(array):
    return array.astype(np.float32)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 64), (5, 781), (17, 100)])
def test_forward(shape, dtype, device):
    ref = Reference(*shape, dtype)
    rows, columns = shape
    arguments = dict(x_ptr=ref.x, w_ptr=ref.w, b_ptr=ref.b, y_ptr=np.zeros(shape, np.float32))
    arguments |= dict(mean_ptr=np.zeros(rows, np.float32), rstd_ptr=np.zeros(rows, np.float32))
    arguments |= dict(stride=columns, N=columns, eps=EPS, BLOCK=128)
    expected = dict(y_ptr=single(ref.y), mean_ptr=single(ref.mean), rstd_ptr=single(ref.rstd))
    check(forward, (rows,), arguments, expected, device=device, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("shape", [(4, 64), (7, 100), (64, 33)])
def test_backward_of_rows(shape, groups, device):
    """Programs of one group add to the same row of partial sums, one at a time under the group's lock."""
    ref = Reference(*shape)
    rows, columns = shape
    arguments = dict(dx_ptr=np.zeros(shape, np.float32), dy_ptr=ref.dy)
    arguments |= {name: np.full((groups, columns), np.nan, np.float32) for name in ("dw_ptr", "db_ptr")}
    arguments |= dict(x_ptr=ref.x, w_ptr=ref.w, mean_ptr=single(ref.mean), rstd_ptr=single(ref.rstd))
    arguments |= dict(lock_ptr=np.zeros(2 * groups, np.int32), stride=columns, N=columns)
    arguments |= dict(GROUPS=groups, BLOCK=triton.next_power_of_2(columns))
    expected = dict(dx_ptr=single(ref.dx), lock_ptr=np.repeat(np.int32([0, 1]), groups))
    expected |= dict(dw_ptr=ref.by_group(ref.dw_rows, groups), db_ptr=ref.by_group(ref.db_rows, groups))
    check(backward_rows, (rows,), arguments, expected, device=device, rtol=5e-5, atol=5e-5)


@pytest.mark.parametrize("shape", [(1, 1), (4, 64), (33, 100)])
def test_sums_of_groups(shape, device):
    dw, db = values("float32", *shape), values("float32", *shape, seed=1)
    empty = np.zeros(shape[1], np.float32)
    arguments = dict(dw_ptr=dw, db_ptr=db, total_dw_ptr=empty, total_db_ptr=empty.copy())
    arguments |= dict(M=shape[0], N=shape[1], BLOCK_M=8, BLOCK_N=32)
    sums = (single(array.astype(np.float64).sum(0)) for array in (dw, db))
    expected = dict(zip(("total_dw_ptr", "total_db_ptr"), sums, strict=True))
    check(backward_sums, (triton.cdiv(shape[1], 32),), arguments, expected, device=device, rtol=1e-5, atol=1e-5)
