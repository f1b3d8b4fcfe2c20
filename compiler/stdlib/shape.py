# Dimensions of extent 1: squeeze, unsqueeze.
# SPDX-License-Identifier: MIT
# module: triton.language


@jit
def squeeze(x, dim: constexpr):
    """The tile without a dimension of extent 1."""
    axis: constexpr = dim if dim >= 0 else dim + len(x.shape)
    static_assert(x.shape[axis] == 1, f"squeeze needs extent 1, dimension {dim} has {x.shape[axis]}")
    return reshape(x, x.shape[:axis] + x.shape[axis + 1:])


@jit
def unsqueeze(x, dim: constexpr):
    """The tile with a new dimension of extent 1."""
    return expand_dims(x, dim)
