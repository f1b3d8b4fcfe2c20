# Rearrangements composed of simpler ones: squeeze, unsqueeze, interleave, flip, roll, swizzle2d.
# SPDX-License-Identifier: MIT
# module: triton.language


@jit
def _axis(x, dim):
    """A dimension counted from the front; the last where none is given."""
    rank: constexpr = len(x.shape)
    axis: constexpr = rank - 1 if dim is None else dim
    static_assert(-rank <= axis and axis < rank, f"dimension {dim} does not exist in a tile of {rank} dimensions")
    return axis if axis >= 0 else axis + rank


@jit
def _indices_along(shape, axis: constexpr):
    """Each element's index along the axis, in a shape."""
    index = arange(0, shape[axis])
    for other in static_range(len(shape)):
        if other != axis:
            index = expand_dims(index, other)
    return broadcast_to(index, shape)


@jit
def squeeze(x, dim: constexpr):
    """The tile without a dimension of extent 1."""
    axis: constexpr = _axis(x, dim)
    static_assert(x.shape[axis] == 1, f"squeeze needs extent 1, dimension {dim} has {x.shape[axis]}")
    return reshape(x, x.shape[:axis] + x.shape[axis + 1:])


@jit
def unsqueeze(x, dim: constexpr):
    """The tile with a new dimension of extent 1."""
    return expand_dims(x, dim)


@jit
def interleave(a, b):
    """Elements of both tiles in turn along the last dimension."""
    both = join(a, b)
    if len(both.shape) == 1:
        return both
    else:
        return reshape(both, both.shape[:-2] + (2 * both.shape[-2],))


@jit
@member
def flip(x, dim: constexpr = None):
    """The tile with its elements in reverse order along a dimension, the last if none is given."""
    axis: constexpr = _axis(x, dim)
    last: constexpr = x.shape[axis] - 1
    if (last & (last + 1)) == 0:
        return gather(x, _indices_along(x.shape, axis) ^ last, axis)
    else:
        return gather(x, last - _indices_along(x.shape, axis), axis)


@jit
def roll(x, shift, dim: constexpr = None):
    """The tile rolled by a number of elements along a dimension, the last if none is given."""
    axis: constexpr = _axis(x, dim)
    extent: constexpr = x.shape[axis]
    source = (_indices_along(x.shape, axis) - shift) % extent
    return gather(x, where(source < 0, source + extent, source), axis)


@jit
def swizzle2d(i, j, size_i, size_j, size_g):
    """Row-major index (i, j) to its index when groups of `size_g` rows are walked column by column."""
    position = i * size_j + j
    per_group = size_g * size_j
    first_row = position // per_group * size_g
    rows = minimum(size_i - first_row, size_g)
    inside = position % per_group
    return first_row + inside % rows, inside // rows
