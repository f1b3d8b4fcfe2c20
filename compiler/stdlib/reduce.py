# Reductions along an axis: sum, max, min, argmax, argmin, xor_sum, reduce_or.
# SPDX-License-Identifier: MIT
# module: triton.language


@jit
def _add(a, b):
    """Combines two elements of a sum."""
    return a + b


@jit
def _xor(a, b):
    """Combines two elements of an exclusive or."""
    return a ^ b


@jit
def _or(a, b):
    """Combines two elements of an inclusive or."""
    return a | b


@jit
def _larger_left(value1, index1, value2, index2):
    """The larger value with its index; of equal ones, the lower index. A NaN counts as less than all numbers."""
    first = (value1 > value2) | ((value1 == value2) & (index1 < index2))
    if value1.dtype.is_floating():
        first = first | ((value2 != value2) & ((value1 == value1) | (index1 < index2)))
    return where(first, value1, value2), where(first, index1, index2)


@jit
def _larger_any(value1, index1, value2, index2):
    """The larger value with its index; of equal ones, any index. A NaN counts as less than all numbers."""
    first = value1 > value2
    if value1.dtype.is_floating():
        first = first | (value2 != value2)
    return where(first, value1, value2), where(first, index1, index2)


@jit
def _smaller_left(value1, index1, value2, index2):
    """The smaller value with its index; of equal ones, the lower index. A NaN counts as greater than all numbers."""
    first = (value1 < value2) | ((value1 == value2) & (index1 < index2))
    if value1.dtype.is_floating():
        first = first | ((value2 != value2) & ((value1 == value1) | (index1 < index2)))
    return where(first, value1, value2), where(first, index1, index2)


@jit
def _smaller_any(value1, index1, value2, index2):
    """The smaller value with its index; of equal ones, any index. A NaN counts as greater than all numbers."""
    first = value1 < value2
    if value1.dtype.is_floating():
        first = first | (value2 != value2)
    return where(first, value1, value2), where(first, index1, index2)


@jit
def _positions(input, axis: constexpr):
    """Each element's index along the axis, in the input's shape."""
    rank: constexpr = len(input.shape)
    static_assert(-rank <= axis and axis < rank, f"axis {axis} does not exist in a tile of {rank} dimensions")
    return _indices_along(input.shape, axis if axis >= 0 else axis + rank)


@jit
@member
def sum(input, axis=None, keep_dims: constexpr = False, dtype: constexpr = None):
    """Sum of the elements along an axis, or of all; integers under 32 bits are widened to 32."""
    if dtype is not None:
        input = input.to(dtype)
    elif input.dtype.is_int() and input.dtype.primitive_bitwidth < 32:
        input = input.to(int32 if input.dtype.is_int_signed() else uint32)
    return reduce(input, axis, _add, keep_dims=keep_dims)


@jit
@member
def max(input, axis=None, return_indices: constexpr = False, return_indices_tie_break_left: constexpr = True,
        keep_dims: constexpr = False):
    """Largest element along an axis, or of all, with its index if asked for; NaNs are dropped."""
    if return_indices:
        static_assert(axis is not None, "max with return_indices needs an axis")
        if input.dtype == bfloat16:
            input = input.to(float32)
        if return_indices_tie_break_left:
            return reduce((input, _positions(input, axis)), axis, _larger_left, keep_dims=keep_dims)
        else:
            return reduce((input, _positions(input, axis)), axis, _larger_any, keep_dims=keep_dims)
    else:
        if input.dtype.primitive_bitwidth < 32:
            input = input.to(float32 if input.dtype.is_floating() else int32)
        return reduce(input, axis, maximum, keep_dims=keep_dims)


@jit
@member
def min(input, axis=None, return_indices: constexpr = False, return_indices_tie_break_left: constexpr = True,
        keep_dims: constexpr = False):
    """Smallest element along an axis, or of all, with its index if asked for; NaNs are dropped."""
    if return_indices:
        static_assert(axis is not None, "min with return_indices needs an axis")
        if input.dtype == bfloat16:
            input = input.to(float32)
        if return_indices_tie_break_left:
            return reduce((input, _positions(input, axis)), axis, _smaller_left, keep_dims=keep_dims)
        else:
            return reduce((input, _positions(input, axis)), axis, _smaller_any, keep_dims=keep_dims)
    else:
        if input.dtype.primitive_bitwidth < 32:
            input = input.to(float32 if input.dtype.is_floating() else int32)
        return reduce(input, axis, minimum, keep_dims=keep_dims)


@jit
@member
def argmax(input, axis, tie_break_left: constexpr = True, keep_dims: constexpr = False):
    """Index of the largest element along an axis; of equal ones, the lower index; of NaNs only where all are."""
    value, index = max(input, axis, return_indices=True, return_indices_tie_break_left=tie_break_left,
                       keep_dims=keep_dims)
    return index


@jit
@member
def argmin(input, axis, tie_break_left: constexpr = True, keep_dims: constexpr = False):
    """Index of the smallest element along an axis; of equal ones, the lower index; of NaNs only where all are."""
    value, index = min(input, axis, return_indices=True, return_indices_tie_break_left=tie_break_left,
                       keep_dims=keep_dims)
    return index


@jit
@member
def xor_sum(input, axis=None, keep_dims: constexpr = False):
    """Exclusive or of the elements along an axis, or of all."""
    static_assert(input.dtype.is_int(), "xor_sum only supported for integers")
    return reduce(input, axis, _xor, keep_dims=keep_dims)


@jit
@member
def reduce_or(input, axis, keep_dims: constexpr = False):
    """Inclusive or of the elements along an axis, or of all."""
    static_assert(input.dtype.is_int(), "reduce_or only supported for integers")
    return reduce(input, axis, _or, keep_dims=keep_dims)
