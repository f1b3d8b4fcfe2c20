# Tensor methods for `and` and `or`: elementwise, on any numbers.
# SPDX-License-Identifier: MIT
# module: triton.language.tensor


@jit
@member
def logical_and(input, other):
    """Whether both are not zero."""
    return (input != 0) & (other != 0)


@jit
@member
def logical_or(input, other):
    """Whether one of them is not zero."""
    return (input != 0) | (other != 0)
