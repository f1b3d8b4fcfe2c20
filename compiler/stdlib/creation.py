# Tiles of zeros, and the rounded-up quotient that sizes grids and loops.
# SPDX-License-Identifier: MIT
# module: triton.language


@jit
def zeros(shape, dtype):
    """A tile of zeros."""
    return full(shape, 0, dtype)


@jit
def zeros_like(input):
    """Zeros in the shape and element type of a tensor."""
    return full(input.shape, 0, input.dtype)


@jit
@member
def cdiv(x, div):
    """Quotient of non-negative integers, rounded up."""
    return (x + (div - 1)) // div
