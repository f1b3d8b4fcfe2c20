# Float functions composed of simpler ones: sigmoid, softmax.
# SPDX-License-Identifier: MIT
# module: triton.language


@jit
@member
def sigmoid(x):
    """1 / (1 + exp(-x))."""
    return 1 / (1 + exp(-x))


@jit
@member
def softmax(x, dim=None, keep_dims: constexpr = False, ieee_rounding: constexpr = False):
    """Exponentials of x along a dimension, the first if none is given, scaled to sum 1."""
    axis: constexpr = 0 if dim is None else dim
    numerator = exp(x - max(x, axis, keep_dims=keep_dims))
    denominator = sum(numerator, axis, keep_dims=keep_dims)
    return fdiv(numerator, denominator, ieee_rounding)
