# Scans along an axis: cumsum, cumprod.
# SPDX-License-Identifier: MIT
# module: triton.language


@jit
def _product(a, b):
    """Combines two elements of a product."""
    return a * b


@jit
@member
def cumsum(input, axis: constexpr = 0, reverse: constexpr = False, dtype: constexpr = None):
    """Sum of each element and all before it along an axis; integers under 32 bits are widened to 32."""
    if dtype is not None:
        input = input.to(dtype)
    elif input.dtype == bfloat16:
        input = input.to(float32)
    elif input.dtype.is_int() and input.dtype.primitive_bitwidth < 32:
        input = input.to(int32 if input.dtype.is_int_signed() else uint32)
    return associative_scan(input, axis, _add, reverse)


@jit
@member
def cumprod(input, axis: constexpr = 0, reverse: constexpr = False):
    """Product of each element and all before it along an axis."""
    if input.dtype == bfloat16:
        input = input.to(float32)
    return associative_scan(input, axis, _product, reverse)
