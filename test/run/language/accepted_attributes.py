"""Attributes, on every kind of value"""
# SPDX-License-Identifier: MIT

import numpy as np
import triton
import triton.language as tl
from _accepted import accepts


@triton.jit
def of_tiles(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.static_assert(
        v.type.is_block() and v.type.scalar == tl.float32 and v.type.element_ty == v.dtype
    )
    tl.static_assert(v.type.shape[0] == B and v.type.numel == B and v.numel == B and v.shape == [B])
    tl.static_assert(v.type.get_block_shapes()[0] == B and v.type.nbytes == 64)
    tl.static_assert(v.shape[0].value == B and v.numel.value == B and v.shape == (B,))
    tl.store(out + i, v.to(v.type))


def test_of_tiles(device):
    """Tiles: `.type`, `.dtype`, `.shape`, `.numel`, and of the type `.scalar`, `.element_ty`, `.shape`, `.numel`,
    `.nbytes`, `.get_block_shapes()`, `.is_block()`."""
    accepts(of_tiles, lambda x, n: x, device)


@triton.jit
def of_scalars(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.static_assert(
        n.type == tl.int32 and n.dtype == tl.int32 and n.type.scalar == tl.int32 and n.numel == 1
    )
    tl.static_assert(len(n.shape) == 0 and not n.type.is_block() and not n.type.is_ptr())
    tl.store(out + i, tl.full([B], n, n.type))


def test_of_scalars(device):
    """Scalars: the same, with the type as its own `.scalar` and no extents."""
    accepts(of_scalars, lambda x, n: n, device)


@triton.jit
def of_pointers(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = x + i
    tl.static_assert(
        x.type.is_ptr() and x.type.element_ty == tl.float32 and x.dtype.element_ty == tl.float32
    )
    tl.static_assert(x.type.scalar.element_ty == tl.float32 and not x.type.is_const())
    tl.static_assert(x.type == tl.pointer_type(tl.float32) and x.type.address_space == 1)
    tl.static_assert(p.type.is_block() and p.type.element_ty.is_ptr() and p.dtype.is_ptr())
    tl.static_assert(
        p.type.element_ty.element_ty == tl.float32 and p.type.scalar.element_ty == tl.float32
    )
    tl.store(out + i, tl.load(p).to(p.dtype.element_ty))


def test_of_pointers(device):
    """Pointers and tiles of pointers: `.type` and `.dtype` with `.element_ty`, `.is_ptr()`, `.is_const()`."""
    accepts(of_pointers, lambda x, n: x, device)


@triton.jit
def of_block_pointers(x, out, n, B: tl.constexpr):
    p = tl.make_block_ptr(x, (n,), (1,), (0,), (B,), order=(0,))
    q = tl.make_block_ptr(out, [B], [1], [0], [B], order=[0])
    tl.static_assert(p.type.is_ptr() and not p.type.is_block() and p.type.element_ty.is_block())
    tl.static_assert(p.type.element_ty.shape[0] == B and p.type.element_ty.element_ty == tl.float32)
    value = tl.load(p, boundary_check=(0,), padding_option="zero")
    tl.store(q, value.to(q.type.element_ty).to(q.dtype.element_ty), boundary_check=(0,))


def test_of_block_pointers(device):
    """Block pointers: `.type` points to a block, whose type has `.shape` and `.element_ty`."""
    accepts(of_block_pointers, lambda x, n: np.where(np.arange(16) < n, x, 0), device)


@triton.jit
def first_block(desc):
    return desc.load([0]).to(desc.dtype)


@triton.jit
def of_descriptors(x, out, n, B: tl.constexpr):
    desc = tl.make_tensor_descriptor(x, [n], [1], [B])
    tl.static_assert(desc.type.block_type.element_ty == tl.float32 and desc.dtype == tl.float32)
    tl.static_assert(desc.block_shape[0] == B and desc.block_type.shape[0] == B)
    tl.store(out + tl.arange(0, B), first_block(desc) + desc.shape[0] + desc.strides[0])


def test_of_descriptors(device):
    """Descriptors: `.type.block_type`, `.block_type`, `.block_shape`, `.dtype`, `.shape`, `.strides`."""
    accepts(of_descriptors, lambda x, n: np.where(np.arange(16) < n, x, 0) + n + 1, device)


@triton.jit
def of_dtypes(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    d: tl.constexpr = n.dtype
    tl.static_assert(
        d.name == "int32" and d.itemsize == 4 and d.primitive_bitwidth == 32 and d.is_int_signed()
    )
    tl.static_assert(d.get_int_max_value() == 2147483647 and d.get_int_min_value() == -2147483648)
    tl.static_assert(
        d.kind() == tl.dtype.KIND.INTEGRAL and d.int_signedness == tl.dtype.SIGNEDNESS.SIGNED
    )
    tl.static_assert(tl.float32.fp_mantissa_width == 23 and tl.float32.codegen_name() == "float32")
    tl.static_assert(d is tl.int32 and d is not tl.int64 and d != tl.float32)
    tl.store(out + i, tl.load(x + i))


def test_of_dtypes(device):
    """Dtypes: name, widths, limits, kind and signedness."""
    accepts(of_dtypes, lambda x, n: x, device)


@triton.jit
def indexed_scalars(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    s = tl.full([], 1, tl.int32)
    tl.static_assert(
        n[None].shape == [1] and s[None, None].shape == [1, 1] and n[None, :].shape == [1]
    )
    tl.static_assert(
        tl.expand_dims(n, 0).shape == [1] and tl.expand_dims(s, [0, 1]).shape == [1, 1]
    )
    inside = i[None, :] < n[None, :]
    tl.store(out + i[None, :], tl.where(inside, tl.load(x + i)[None, :] + s[None, None], 0))


def test_indexed_scalars(device):
    """A scalar is indexed with `None` and `:` as a tile is, and is an operand of `tl.expand_dims`."""
    accepts(indexed_scalars, lambda x, n: np.where(np.arange(16) < n, x + 1, 0), device)


@triton.jit
def whole_slices(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(out + i[None, :], v[None, :, :])


def test_whole_slices(device):
    """`:` for more dimensions than a tile has is ignored, as in Triton 3.6."""
    accepts(whole_slices, lambda x, n: x, device)


@triton.jit
def pair_of(value):
    return value, value + 1.0


@triton.jit
def of_tuples(x, out, n, B: tl.constexpr):
    pair = pair_of(n)
    tl.static_assert(pair.type == tl.tuple_type([tl.int32, tl.float32]))
    tl.static_assert(pair.type != tl.tuple_type([tl.float32, tl.float32]))
    tl.store(out + tl.arange(0, B), tl.full([B], pair[1], pair.type.types[1]))


def test_of_tuples(device):
    """Tuples: `.type`, the `tl.tuple_type` of their elements' types."""
    accepts(of_tuples, lambda x, n: n + 1.0, device)


@triton.jit
def classes_of_types(x, out, n, B: tl.constexpr):
    p = x + tl.arange(0, B)
    if (
        isinstance(x.dtype, tl.pointer_type)
        and isinstance(p.type, tl.block_type)
        and isinstance(p.type, (tl.dtype, tl.core.base_type))
        and isinstance(p, tl.core.base_value)
        and not isinstance(n.type, (tl.pointer_type, tl.block_type))
        and not isinstance(p.type, tl.pointer_type)
    ):
        tl.store(out + tl.arange(0, B), tl.load(p))
    else:
        tl.static_assert(False)


def test_classes_of_types(device):
    """`isinstance` with `tl.pointer_type`, `tl.block_type`, `base_type` and `base_value`."""
    accepts(classes_of_types, lambda x, n: x, device)
