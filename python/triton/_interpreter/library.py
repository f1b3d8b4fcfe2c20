"""Operations on block pointers and descriptors, which a program represents by their fields alone.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from .. import language as tl
from ..runtime.jit import JITFunction


def with_block(operation, base, shape, strides, offsets, block_shape, order, args):
    pointer = tl.make_block_ptr(base, shape, strides, offsets, block_shape, order)
    return operation(pointer, *args)


def check_block(base, shape, strides, offsets, block_shape, order):
    tl.make_block_ptr(base, shape, strides, offsets, block_shape, order)


def advanced(base, shape, strides, offsets, block_shape, order, by):
    pointer = tl.make_block_ptr(base, shape, strides, offsets, block_shape, order)
    return tl.advance(pointer, by).offsets


def with_descriptor(operation, base, shape, strides, block_shape, padding, args):
    descriptor = tl.make_tensor_descriptor(base, shape, strides, block_shape, padding)
    return operation(descriptor, *args)


def descriptor_fields(base, shape, strides, block_shape, padding):
    descriptor = tl.make_tensor_descriptor(base, shape, strides, block_shape, padding)
    return descriptor.shape, descriptor.strides


with_block = JITFunction(with_block)
check_block = JITFunction(check_block)
advanced = JITFunction(advanced)
with_descriptor = JITFunction(with_descriptor)
descriptor_fields = JITFunction(descriptor_fields)
