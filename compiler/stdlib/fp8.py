# Conversions of fp8e4b15: a sign, 4 bits of exponent with bias 15, 3 bits of fraction, up to 1.75.
# SPDX-License-Identifier: MIT
# module: triton.language


@jit
def _from_fp8e4b15(x, toward_zero: constexpr = False):
    """fp16, which begins with the same bits; the code after the largest number stands for it too."""
    code = x.to(uint8, bitcast=True).to(uint16)
    magnitude = minimum(code & 0x7F, 0x7E) << 7
    return (magnitude | (code & 0x80) << 8).to(float16, bitcast=True)


@jit
def _to_fp8e4b15(x, toward_zero: constexpr = False):
    """From fp32 or fp64, to nearest even or toward zero; 1.75 stands for what is beyond, and for NaN."""
    integer: constexpr = int32 if x.dtype.is_fp32() else int64
    width: constexpr = x.dtype.primitive_bitwidth
    dropped: constexpr = x.dtype.fp_mantissa_width - 3
    magnitude = where(abs(x) < 1.75, abs(x), 1.75)  # a minimum of a signalling NaN may be NaN
    bits = magnitude.to(integer, bitcast=True)
    small = magnitude * 131072.0  # in units of the smallest number
    if toward_zero:
        small_code = small.to(integer)
    else:
        bits += (1 << (dropped - 1)) - 1 + (bits >> dropped & 1)
        small_code = (small + 2.0 ** (dropped + 3)).to(integer, bitcast=True) & 0xFF
    code = (bits >> dropped) - ((x.dtype.exponent_bias - 15) << 3)
    code = where(small < 8.0, small_code, code)
    # The sign of a NaN may be lost in an earlier conversion.
    sign = where(x == x, x.to(integer, bitcast=True) >> (width - 8) & 0x80, 0)
    return (code | sign).to(uint8).to(float8e4b15, bitcast=True)
