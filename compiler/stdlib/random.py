# Random numbers from counters: the Philox generator, integers, uniform and normal floats.
# SPDX-License-Identifier: MIT
# module: triton.language


@jit
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: constexpr = 10):
    """Four counter words after a number of Philox rounds; all have the type of `c0`, uint32 or uint64."""
    word: constexpr = c0.dtype
    static_assert(word == uint32 or word == uint64, f"philox_impl needs words of uint32 or uint64, not {word}")
    is_wide: constexpr = word == uint64
    factor0: constexpr = 0xD2E7470EE14C6C93 if is_wide else 0xD2511F53
    factor1: constexpr = 0xCA5A826395121157 if is_wide else 0xCD9E8D57
    step0: constexpr = 0x9E3779B97F4A7C15 if is_wide else 0x9E3779B9
    step1: constexpr = 0xBB67AE8584CAA73B if is_wide else 0xBB67AE85
    multiplier0 = full((), factor0, word)
    multiplier1 = full((), factor1, word)
    for _ in static_range(n_rounds):
        high0 = umulhi(multiplier0, c0)
        high1 = umulhi(multiplier1, c2)
        low0 = multiplier0 * c0
        low1 = multiplier1 * c2
        c0 = high1 ^ c1 ^ k0
        c1 = low1
        c2 = high0 ^ c3 ^ k1
        c3 = low0
        k0 = k0 + full((), step0, word)
        k1 = k1 + full((), step1, word)
    return c0, c1, c2, c3


@jit
def philox(seed, c0, c1, c2, c3, n_rounds: constexpr = 10):
    """Four random words for a seed and a counter of four words of 32 or 64 bits."""
    seed = to_tensor(seed)
    static_assert(seed.dtype.is_int(), f"the seed of random numbers is an integer, not {seed.dtype}")
    seed = seed.to(uint64)
    c0 = to_tensor(c0)
    static_assert(c0.dtype.is_int() and c0.dtype.primitive_bitwidth >= 32,
                  f"philox counts with words of 32 or 64 bits, not {c0.dtype}")
    word: constexpr = uint64 if c0.dtype.primitive_bitwidth == 64 else uint32
    if word == uint64:
        key0 = seed
        key1 = full((), 0, uint64)
    else:
        key0 = seed.to(uint32)
        key1 = (seed >> 32).to(uint32)
    return philox_impl(c0.to(word), to_tensor(c1).to(word), to_tensor(c2).to(word), to_tensor(c3).to(word), key0, key1,
                       n_rounds)


@jit
def randint4x(seed, offset, n_rounds: constexpr = 10):
    """Four tiles of random uint32 for a seed and a tile of offsets: the cheapest way to get many."""
    offset = to_tensor(offset)
    low = offset.to(uint32)
    zero = zeros_like(low)
    if offset.dtype.primitive_bitwidth > 32:
        high = (offset >> 32).to(uint32)
    else:
        high = zero
    return philox(seed, low, high, zero, zero, n_rounds)


@jit
def randint(seed, offset, n_rounds: constexpr = 10):
    """Random uint32 for a seed and a tile of offsets."""
    first, second, third, fourth = randint4x(seed, offset, n_rounds)
    return first


@jit
def uint_to_uniform_float(x):
    """Floats in [0, 1) from random integers of 32 or 64 bits."""
    static_assert(x.dtype.is_int() and x.dtype.primitive_bitwidth >= 32,
                  f"uint_to_uniform_float needs integers of 32 or 64 bits, not {x.dtype}")
    is_wide: constexpr = x.dtype.primitive_bitwidth == 64
    # Just under 2^-31 and 2^-63: the largest integer must stay below 1 after rounding.
    scale: constexpr = 1.0842020432385337e-19 if is_wide else 4.6566127342e-10
    x = x.to(int64 if is_wide else int32, bitcast=True)
    return where(x < 0, -x - 1, x) * scale


@jit
def pair_uniform_to_normal(u1, u2):
    """Two standard normal numbers from two uniform ones (Box and Muller)."""
    u1 = maximum(1.0e-7, u1)
    angle = 6.283185307179586 * u2
    radius = sqrt(-2.0 * log(u1))
    return radius * cos(angle), radius * sin(angle)


@jit
def rand(seed, offset, n_rounds: constexpr = 10):
    """Uniform float32 in [0, 1) for a seed and a tile of offsets."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@jit
def rand4x(seed, offset, n_rounds: constexpr = 10):
    """Four tiles of uniform float32 in [0, 1)."""
    i1, i2, i3, i4 = randint4x(seed, offset, n_rounds)
    return uint_to_uniform_float(i1), uint_to_uniform_float(i2), uint_to_uniform_float(i3), uint_to_uniform_float(i4)


@jit
def randn(seed, offset, n_rounds: constexpr = 10):
    """Standard normal float32 for a seed and a tile of offsets."""
    i1, i2, i3, i4 = randint4x(seed, offset, n_rounds)
    n1, n2 = pair_uniform_to_normal(uint_to_uniform_float(i1), uint_to_uniform_float(i2))
    return n1


@jit
def randn4x(seed, offset, n_rounds: constexpr = 10):
    """Four tiles of standard normal float32."""
    u1, u2, u3, u4 = rand4x(seed, offset, n_rounds)
    n1, n2 = pair_uniform_to_normal(u1, u2)
    n3, n4 = pair_uniform_to_normal(u3, u4)
    return n1, n2, n3, n4
