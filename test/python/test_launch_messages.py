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
    "a dtype of torch or NumPy": (np.float32, {"N": 4}, r"type: type .*annotate the parameter"),
    "a function": (len, {"N": 4}, r"argument `value` of store\); annotate the parameter"),
    "a range": (range(3), {"N": 4}, r"type: range .*annotate the parameter"),
    "an object": (object(), {"N": 4}, r"type: object .*annotate the parameter"),
    "an array of objects": (np.array([None]), {"N": 4}, r"dtype\('O'\).* \(argument `value`\)"),
    "an array of complex numbers": (
        np.zeros(3, complex),
        {"N": 4},
        r"kernels have no type for \(argument `value`\)",
    ),
    "an array as constexpr": (
        1,
        {"N": np.zeros(3)},
        r"`N` of store is a constexpr, got a numpy.ndarray of shape \(3,\); .* pass a number",
    ),
}


ARRAY = r"; an array has a method `data_ptr\(\)`.* and a `dtype` of tl, torch or NumPy \(argument `value`\)"
INCOMPLETE = [
    ({"data_ptr": lambda self: 16}, "it has `data_ptr`, and no `dtype`"),
    ({"dtype": tl.float32, "data_ptr": 16}, "its `data_ptr` is 16, which cannot be called"),
    ({"dtype": tl.float32, "data_ptr": lambda self: "16"}, r"its `data_ptr\(\)` gives '16'"),
    ({"dtype": tl.float32, "data_ptr": lambda self: 1.5}, r"its `data_ptr\(\)` gives 1\.5"),
    ({"dtype": tl.float32, "data_ptr": lambda self: None}, r"its `data_ptr\(\)` gives None"),
]


def test_arrays_that_lack_a_part():
    for members, message in INCOMPLETE:
        with pytest.raises(
            TypeError, match=f"cannot pass this `Odd` to a kernel: {message}{ARRAY}"
        ):
            store[(1,)](OUT, type("Odd", (), members)(), N=4)


@pytest.mark.parametrize("case", CASES)
def test_arguments(case):
    value, constants, message = CASES[case]
    with pytest.raises(TypeError, match=message):
        store[(1,)](OUT, value, **constants)


@triton.jit
def gather(out_ptr, *values, SCALE: tl.constexpr, SHIFT=1):
    tl.store(out_ptr, values[0] * SCALE + SHIFT)
    tl.store(out_ptr + 1, len(values))


def test_keywords_after_all_positions():
    for values, keywords, expected in (
        ((5,), {"SCALE": 2}, [11, 1]),
        ((5, 6, 7), {"SCALE": 3, "SHIFT": 4}, [19, 3]),
        ((5, OUT), {"SHIFT": 0, "SCALE": 3}, [15, 2]),
    ):
        gather[(1,)](OUT, *values, **keywords)
        assert list(OUT[:2]) == expected
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'SCALE'"):
        gather[(1,)](OUT, 5, 2)
    with pytest.raises(KeyError, match="did you mean `SHIFT`"):
        gather[(1,)](OUT, 5, SCALE=2, SHFIT=2)


@triton.jit
def constant(out_ptr, C: tl.constexpr):
    tl.store(out_ptr, C)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": 1}, "cannot convert {'a': 1} of type `object` to tensor"),
        ((1, 2), r"cannot convert \(1, 2\) of type `tuple` to tensor"),
        (np.float32, "cannot convert numpy.float32 of type `object`"),
        (len, "cannot convert len of type `object`"),
        (1j, "cannot convert 1j of type `object`"),
        ("text", "cannot convert 'text' of type `str`"),
    ],
)
def test_constants_that_are_no_numbers_are_named_where_they_are_used(value, message):
    with pytest.raises(triton.CompilationError, match=message):
        constant[(1,)](OUT, value)


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
