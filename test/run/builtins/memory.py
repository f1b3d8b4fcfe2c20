"""Loads and stores: masks, `other`, strides, alignment, int1, overlapping views."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _pointwise import FLOATS, SIGNED, UNSIGNED, anything
from harness import BFloat16, check, empty_like, launch, values


@triton.jit
def strided_copy(x_ptr, out_ptr, n, x_stride, out_stride, x_start, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + x_start + i * x_stride, mask=i < n)
    tl.store(out_ptr + i * out_stride, x, mask=i < n)


@pytest.mark.parametrize("dtype", ["bool", *SIGNED, *UNSIGNED, *FLOATS])
@pytest.mark.parametrize("stride", [1, 2, 3, -1, -2])
def test_strides(stride, dtype, device):
    n = 100
    x = values("bool", 300) if dtype == "bool" else anything(dtype, n=300)
    start = 0 if stride > 0 else 299
    expected = x[start::stride][:n]
    for out_stride in (1, 2):
        out = np.ones(2 * n, x.dtype)
        after = out.copy()
        after[: n * out_stride : out_stride] = expected
        arguments = dict(x_ptr=x, out_ptr=out, n=n, x_stride=stride, out_stride=out_stride)
        arguments |= dict(x_start=start, BLOCK=32)
        check(strided_copy, (4,), arguments, dict(out_ptr=after), device=device)


@triton.jit
def unaligned_copy(x_ptr, out_ptr, n, shift, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i + shift, tl.load(x_ptr + i + shift, mask=i < n), mask=i < n)


@pytest.mark.parametrize("shift", [1, 3, 7])
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
def test_addresses_off_a_vector(dtype, shift, device):
    x = anything(dtype, n=200)
    out = empty_like(x)
    after = out.copy()
    after[shift : shift + 150] = x[shift : shift + 150]
    arguments = dict(x_ptr=x, out_ptr=out, n=150, shift=shift, BLOCK=256)
    check(unaligned_copy, (1,), arguments, dict(out_ptr=after), device=device)


def test_addresses_off_an_element(device):
    """Elements at odd addresses, as numpy views of bytes."""
    if device != "cpu":
        pytest.skip("a GPU needs aligned elements")
    x_bytes, out_bytes = np.zeros(405, np.uint8), np.zeros(405, np.uint8)
    x, out = x_bytes[1:401].view(np.float32), out_bytes[3:403].view(np.float32)
    x[:] = values("float32", 100)
    launch(unaligned_copy, (1,), x, out, 90, 0, BLOCK=128, device=device)
    assert (out[:90] == x[:90]).all() and (out[90:] == 0).all()
    assert (out_bytes[:3] == 0).all() and (out_bytes[403:] == 0).all()


@triton.jit
def load_other(x_ptr, out_ptr, n, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n, other=OTHER))


@pytest.mark.parametrize("n", [0, 1, 7, 8, 31, 63, 64])
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", *FLOATS])
def test_other_fills_what_is_masked_off(dtype, n, device):
    x = values(dtype, 64, low=0, high=100)
    other = 42 if dtype not in FLOATS else 2.5
    expected = x.copy()
    expected[n:] = other
    arguments = dict(x_ptr=x, out_ptr=empty_like(x), n=n, OTHER=other, BLOCK=64)
    check(load_other, (1,), arguments, dict(out_ptr=expected), device=device)


def test_other_of_bfloat16(device):
    x = values("float32", 64)
    expected = BFloat16(np.where(np.arange(64) < 20, x, -np.inf))
    arguments = dict(x_ptr=BFloat16(x), out_ptr=BFloat16(np.zeros(64)), n=20)
    arguments |= dict(OTHER=-float("inf"), BLOCK=64)
    check(load_other, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def any_mask(x_ptr, mask_ptr, other_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = tl.load(mask_ptr + i)
    x = tl.load(x_ptr + i, mask, tl.load(other_ptr + i))
    tl.store(out_ptr + i, x + 1, mask=~mask | (i % 5 == 0))


@pytest.mark.parametrize("block", [1, 2, 16, 128])
def test_masks_and_others_from_memory(block, device):
    x, other = values("float32", block), values("float32", block, seed=1)
    mask = values("bool", block, seed=2)
    out = empty_like(x)
    stored = ~mask | (np.arange(block) % 5 == 0)
    after = np.where(stored, np.where(mask, x, other) + 1, out).astype(np.float32)
    arguments = dict(x_ptr=x, mask_ptr=mask, other_ptr=other, out_ptr=out, BLOCK=block)
    check(any_mask, (1,), arguments, dict(out_ptr=after), device=device)


@triton.jit
def never_touched(x_ptr, out_ptr, far, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * far, mask=i < 1, other=3.0)
    tl.store(out_ptr + i * far, x, mask=i < 1)


def test_lanes_masked_off_touch_no_memory(device):
    """The addresses of masked-off lanes are far outside of the arrays."""
    x = values("float32", 1)
    arguments = dict(x_ptr=x, out_ptr=empty_like(x), far=2**30, BLOCK=64)
    check(never_touched, (1,), arguments, dict(out_ptr=x), device=device)


@triton.jit
def gather_scatter(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    index = tl.load(index_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + index, tl.load(x_ptr + index, mask=i < n), mask=i < n)


@pytest.mark.parametrize("index_type", ["int32", "int64", "uint32", "int16", "uint8"])
def test_indices_from_memory(index_type, device):
    index = np.random.default_rng(7).permutation(100).astype(index_type)[:60]
    x = values("float32", 100)
    out = np.zeros(100, np.float32)
    after = out.copy()
    after[index] = x[index]
    arguments = dict(x_ptr=x, index_ptr=index, out_ptr=out, n=60, BLOCK=64)
    check(gather_scatter, (1,), arguments, dict(out_ptr=after), device=device)


@triton.jit
def transpose(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None]
    j = tl.arange(0, COLUMNS)[None, :]
    mask = (i < rows) & (j < columns)
    x = tl.load(x_ptr + i * columns + j, mask=mask, other=0)
    tl.store(out_ptr + j * rows + i, x, mask=mask)


@pytest.mark.parametrize("shape", [(1, 1), (4, 8), (3, 7), (16, 5), (1, 33), (31, 64)])
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
def test_two_dimensions(shape, dtype, device):
    rows, columns = shape
    x = anything(dtype, n=rows * columns + 8)[: rows * columns].reshape(shape)
    arguments = dict(x_ptr=x, out_ptr=empty_like(x.T.copy()), rows=rows, columns=columns)
    arguments |= dict(ROWS=32, COLUMNS=64)
    check(transpose, (1,), arguments, dict(out_ptr=x.T.copy()), device=device)


@triton.jit
def store_booleans(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    flags = tl.load(x_ptr + i, mask=i < n, other=False)
    tl.store(out_ptr + i, flags ^ (i % 3 == 0), mask=i < n)


@pytest.mark.parametrize("n", [1, 8, 17, 64])
def test_int1_pointers(n, device):
    x = values("bool", n)
    arguments = dict(x_ptr=x, out_ptr=~x, n=n, BLOCK=64)
    expected = x ^ (np.arange(n) % 3 == 0)
    check(store_booleans, (1,), arguments, dict(out_ptr=expected), device=device)


def test_int1_pointers_read_any_byte_as_true(device):
    x = np.array([0, 1, 2, 255, 0, 128], np.uint8)
    arguments = dict(x_ptr=x.view(bool), out_ptr=np.ones(6, bool), n=6, BLOCK=64)
    expected = (x != 0) ^ (np.arange(6) % 3 == 0)
    check(store_booleans, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def shift_in_place(x_ptr, n, by, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(x_ptr + i + by, x, mask=i < n)


@pytest.mark.parametrize("by", [0, 1, 7, 64])
@pytest.mark.parametrize("dtype", ["int8", "int32", "float64"])
def test_a_store_that_overlaps_its_load(dtype, by, device):
    x = anything(dtype, n=400)
    after = x.copy()
    after[by : by + 200] = x[:200]
    arguments = dict(x_ptr=x, n=200, by=by, BLOCK=256)
    check(shift_in_place, (1,), arguments, dict(x_ptr=after), device=device)


@triton.jit
def flip_in_place(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(x_ptr + BLOCK - 1 - i, x + tl.max(x, 0))


@pytest.mark.parametrize("block", [2, 16, 64, 1024])
def test_flip_in_place_after_a_reduction(block, device):
    x = values("float32", block)
    arguments = dict(x_ptr=x, BLOCK=block)
    after = x[::-1] + x.max()
    check(flip_in_place, (1,), arguments, dict(x_ptr=after), device=device)


@triton.jit
def load_after_store(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """Both pointers may point into one array."""
    i = tl.arange(0, BLOCK)
    before = tl.load(x_ptr + i)
    tl.store(y_ptr + i, before * 2)
    after = tl.load(x_ptr + i)
    tl.store(y_ptr + i, after - before, mask=i < n)


@pytest.mark.parametrize("offset", [0, 1, 5, 63, 64, 100])
def test_two_views_of_one_array(offset, device):
    if device != "cpu" and 36 < offset < 164 and offset != 100:
        pytest.skip("threads of a GPU see each other's stores in no order")
    memory = values("float32", 300)
    expected = memory.copy()
    x, y = expected[100:164], expected[offset : offset + 64]
    before = x.copy()
    y[:] = before * 2
    y[:20] = (x - before)[:20].copy()
    views = memory[100:], memory[offset:]
    if launch(load_after_store, (1,), *views, 20, BLOCK=64, device=device):
        assert (memory == expected).all()


@triton.jit
def options(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, cache_modifier=".cg", eviction_policy="evict_first", volatile=True)
    y = tl.load(x_ptr + i, cache_modifier=".ca", eviction_policy="evict_last")
    tl.store(out_ptr + i, x, cache_modifier=".wb", eviction_policy="evict_last")
    (out_ptr + BLOCK + i).store(y, cache_modifier=".cs")


def test_cache_options_change_no_value(device):
    x = values("float32", 32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(64, np.float32), BLOCK=32)
    expected = np.concatenate([x, x])
    check(options, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def scalars(x_ptr, out_ptr, n):
    tl.store(out_ptr, tl.load(x_ptr))
    tl.store(out_ptr + 1, tl.load(x_ptr + 1, mask=n > 5, other=9.0))
    tl.store(out_ptr + 2, tl.load(x_ptr + 2, mask=n > 50, other=9.0))
    tl.store(out_ptr + 3, 1.0, mask=n > 5)
    tl.store(out_ptr + 4, 1.0, mask=n > 50)


def test_scalar_pointers(device):
    x = np.array([1.5, 2.5, 3.5], np.float32)
    expected = np.array([1.5, 2.5, 9.0, 1.0, 0.0], np.float32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(5, np.float32), n=10)
    check(scalars, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def broadcasts(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None]
    j = tl.arange(0, COLUMNS)[None, :]
    row = tl.load(x_ptr + j)
    tl.store(out_ptr + i * COLUMNS + j, row, mask=i < 2)
    tl.store(out_ptr + i * COLUMNS + j, i.to(tl.float32), mask=(i == 2) & (j >= 0))


def test_values_and_masks_are_broadcast(device):
    x = values("float32", 8)
    expected = np.full((4, 8), -1, np.float32)
    expected[:2] = x
    expected[2] = 2
    out = np.full((4, 8), -1, np.float32)
    arguments = dict(x_ptr=x, out_ptr=out, ROWS=4, COLUMNS=8)
    check(broadcasts, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def same_address(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i // 4, (i // 4) * 3)


def test_lanes_that_store_one_value_to_one_place(device):
    arguments = dict(x_ptr=np.zeros(8, np.int32), BLOCK=32)
    expected = np.arange(8, dtype=np.int32) * 3
    check(same_address, (1,), arguments, dict(x_ptr=expected), device=device)


@triton.jit
def far_copy(x_ptr, out_ptr, start, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + start + i))
    tl.store(x_ptr + start + i, 7)


def test_offsets_of_more_than_2_to_the_31_bytes(device):
    try:
        x = np.zeros(2**31 + 4096, np.int8)  # untouched pages take no memory
    except MemoryError:
        pytest.skip("no 2 GiB of address space here")
    start = 2**31 + 100
    x[start : start + 64] = np.arange(64)
    out = np.zeros(64, np.int8)
    if not launch(far_copy, (1,), x, out, start, BLOCK=64, device=device):
        return
    assert (out == np.arange(64)).all() and (x[start : start + 64] == 7).all()
    assert not x[100:164].any()


def test_32_bit_offsets_of_wide_elements(device):
    """An int32 index times 8 bytes exceeds 2**31."""
    try:
        x = np.zeros(2**28 + 4096, np.float64)
    except MemoryError:
        pytest.skip("no 2 GiB of address space here")
    start = 2**28 + 100
    x[start : start + 64] = np.arange(64)
    out = np.zeros(64)
    if not launch(far_copy, (1,), x, out, start, BLOCK=64, device=device):
        return
    assert (out == np.arange(64)).all() and (x[start : start + 64] == 7).all()


@triton.jit
def volatile_after_store(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, i)
    back = tl.load(x_ptr + (N - 1 - i), volatile=True)
    tl.store(out_ptr + i, back)
    forth = tl.load(y_ptr + (N - 1 - i), volatile=True)
    tl.store(y_ptr + i, forth)


def test_volatile_loads_keep_their_place_among_stores(device):
    n = 1024
    y = np.arange(n, dtype=np.int32) * 3
    arguments = dict(x_ptr=np.zeros(n, np.int32), y_ptr=y, out_ptr=np.zeros(n, np.int32), N=n)
    backwards = np.arange(n, dtype=np.int32)[::-1]
    check(volatile_after_store, (1,), arguments, dict(x_ptr=backwards[::-1], out_ptr=backwards, y_ptr=3 * backwards), device=device)
