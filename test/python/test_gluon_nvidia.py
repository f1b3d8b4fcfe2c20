"""Gluon on NVIDIA GPUs: copies by threads and by TMA, barriers, matrix instructions, roles of warps; on simulated GPUs."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
from _simulators import simulators
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

hopper = simulators("sim:90")
ampere = simulators("sim:80", "sim:90")

ROWS = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])


def numbers(*shape, dtype=np.float32):
    return np.random.default_rng(1).standard_normal(shape).astype(dtype)


def swizzled(dtype_bits=16, width=128):
    return gl.NVMMASharedLayout(swizzle_byte_width=width, element_bitwidth=dtype_bits, rank=2)


# --- copies by threads -------------------------------------------------------------------------


@gluon.jit
def copy_in_groups(x, out, n, BLOCK: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    buffers = gl.allocate_shared_memory(gl.float32, [2, BLOCK], shared)
    offsets = gl.arange(0, BLOCK, layout)
    for k in gl.static_range(2):
        places = offsets + k * BLOCK
        async_copy.async_load(buffers.index(k), x + places, places < n)
        async_copy.commit_group()
    for k in gl.static_range(2):
        async_copy.wait_group(1 - k)
        places = offsets + k * BLOCK
        gl.store(out + places, buffers.index(k).load(layout) * 2, places < n)


def test_groups_of_copies(ampere):
    n = 400
    x, out = numbers(n), np.zeros(n, np.float32)
    layout = gl.BlockedLayout([1], [32], [4], [0])
    copy_in_groups[(1,)](x, out, n, 256, layout, gl.SwizzledSharedLayout(1, 1, 1, [0]))
    np.testing.assert_array_equal(out, x * 2)


@gluon.jit
def copy_to_barrier(x, out, BLOCK: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [BLOCK], shared)
    ready = mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=128)
    offsets = gl.arange(0, BLOCK, layout)
    async_copy.async_load(buffer, x + offsets)
    async_copy.mbarrier_arrive(ready, increment_count=False)
    mbarrier.wait(ready, 0)
    mbarrier.invalidate(ready)
    gl.store(out + offsets, buffer.load(layout) + 1)


def test_copies_arrive_at_a_barrier(ampere):
    x, out = numbers(256), np.zeros(256, np.float32)
    layout = gl.BlockedLayout([2], [32], [4], [0])
    copy_to_barrier[(1,)](x, out, 256, layout, gl.SwizzledSharedLayout(1, 1, 1, [0]))
    np.testing.assert_array_equal(out, x + 1)


# --- TMA ---------------------------------------------------------------------------------------


@gluon.jit
def double_block(source, target, row, column, layout: gl.constexpr):
    buffer = gl.allocate_shared_memory(source.dtype, source.block_shape, source.layout)
    ready = mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=1)
    mbarrier.expect(ready, source.nbytes_per_cta)
    tma.async_load(source, [row, column], ready, buffer)
    mbarrier.wait(ready, 0)
    mbarrier.invalidate(ready)
    buffer.store(buffer.load(layout) * 2)
    fence_async_shared()
    tma.async_store(target, [row, column], buffer)
    tma.store_wait(0)


@pytest.mark.parametrize("width", [32, 64, 128])
def test_tma_with_each_swizzle(hopper, width):
    x, out = numbers(128, 128, dtype=np.float16), np.zeros((128, 128), np.float16)
    shared = swizzled(width=width)
    source, target = (TensorDescriptor.from_tensor(t, [64, 64], shared) for t in (x, out))
    double_block[(1,)](source, target, 64, 32, ROWS)
    wanted = np.zeros_like(x)
    wanted[64:, 32:96] = x[64:, 32:96] * 2
    np.testing.assert_array_equal(out, wanted)


@gluon.jit
def add_to_block(x, out, M, N, BLOCK: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    target = tma.make_tensor_descriptor(out, [M, N], [N, 1], [BLOCK, BLOCK], shared)
    rows = gl.arange(0, BLOCK, gl.SliceLayout(1, layout))
    columns = gl.arange(0, BLOCK, gl.SliceLayout(0, layout))
    tile = gl.load(x + rows[:, None] * BLOCK + columns[None, :])
    buffer = gl.allocate_shared_memory(gl.float32, [BLOCK, BLOCK], shared, tile)
    fence_async_shared()
    tma.async_atomic_add(target, [0, 0], buffer)
    tma.store_wait(0, read_only=False)


def test_reduction_through_a_descriptor_of_the_kernel(hopper):
    x, out = numbers(32, 32), numbers(40, 36)
    wanted = out.copy()
    wanted[:32, :32] += x
    add_to_block[(1,)](x, out, 40, 36, 32, ROWS, swizzled(32))
    np.testing.assert_allclose(out, wanted, rtol=1e-6)


# --- matrix instructions -----------------------------------------------------------------------


@gluon.jit
def multiply_by_warps(a, b, out, SIZE: gl.constexpr, load: gl.constexpr, mma: gl.constexpr):
    rows = gl.arange(0, SIZE, gl.SliceLayout(1, load))
    columns = gl.arange(0, SIZE, gl.SliceLayout(0, load))
    places = rows[:, None] * SIZE + columns[None, :]
    left = gl.convert_layout(gl.load(a + places), gl.DotOperandLayout(0, mma, 2))
    right = gl.convert_layout(gl.load(b + places), gl.DotOperandLayout(1, mma, 2))
    total = mma_v2(left, right, gl.zeros([SIZE, SIZE], gl.float32, mma))
    gl.store(out + places, gl.convert_layout(total, load))


def test_mma_of_warps(ampere):
    a, b = numbers(32, 32, dtype=np.float16), numbers(32, 32, dtype=np.float16)
    out = np.zeros((32, 32), np.float32)
    mma = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[2, 2], instr_shape=[16, 8])
    multiply_by_warps[(1,)](a, b, out, 32, ROWS, mma)
    np.testing.assert_allclose(
        out, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3, atol=1e-3
    )


@gluon.jit
def matmul(a, b, out, K, STAGES: gl.constexpr, mma: gl.constexpr):
    M: gl.constexpr = a.block_shape[0]
    N: gl.constexpr = b.block_shape[1]
    DEPTH: gl.constexpr = a.block_shape[1]
    lefts = gl.allocate_shared_memory(a.dtype, [STAGES, M, DEPTH], a.layout)
    rights = gl.allocate_shared_memory(b.dtype, [STAGES, DEPTH, N], b.layout)
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    for k in gl.static_range(STAGES):
        mbarrier.init(ready.index(k), count=1)
    row, column = gl.program_id(0) * M, gl.program_id(1) * N
    steps = gl.cdiv(K, DEPTH)
    for k in gl.static_range(STAGES - 1):
        mbarrier.expect(ready.index(k), a.nbytes_per_cta + b.nbytes_per_cta, pred=k < steps)
        tma.async_load(a, [row, k * DEPTH], ready.index(k), lefts.index(k), pred=k < steps)
        tma.async_load(b, [k * DEPTH, column], ready.index(k), rights.index(k), pred=k < steps)
    total = gl.zeros([M, N], gl.float32, mma)
    for step in range(steps):
        stage = step % STAGES
        mbarrier.wait(ready.index(stage), step // STAGES & 1)
        total = warpgroup_mma(lefts.index(stage), rights.index(stage), total)
        ahead = step + STAGES - 1
        free = ahead % STAGES
        mbarrier.expect(ready.index(free), a.nbytes_per_cta + b.nbytes_per_cta, pred=ahead < steps)
        tma.async_load(
            a, [row, ahead * DEPTH], ready.index(free), lefts.index(free), pred=ahead < steps
        )
        tma.async_load(
            b, [ahead * DEPTH, column], ready.index(free), rights.index(free), pred=ahead < steps
        )
    result = gl.allocate_shared_memory(out.dtype, out.block_shape, out.layout, total.to(out.dtype))
    fence_async_shared()
    tma.async_store(out, [row, column], result)
    tma.store_wait(0)


def product(kernel, stages, **options):
    a, b = numbers(128, 192, dtype=np.float16), numbers(192, 128, dtype=np.float16)
    out = np.zeros((128, 128), np.float16)
    shared = swizzled()
    descriptors = [
        TensorDescriptor.from_tensor(t, block, shared)
        for t, block in ((a, [64, 64]), (b, [64, 64]), (out, [64, 64]))
    ]
    mma = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16])
    kernel[(2, 2)](*descriptors, 192, stages, mma, **options)
    np.testing.assert_allclose(
        out, a.astype(np.float32) @ b.astype(np.float32), rtol=2e-2, atol=2e-2
    )


def test_matmul_with_multi_buffered_operands(hopper):
    product(matmul, 3)


# --- roles of warps ----------------------------------------------------------------------------


@gluon.jit
def produce(a, b, lefts, rights, ready, free, K, STAGES: gl.constexpr):
    M: gl.constexpr = a.block_shape[0]
    N: gl.constexpr = b.block_shape[1]
    DEPTH: gl.constexpr = a.block_shape[1]
    row, column = gl.program_id(0) * M, gl.program_id(1) * N
    for step in range(gl.cdiv(K, DEPTH)):
        stage = step % STAGES
        mbarrier.wait(free.index(stage), (step // STAGES & 1) ^ 1)
        mbarrier.expect(ready.index(stage), a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [row, step * DEPTH], ready.index(stage), lefts.index(stage))
        tma.async_load(b, [step * DEPTH, column], ready.index(stage), rights.index(stage))


@gluon.jit
def consume(
    lefts, rights, ready, free, K, DEPTH: gl.constexpr, STAGES: gl.constexpr, mma: gl.constexpr
):
    M: gl.constexpr = lefts.shape[1]
    N: gl.constexpr = rights.shape[2]
    total = gl.zeros([M, N], gl.float32, mma)
    for step in range(gl.cdiv(K, DEPTH)):
        stage = step % STAGES
        mbarrier.wait(ready.index(stage), step // STAGES & 1)
        total = warpgroup_mma(lefts.index(stage), rights.index(stage), total, is_async=True)
        total = warpgroup_mma_wait(0, deps=(total,))
        mbarrier.arrive(free.index(stage), count=1)
    return total


@gluon.jit
def matmul_with_roles(a, b, out, K, STAGES: gl.constexpr, mma: gl.constexpr):
    M: gl.constexpr = a.block_shape[0]
    N: gl.constexpr = b.block_shape[1]
    DEPTH: gl.constexpr = a.block_shape[1]
    lefts = gl.allocate_shared_memory(a.dtype, [STAGES, M, DEPTH], a.layout)
    rights = gl.allocate_shared_memory(b.dtype, [STAGES, DEPTH, N], b.layout)
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    free = mbarrier.allocate_mbarrier(batch=STAGES)
    for stage in gl.static_range(STAGES):
        mbarrier.init(ready.index(stage), count=1)
        mbarrier.init(free.index(stage), count=1)
    total = gl.warp_specialize(
        [
            (consume, (lefts, rights, ready, free, K, DEPTH, STAGES, mma)),
            (produce, (a, b, lefts, rights, ready, free, K, STAGES)),
        ],
        [1],
        [24],
    )
    result = gl.allocate_shared_memory(out.dtype, out.block_shape, out.layout, total.to(out.dtype))
    fence_async_shared()
    tma.async_store(out, [gl.program_id(0) * M, gl.program_id(1) * N], result)
    tma.store_wait(0)


def test_matmul_with_a_warp_that_loads(hopper):
    product(matmul_with_roles, 2)


@gluon.jit
def write(out, first, SIZE: gl.constexpr, layout: gl.constexpr):
    places = gl.arange(0, SIZE, layout)
    gl.store(out + first + places, places)


@gluon.jit
def roles_in_a_loop(out, rounds, SIZE: gl.constexpr, four: gl.constexpr, one: gl.constexpr):
    for i in range(rounds):
        gl.warp_specialize(
            [
                (write, (out, 2 * i * SIZE, SIZE, four)),
                (write, (out, (2 * i + 1) * SIZE, SIZE, one)),
            ],
            [1],
        )


def test_roles_in_a_loop(hopper):
    out = np.zeros(6 * 64, np.int32)
    four, one = gl.BlockedLayout([1], [32], [4], [0]), gl.BlockedLayout([1], [32], [1], [0])
    roles_in_a_loop[(1,)](out, 3, 64, four, one)
    np.testing.assert_array_equal(out, np.tile(np.arange(64), 6))


# --- errors ------------------------------------------------------------------------------------


@gluon.jit
def wait_for_all(x):
    barriers = mbarrier.allocate_mbarrier(batch=2)
    mbarrier.init(barriers, count=1)
    mbarrier.wait(barriers, 0)


def message(kernel, *args):
    with pytest.raises(triton.CompilationError) as caught:
        kernel[(1,)](*args)
    return str(caught.value)


def test_wait_at_several_barriers(hopper):
    text = message(wait_for_all, np.zeros(4, np.float32))
    assert "mbarrier.wait(barriers, 0)" in text
    assert "selects one of several" in text


@gluon.jit
def count_none(x):
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=0)


def test_barrier_without_arrivals(hopper):
    assert "0 arrivals" in message(count_none, np.zeros(4, np.float32))


@gluon.jit
def multiply_rows(x, layout: gl.constexpr, shared: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float16, [64, 64], shared)
    total = gl.zeros([64, 64], gl.float32, layout)
    warpgroup_mma(buffer, buffer, total)


def test_accumulator_in_another_layout(hopper):
    text = message(multiply_rows, np.zeros(4, np.float32), ROWS, swizzled())
    assert "version [3, 0]" in text
    assert "BlockedLayout" in text
