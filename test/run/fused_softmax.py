"""Softmax of rows in one kernel: row lengths around powers of two, fewer programs than rows."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, empty_like, values


@triton.jit
def softmax_kernel(
    out_ptr,
    in_ptr,
    in_stride,
    out_stride,
    n_rows,
    n_cols,
    BLOCK: tl.constexpr,
    STAGES: tl.constexpr,
):
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0), num_stages=STAGES):
        columns = tl.arange(0, BLOCK)
        mask = columns < n_cols
        x = tl.load(in_ptr + row * in_stride + columns, mask=mask, other=-float("inf"))
        numerator = tl.exp(x - tl.max(x, axis=0))
        tl.store(
            out_ptr + row * out_stride + columns, numerator / tl.sum(numerator, axis=0), mask=mask
        )


def softmax(x):
    x = x.astype(np.float64)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (7, 781), (5, 1024), (4, 1025), (1823, 33)])
def test_rows(shape, device):
    rows, columns = shape
    x = values("float32", *shape)
    arguments = dict(
        out_ptr=empty_like(x),
        in_ptr=x,
        in_stride=columns,
        out_stride=columns,
        n_rows=rows,
        n_cols=columns,
        BLOCK=triton.next_power_of_2(columns),
        STAGES=2,
    )
    check(
        softmax_kernel,
        (min(rows, 8),),
        arguments,
        dict(out_ptr=softmax(x)),
        device=device,
        rtol=2e-6,
        atol=1e-9,
    )


def test_large_values_do_not_overflow(device):
    x = values("float32", 4, 100, low=-3e4, high=3e4)
    arguments = dict(
        out_ptr=empty_like(x),
        in_ptr=x,
        in_stride=100,
        out_stride=100,
        n_rows=4,
        n_cols=100,
        BLOCK=128,
        STAGES=2,
    )
    check(
        softmax_kernel,
        (4,),
        arguments,
        dict(out_ptr=softmax(x)),
        device=device,
        rtol=2e-6,
        atol=1e-9,
    )
