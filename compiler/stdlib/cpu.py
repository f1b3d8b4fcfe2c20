# Element orders of CPU dot instructions (VNNI).
# SPDX-License-Identifier: MIT
# module: triton.language.extra.cpu


@jit
def vnni_decode(x):
    """The matrix whose rows are interleaved in the rows of x: two per row for 16-bit elements, four for 8-bit ones."""
    static_assert(len(x.shape) == 2, f"vnni_decode takes tiles of 2 dimensions, not {len(x.shape)}")
    bits: constexpr = x.dtype.primitive_bitwidth
    static_assert(bits == 8 or bits == 16, f"vnni_decode takes elements of 8 or 16 bits, not {bits}")
    count: constexpr = 32 // bits
    rows: constexpr = x.shape[0]
    columns: constexpr = x.shape[1] // count
    static_assert(columns * count == x.shape[1], f"a row of {x.shape[1]} elements does not hold {count} rows")
    return reshape(permute(reshape(x, rows, columns, count), 0, 2, 1), rows * count, columns)
