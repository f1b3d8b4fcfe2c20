# Checks that only debug builds run.
# SPDX-License-Identifier: MIT
# module: triton.language


@jit
def expect_zero(x, mask):
    """x, which must be zero where the mask is true; debug builds assert it."""
    device_assert(x == 0, "expect_zero: a value is not zero", mask)
    return x
