# Sorting along a dimension by bitonic networks: sort, argsort, topk, bitonic_merge.
# SPDX-License-Identifier: MIT
# module: triton.language
#
# A step of a network compares elements whose indices differ in one bit, and
# reads the other of each pair with `gather(x, index ^ distance)`. NaN sorts
# after all numbers. With indices, equal elements keep their order. Without,
# floats are sorted as integers: a step is then a minimum and a maximum, where
# comparisons of floats would have to test both for NaN.


@jit
def _log2(n: constexpr):
    """Binary logarithm of a power of two."""
    return 0 if n == 1 else 1 + _log2(n // 2)


@jit
def _greater(a, b):
    """Whether a is greater than b; NaN is greater than all numbers."""
    if a.dtype.is_floating():
        return (a > b) | ((a != a) & (b == b))
    else:
        return a > b


@jit
def _before(a, index_a, b, index_b, descending: constexpr):
    """Whether a belongs before b; equal ones stand in the order of their indices."""
    is_greater = _greater(a, b)
    is_less = _greater(b, a)
    is_earlier = ((is_greater | is_less) ^ True) & (index_a < index_b)
    if descending:
        return is_greater | is_earlier
    else:
        return is_less | is_earlier


@jit
def _sorts_by_key(dtype: constexpr):
    return dtype.is_floating() and dtype.primitive_bitwidth > 8


@jit
def _sort_key(x):
    """Integers in the order of the floats `x`, NaN last; integers and fp8, whose formats differ in NaN, stay."""
    if _sorts_by_key(x.dtype):
        bits: constexpr = x.dtype.primitive_bitwidth
        word: constexpr = int16 if bits == 16 else int32 if bits == 32 else int64
        largest: constexpr = (1 << (bits - 1)) - 1
        return where(x == x, _flip_negative(x.to(word, bitcast=True)), largest)
    else:
        return x


@jit
def _from_sort_key(key, dtype: constexpr):
    """The elements that `_sort_key` made the keys from; every NaN has the same bits."""
    if _sorts_by_key(dtype):
        return _flip_negative(key).to(dtype, bitcast=True)
    else:
        return key


@jit
def _flip_negative(x):
    """Reverses the order of the negative integers."""
    bits: constexpr = x.dtype.primitive_bitwidth
    return x ^ ((x >> (bits - 1)) & ((1 << (bits - 1)) - 1))


@jit
def _least(a, b, descending: constexpr):
    """The one of two keys that belongs first, a if they are equal."""
    if a.dtype.is_floating():
        return where(_greater(b, a) if descending else _greater(a, b), b, a)
    else:
        return maximum(a, b) if descending else minimum(a, b)


@jit
def _exchange(key, index, axis: constexpr, distance: constexpr, descending: constexpr, flipped):
    """Puts all pairs `distance` apart in order, or in reverse order where `flipped` is true."""
    position = _indices_along(key.shape, axis)
    is_first = (position & distance) == 0
    other = gather(key, position ^ distance, axis)
    if index is None:
        takes_least = is_first if flipped is None else is_first ^ flipped
        return where(takes_least, _least(key, other, descending), _least(key, other, not descending)), None
    else:
        first = where(is_first, key, other)
        second = where(is_first, other, key)
        other_index = gather(index, position ^ distance, axis)
        swaps = _before(second, where(is_first, other_index, index), first, where(is_first, index, other_index),
                        descending)
        if flipped is not None:
            swaps = swaps ^ flipped
        return where(swaps, other, key), where(swaps, other_index, index)


@jit
def _merge(key, index, axis: constexpr, length: constexpr, descending: constexpr, is_alternating: constexpr):
    """Sorts runs of `length` elements that rise and fall once each; every second in reverse order if alternating."""
    steps: constexpr = _log2(length)
    if is_alternating:
        flipped = (_indices_along(key.shape, axis) & length) != 0
        for step in static_range(steps):
            key, index = _exchange(key, index, axis, length >> (step + 1), descending, flipped)
    else:
        for step in static_range(steps):
            key, index = _exchange(key, index, axis, length >> (step + 1), descending, None)
    return key, index


@jit
def _sort_runs(key, index, axis: constexpr, length: constexpr, descending: constexpr):
    """Sorts runs of `length` elements, every second in reverse order."""
    extent: constexpr = key.shape[axis]
    static_assert((extent & (extent - 1)) == 0, f"sorting needs an extent that is a power of 2, not {extent}; pad it")
    levels: constexpr = _log2(length)
    for level in static_range(1, levels + 1):
        key, index = _merge(key, index, axis, 1 << level, descending, (1 << level) < extent)
    return key, index


@jit
def _halve(key, index, axis: constexpr, length: constexpr, descending: constexpr):
    """Of each two runs, one in order and one in reverse, the elements that belong first, in one run."""
    half: constexpr = key.shape[axis] // 2
    position = _indices_along(key.shape[:axis] + (half,) + key.shape[axis + 1:], axis)
    left = position + (position & -length)
    right = left + length
    a = gather(key, left, axis)
    b = gather(key, right, axis)
    if index is None:
        return _least(a, b, descending), None
    else:
        index_a = gather(index, left, axis)
        index_b = gather(index, right, axis)
        takes_b = _before(b, index_b, a, index_a, descending)
        return where(takes_b, b, a), where(takes_b, index_b, index_a)


@jit
@member
def sort(x, dim: constexpr = None, descending: constexpr = False, return_indices: constexpr = False):
    """The elements in order along a dimension, the last if none is given; with their indices if asked for."""
    axis: constexpr = _axis(x, dim)
    if return_indices:
        return _sort_runs(x, _indices_along(x.shape, axis), axis, x.shape[axis], descending)
    else:
        key, index = _sort_runs(_sort_key(x), None, axis, x.shape[axis], descending)
        return _from_sort_key(key, x.dtype)


@jit
def argsort(x, dim: constexpr = None, descending: constexpr = False):
    """The indices that put the elements in order along a dimension; those of equal elements ascend."""
    values, index = sort(x, dim, descending, return_indices=True)
    return index


@jit
def _largest(key, index, axis: constexpr, k: constexpr, descending: constexpr):
    """The k elements that belong first, in order."""
    key, index = _sort_runs(key, index, axis, k, descending)
    rounds: constexpr = _log2(key.shape[axis] // k)
    for round in static_range(rounds):
        key, index = _halve(key, index, axis, k, descending)
        key, index = _merge(key, index, axis, k, descending, round + 1 < rounds)
    return key, index


@jit
def topk(x, k: constexpr, dim: constexpr = None, descending: constexpr = True, return_indices: constexpr = False):
    """The k largest elements along a dimension, or the smallest in ascending order; with indices if asked for."""
    axis: constexpr = _axis(x, dim)
    extent: constexpr = x.shape[axis]
    static_assert(k >= 1 and (k & (k - 1)) == 0 and k <= extent,
                  f"topk needs a power of 2 up to the extent {extent}, not {k}")
    if return_indices:
        return _largest(x, _indices_along(x.shape, axis), axis, k, descending)
    else:
        key, index = _largest(_sort_key(x), None, axis, k, descending)
        return _from_sort_key(key, x.dtype)


@jit
def bitonic_merge(x, dim: constexpr = None, descending: constexpr = False):
    """Sorts elements along a dimension that rise and then fall there, or fall and then rise."""
    axis: constexpr = _axis(x, dim)
    extent: constexpr = x.shape[axis]
    static_assert((extent & (extent - 1)) == 0, f"sorting needs an extent that is a power of 2, not {extent}; pad it")
    key, index = _merge(_sort_key(x), None, axis, x.shape[axis], descending, False)
    return _from_sort_key(key, x.dtype)
