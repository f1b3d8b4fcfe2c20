"""Tensor descriptors that are created on the host: beside other arguments, with both
paddings, with rounding to tf32.
"""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import launch, values
from triton.tools.tensor_descriptor import TensorDescriptor


def aligned(array):
    """The same values at an address that is a multiple of 16."""
    memory = np.zeros(array.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


@triton.jit
def scaled_copy(x, factor, out, row, column):
    block = x.load([row, column]) * factor
    out.store([0, 0], block.to(out.dtype))


def padded(x, row, column, shape, fill=0):
    out = np.full(shape, fill, x.dtype)
    for r in range(shape[0]):
        for c in range(shape[1]):
            if 0 <= row + r < x.shape[0] and 0 <= column + c < x.shape[1]:
                out[r, c] = x[row + r, column + c]
    return out


@pytest.mark.parametrize("row, column", [(0, 0), (-3, 9), (14, -2), (2**31 - 1, 0), (100, -(2**31))])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_blocks(padding, dtype, row, column, device):
    if padding == "nan" and dtype == "int32":
        pytest.skip("integers have no NaN")
    x, out = aligned(values(dtype, 20, 64)), aligned(np.zeros((16, 32), dtype))
    view = x[:, :40]
    fill = np.nan if padding == "nan" else 0
    source = TensorDescriptor(view, [20, 40], [64, 1], [16, 32], padding)
    target = TensorDescriptor.from_tensor(out, [16, 32])
    if launch(scaled_copy, (1,), source, 3, target, row, column, device=device):
        expected = padded(view, row, column, (16, 32), fill) * x.dtype.type(3)
        np.testing.assert_array_equal(out, expected)


@triton.jit
def add_extents(x, out_ptr):
    tl.store(out_ptr, x.shape[0] * 1000 + x.shape[1])
    tl.store(out_ptr + 1, x.strides[0])
    tl.store(out_ptr + 2, x.strides[1])


def test_extents_and_strides_are_values(device):
    x, out = aligned(values("float32", 6, 16)), np.zeros(3, np.int64)
    if launch(add_extents, (1,), TensorDescriptor(x, [6, 13], [16, 1], [4, 4]), out, device=device):
        assert out.tolist() == [6013, 16, 1]


def kernels_of(function):
    return sum(len(entry[0]) for entry in function.device_caches.values())


def test_one_kernel_for_all_extents(device):
    before = kernels_of(add_extents)
    for rows in (2, 4, 6):
        x, out = aligned(values("float32", rows, 32)), np.zeros(3, np.int64)
        if launch(add_extents, (1,), TensorDescriptor.from_tensor(x, [2, 8]), out, device=device):
            assert out[0] == rows * 1000 + 32
    if not device.startswith("cuda:"):  # which compiles for several GPUs
        assert kernels_of(add_extents) == before + 1


@triton.jit
def round_trip(x, out):
    out.store([0], x.load([0]))


def test_rounding_to_tf32(device):
    x = aligned(values("float32", 64, low=-1e4, high=1e4))
    x[:6] = np.inf, -np.inf, np.nan, 1 + 2**-11, 1 + 2**-11 + 2**-23, -(1 + 2**-12)
    out = aligned(np.zeros(64, np.float32))
    source = TensorDescriptor(x, [64], [1], [64], round_f32_to_tf32=True)
    if not launch(round_trip, (1,), source, TensorDescriptor.from_tensor(out, [64]), device=device):
        return
    # Ten bits of fraction, ties away from zero; frexp gives a fraction in [0.5, 1).
    fraction, exponent = np.frexp(np.abs(x).astype(np.float64))
    with np.errstate(invalid="ignore"):
        rounded = np.ldexp(np.floor(np.ldexp(fraction, 11) + 0.5), exponent - 11)
    expected = np.copysign(np.where(np.isfinite(x), rounded, np.abs(x)), x).astype(np.float32)
    np.testing.assert_array_equal(out, expected)
    assert out[3] == np.float32(1 + 2**-10) and out[5] == -1


@triton.jit
def matmul_like(x, y, out, K, BLOCK_K: tl.constexpr):
    """Descriptors in a loop, on two axes of the grid."""
    row, column = tl.program_id(0) * 16, tl.program_id(1) * 16
    total = tl.zeros((16, 16), tl.float32)
    for k in range(0, K, BLOCK_K):
        a, b = x.load([row, k]), y.load([k, column])
        total += tl.sum(a[:, :, None] * b[None, :, :], axis=1)
    out.store([row, column], total)


def test_loops_and_grids(device):
    x, y = aligned(values("float32", 36, 20)), aligned(values("float32", 20, 44, seed=1))
    out = aligned(np.zeros((36, 44), np.float32))
    arguments = [TensorDescriptor.from_tensor(x, [16, 8]), TensorDescriptor.from_tensor(y, [8, 16])]
    arguments += [TensorDescriptor.from_tensor(out, [16, 16]), 20]
    if launch(matmul_like, (3, 3), *arguments, BLOCK_K=8, device=device):
        np.testing.assert_allclose(out, x @ y, rtol=1e-5, atol=1e-5)


def test_memory_that_must_not_be_written(device):
    if device.startswith(("cuda", "hip")):
        pytest.skip("a GPU gets copies of arrays")
    x, out = aligned(values("float32", 64)), aligned(np.zeros(64, np.float32))
    x.setflags(write=False)
    source = TensorDescriptor.from_tensor(x, [64])
    launch(round_trip, (1,), source, TensorDescriptor.from_tensor(out, [64]), device=device)
    assert (out == x).all()
    out.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        round_trip[(1,)](source, TensorDescriptor.from_tensor(out, [64]))
