"""Products of products whose tiles a warp of its own copies by TMA: many rounds of its buffers, many programs.

All numbers are small integers, so the sums are exact. Each kernel is compiled for both launch ABIs: the plain one makes
its tensor maps in the kernel.
"""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import launch, values
from triton import knobs


@pytest.fixture(params=["own", "plain"], autouse=True)
def launch_abi(request, monkeypatch):
    monkeypatch.setattr(knobs.runtime, "launch_abi", request.param)


@triton.jit
def by_descriptors(
    q_ptr, k_ptr, v_ptr, o_ptr, rows,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1).to(tl.int64) * rows * D
    q = tl.make_tensor_descriptor(q_ptr + head, [rows, D], [D, 1], [BM, D])
    k = tl.make_tensor_descriptor(k_ptr + head, [rows, D], [D, 1], [BN, D])
    v = tl.make_tensor_descriptor(v_ptr + head, [rows, D], [D, 1], [BN, D])
    o = tl.make_tensor_descriptor(o_ptr + head, [rows, D], [D, 1], [BM, D])
    first = tl.program_id(0) * BM
    x = q.load([first, 0])
    acc = tl.zeros([BM, D], tl.float32)
    for at in tl.range(0, rows, BN, num_stages=STAGES):
        scores = tl.dot(x, k.load([at, 0]).T)
        acc = tl.dot((scores * 0.125).to(tl.float16), v.load([at, 0]), acc)
    o.store([first, 0], acc)


@triton.jit
def by_pointers(
    q_ptr, k_ptr, v_ptr, o_ptr, rows,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1).to(tl.int64) * rows * D
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.arange(0, BN)
    depth = tl.arange(0, D)
    x = tl.load(q_ptr + head + i[:, None] * D + depth[None, :])
    acc = tl.zeros([BM, D], tl.float32)
    for at in tl.range(0, rows, BN, num_stages=STAGES):
        k = tl.load(k_ptr + head + (at + j)[None, :] * D + depth[:, None])
        scores = tl.dot(x, k)
        v = tl.load(v_ptr + head + (at + j)[:, None] * D + depth[None, :])
        acc = tl.dot((scores * 0.125).to(tl.float16), v, acc)
    tl.store(o_ptr + head + i[:, None] * D + depth[None, :], acc)


@pytest.mark.parametrize("kernel", [by_descriptors, by_pointers])
@pytest.mark.parametrize("block", [(128, 64, 64), (128, 128, 128)])
@pytest.mark.parametrize("stages", [2, 3])
def test_products_of_products(kernel, block, stages, device):
    bm, bn, size = block
    rows, heads = 512, 5
    q, k, v = (
        values("int8", heads, rows, size, seed=seed, low=-1, high=2).astype(np.float16)
        for seed in (31, 32, 33)
    )
    o = np.full((heads, rows, size), np.nan, np.float32)
    if launch(kernel, (rows // bm, heads), q, k, v, o, rows, bm, bn, size, stages,
              device=device, num_warps=8):  # fmt: skip
        scores = np.float64(q) @ np.float64(k).swapaxes(1, 2) * 0.125
        assert (o == scores @ np.float64(v)).all()


def test_many_programs(device):
    """More programs than fit on a GPU at a time, launched again and again: each takes several."""
    bm, bn, size, stages = 128, 64, 128, 3
    rows, heads = (1024, 96) if device == "cuda" else (256, 2)
    q, k, v = (
        values("int8", heads, rows, size, seed=seed, low=-1, high=2).astype(np.float16)
        for seed in (34, 35, 36)
    )
    scores = np.float32(q) @ np.float32(k).swapaxes(1, 2) * np.float32(0.125)
    expected = scores @ np.float32(v)
    for _ in range(4):
        o = np.full((heads, rows, size), np.nan, np.float32)
        if launch(by_pointers, (rows // bm, heads), q, k, v, o, rows, bm, bn, size, stages,
                  device=device, num_warps=8):  # fmt: skip
            assert (o == expected).all()
