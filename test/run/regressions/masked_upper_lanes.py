"""Lanes that a mask turns off for a whole register are not loaded: AVX2 code, also where the machine has AVX-512."""
# SPDX-License-Identifier: MIT

import platform

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import launch, values


@triton.jit
def masked_rows(x, y, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr, WIDTH: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None]
    j = tl.arange(0, WIDTH)[None, :]
    tile = tl.load(x + i * WIDTH + j, (i < n) & (j < COLUMNS), 7)
    tl.store(y + i * WIDTH + j, tile, (i < n + 1) & (j < WIDTH - 1))


@pytest.mark.parametrize("columns", [1, 5, 8, 11])
@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.parametrize("dtype", ["float32", "int64", "int16"])
def test_registers_that_are_masked_off(dtype, width, columns, device):
    is_x86 = device == "cpu" and platform.machine() == "x86_64"
    options = {"arch": "x86-64-v3"} if is_x86 else {}
    x = values(dtype, 8, width)
    for n in (0, 3, 8):
        y = np.zeros((8, width), dtype)
        expected = np.full((8, width), 7, dtype)
        expected[:n, :columns] = x[:n, :columns]
        expected[n + 1 :] = 0
        expected[:, width - 1] = 0
        constants = dict(ROWS=8, COLUMNS=columns, WIDTH=width)
        if launch(masked_rows, (1,), x, y, n, **constants, **options, device=device):
            np.testing.assert_array_equal(y, expected)
