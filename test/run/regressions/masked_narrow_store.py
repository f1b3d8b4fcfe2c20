"""A masked store of a few narrow elements, also with a compile-time mask, does not write adjacent elements."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import launch


@triton.jit
def narrow(out, values, n, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    value = tl.load(values + i, mask=i < n, other=1)
    tl.store(out + i, value.to(out.dtype.element_ty), mask=i < n)


@pytest.mark.parametrize("size", [2, 4, 8, 16])
@pytest.mark.parametrize("wide", [np.int16, np.int32, np.int64])
@pytest.mark.parametrize("small", [np.int8, np.int16])
def test_neighbours_are_untouched(size, wide, small, device):
    for n in range(size + 1):
        out = np.full(64, 7, small)
        values = np.arange(1, 65).astype(wide)
        expected = np.full(64, 7, small)
        expected[16 : 16 + n] = values[:n]
        if launch(narrow, (1,), out[16:], values, n, SIZE=size, device=device):
            np.testing.assert_array_equal(out, expected)
