"""What a launch says of arguments that kernels do not take, and of a call without a grid."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def store(out_ptr, value, N: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, N), value)


OUT = np.zeros(4, np.float32)
CASES = {
    "a list": (
        [1, 2],
        {"N": 4},
        r"type: list \(argument `value` of store\); pass a tuple, or an array",
    ),
    "a text": (
        "abc",
        {"N": 4},
        r"type: str \(argument `value` of store\); annotate the parameter as `tl.constexpr`",
    ),
    "a dictionary": ({}, {"N": 4}, r"type: dict .*annotate the parameter"),
    "a complex number": (1j, {"N": 4}, r"type: complex .*; pass its real and imaginary parts"),
    "an array as constexpr": (
        1,
        {"N": np.zeros(3)},
        r"`N` of store is a constexpr, got a numpy.ndarray of shape \(3,\); .* pass a number",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_arguments(case):
    value, constants, message = CASES[case]
    with pytest.raises(TypeError, match=message):
        store[(1,)](OUT, value, **constants)


def test_a_call_without_a_grid():
    with pytest.raises(
        RuntimeError,
        match=r"outside of the scope of a kernel; a launch has a grid: `store\[grid\]\(...\)`",
    ):
        store(OUT, 1, N=4)


def test_numbers_of_numpy_are_constants():
    for size in (np.int64(4), np.array(4)[()]):
        store[(1,)](OUT, 3, N=size)
        assert (OUT == 3).all()
