"""Values that kernels read from Python: constants of every kind, functions that run while compiling."""
# SPDX-License-Identifier: MIT

import collections
import enum

import numpy as np
import pytest
import triton
import triton.language as tl

Pair = collections.namedtuple("Pair", "first second", defaults=(4,))
HUGE = tl.constexpr(2**200 + 5)
TABLE = tl.constexpr((1, (2, "three"), 4.5, None))
WORDS = tl.constexpr({"left": 10, "right": 20})
PAIR = tl.constexpr(Pair(1, 2))


class Mode(enum.Enum):
    FAST = 1
    EXACT = 2


pytestmark = pytest.mark.usefixtures("own_cache")


def result_of(kernel, *args):
    out = np.zeros(4, np.float64)
    kernel[(1,)](out, *args)
    return out.tolist()


@triton.constexpr_function
def double(value):
    return value * 2


@triton.constexpr_function
def failing(value):
    raise LookupError(f"no entry for {value}")


@triton.constexpr_function
def interrupted():
    raise KeyboardInterrupt


def test_large_integers_stay_exact():
    @triton.jit
    def kernel(out_ptr):
        tl.store(out_ptr, HUGE % 1000)
        tl.store(out_ptr + 1, (double(HUGE) - HUGE - HUGE) + 1)
        tl.store(out_ptr + 2, -HUGE // 2**190)

    assert result_of(kernel)[:3] == [(2**200 + 5) % 1000, 1, -(2**200 + 5) // 2**190]


def test_tuples_and_other_objects():
    @triton.jit
    def kernel(out_ptr):
        tl.store(out_ptr, TABLE[1][0] + TABLE[2])
        tl.store(out_ptr + 1, WORDS["left"] + len(TABLE[1][1]))
        tl.store(out_ptr + 2, PAIR.first + 10 * PAIR.second)
        if TABLE[3] is None:
            tl.store(out_ptr + 3, 7)

    assert result_of(kernel) == [6.5, 15, 21, 7]


def test_namedtuples_hold_tensors():
    @triton.jit
    def kernel(out_ptr, n):
        pair = Pair(n, second=n * 2)
        short = Pair(n)
        tl.store(out_ptr, pair.first + pair.second)
        tl.store(out_ptr + 1, short.second)

    assert result_of(kernel, 5)[:2] == [15, 4]


def test_enumerations_as_arguments():
    @triton.jit
    def kernel(out_ptr, mode: tl.constexpr, exact: tl.constexpr):
        tl.store(out_ptr, 1 if mode == exact else 2)
        tl.store(out_ptr + 1, mode.value.value)  # the member, then its number

    assert result_of(kernel, Mode.EXACT, Mode.EXACT)[:2] == [1, 2]
    assert result_of(kernel, Mode.FAST, Mode.EXACT)[:2] == [2, 1]


def test_names_of_the_language_through_python_modules():
    from triton.language import core
    from triton.language import sum as total

    @triton.jit
    def kernel(out_ptr, n):
        tl.store(out_ptr, total(tl.full((4,), n, tl.int32), 0))
        tl.store(out_ptr + 1, core.TRITON_MAX_TENSOR_NUMEL)
        tl.store(out_ptr + 2, triton.cdiv(n, 4) + triton.next_power_of_2(33))
        tl.store(out_ptr + 3, core._unwrap_if_constexpr(8))

    assert result_of(kernel, 9) == [36, 1048576, 3 + 64, 8]


def test_printing_while_compiling(capsys):
    @triton.jit
    def kernel(out_ptr, mode: tl.constexpr):
        tl.static_print(f"mode {mode!r}", double(21))

    result_of(kernel, "fast")
    assert capsys.readouterr().out == "mode 'fast' 42\n"


def test_an_error_of_a_host_function_is_the_cause():
    @triton.jit
    def kernel(out_ptr):
        tl.store(out_ptr, failing(HUGE))

    with pytest.raises(triton.CompilationError, match="no entry for") as caught:
        result_of(kernel)
    assert type(caught.value.__cause__) is LookupError
    assert caught.value.__cause__.__traceback__ is not None
    assert caught.value.diagnostics[0].code == "host-exception"


def test_an_interrupt_is_no_compilation_error():
    @triton.jit
    def kernel(out_ptr):
        tl.store(out_ptr, interrupted())

    with pytest.raises(KeyboardInterrupt):
        result_of(kernel)


def test_host_functions_cannot_compute_with_tensors():
    @triton.jit
    def kernel(out_ptr, n):
        tl.store(out_ptr, double(n))

    with pytest.raises(triton.CompilationError, match="Did you forget to add @triton.jit"):
        result_of(kernel, 5)


@triton.aggregate
class Scaled:
    first: tl.tensor
    second: tl.constexpr

    @staticmethod
    def of(first):
        return Scaled(first, tl.constexpr(2))


def test_host_functions_can_hand_tensors_on():
    @triton.jit
    def kernel(out_ptr, n):
        pair = Scaled.of(n + 1)
        tl.store(out_ptr, pair.first + pair.second)

    assert result_of(kernel, 5)[0] == 8


def test_a_missing_name_of_the_language():
    @triton.jit
    def kernel(out_ptr):
        tl.store(out_ptr, tl.no_such_function(1))

    with pytest.raises(triton.CompilationError, match="no attribute 'no_such_function'") as caught:
        result_of(kernel)
    assert type(caught.value.__cause__) is AttributeError


def test_compiling_a_kernel_while_compiling_another():
    @triton.jit
    def inner(out_ptr):
        tl.store(out_ptr, 5)

    @triton.constexpr_function
    def launch_inner():
        return result_of(inner)[0]

    @triton.jit
    def kernel(out_ptr):
        tl.store(out_ptr, launch_inner() + 1)

    assert result_of(kernel)[0] == 6


class Same:
    """Objects whose repr does not show their content."""

    def __init__(self, number):
        self.number = number

    def __repr__(self):
        return "Same()"


FIRST, SECOND = tl.constexpr(Same(3)), tl.constexpr(Same(40))


@triton.jit
def number_of(x: tl.constexpr):
    return x.number


def test_constants_of_one_text_are_two():
    @triton.jit
    def kernel(out_ptr):
        tl.store(out_ptr, number_of(FIRST))
        tl.store(out_ptr + 1, number_of(SECOND))

    assert result_of(kernel)[:2] == [3, 40]


def adder(number: int):
    constant = tl.constexpr(number)

    @triton.jit
    def add(x):
        return x + constant

    return add


@triton.jit
def apply(function: tl.constexpr, x):
    return function(x)


ADD_ONE, ADD_TEN = adder(1), adder(10)


def test_closures_of_one_factory_are_two_arguments():
    @triton.jit
    def kernel(out_ptr):
        tl.store(out_ptr, apply(ADD_ONE, 1))
        tl.store(out_ptr + 1, apply(ADD_TEN, 1))

    assert result_of(kernel)[:2] == [2, 11]


@triton.jit
def store_number(out_ptr, x: tl.constexpr):
    tl.store(out_ptr, x.number)


def test_the_disk_cache_tells_constants_of_one_text_apart():
    for number in (1, 2, 3):
        store_number.device_caches.clear()
        assert result_of(store_number, Same(number))[0] == number
