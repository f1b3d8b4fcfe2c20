"""Python's own functions, classes and arrays in kernels: messages say what was found and what serves instead."""
# SPDX-License-Identifier: MIT

import enum
import functools
import logging
import math
import operator
import types

import numpy as np
import pytest
import triton
import triton.language as tl


class Color(enum.Enum):
    RED = 1


class Scale:
    def __call__(self, x):
        return x * 2

    def times(self, x):
        return x * 3

    @staticmethod
    def fixed(x):
        return x * 4


def strict(x):
    raise TypeError("x must be a number")


SCALE, METHOD, PARTIAL = Scale(), Scale().times, functools.partial(pow, 2)
LAMBDA = lambda x: x + 1  # noqa: E731
ARRAY, LOGGER = np.zeros(3, np.float32), logging.getLogger("kernel")
library = types.ModuleType("library")
library.strict = strict


def exp(x_ptr):
    tl.store(x_ptr, math.exp(tl.load(x_ptr)))


def gamma(x_ptr):
    tl.store(x_ptr, math.gamma(tl.load(x_ptr)))


def add(x_ptr):
    tl.store(x_ptr, operator.add(tl.load(x_ptr), 1))


def convert(x_ptr):
    tl.store(x_ptr, np.float16(tl.load(x_ptr)))


def in_python(x_ptr):
    tl.store(x_ptr, library.strict(tl.load(x_ptr)))


def call_lambda(x_ptr):
    tl.store(x_ptr, LAMBDA(tl.load(x_ptr)))


def call_object(x_ptr):
    tl.store(x_ptr, SCALE(tl.load(x_ptr)))


def call_method(x_ptr):
    tl.store(x_ptr, METHOD(tl.load(x_ptr)))


def call_partial(x_ptr):
    tl.store(x_ptr, PARTIAL(tl.load(x_ptr)))


def construct(x_ptr):
    tl.store(x_ptr, Scale()(tl.load(x_ptr)))


def call_static(x_ptr):
    tl.store(x_ptr, Scale.fixed(tl.load(x_ptr)))


def read_array(x_ptr):
    tl.store(x_ptr, ARRAY[0])


def log(x_ptr):
    LOGGER.info("here")


def dtype_of_numpy(x_ptr):
    tl.store(x_ptr, tl.zeros((4,), np.float32))


def to_double(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr).to(np.double))


def array_of_numpy(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr) + np.array([1, 2]))


def empty_of_numpy(x_ptr):
    tl.store(x_ptr, np.zeros((2, 3)))


def read_member(x_ptr):
    tl.store(x_ptr, Color.RED)


def power(x_ptr):
    tl.store(x_ptr, math.pow(tl.load(x_ptr), 2))


def tanh(x_ptr):
    tl.store(x_ptr, tl.tanh(tl.load(x_ptr)))


def mean(x_ptr):
    tl.store(x_ptr, tl.mean(tl.arange(0, 4)))


def greatest(x_ptr):
    tl.store(x_ptr, tl.max(tl.load(x_ptr), 0))


CANNOT_CALL = "which kernels cannot call. Write a function with @triton.jit"
MESSAGES = {
    exp: "`math.exp` computes on values of Python; .*; use `tl.exp`",
    gamma: "`math.gamma` computes on values of Python; .* only while the kernel runs",
    add: "`_operator.add` computes on values of Python; .*",
    convert: r"`numpy.float16` computes on values of Python; .*; use `.to\(tl.float16\)`",
    in_python: "x must be a number; `test_python_objects.strict` computes on values of Python",
    call_lambda: "Decorate `LAMBDA` with @triton.jit",
    call_object: f"plain `Scale`, {CANNOT_CALL}",
    call_method: f"plain `method`, {CANNOT_CALL}",
    call_partial: f"plain `functools.partial`, {CANNOT_CALL}",
    construct: "plain `type`, which kernels cannot use. Decorate `Scale` with @triton.aggregate",
    call_static: "plain `type`, .* its functions with @triton.jit to call them",
    read_array: "plain `numpy.ndarray`, .* Pass `ARRAY` as one, and load from the pointer",
    read_member: r"Write `NAME = tl.constexpr\(Color.MEMBER.value\)`",
    power: "`math.pow` computes on .*; use `libdevice.pow` of triton.language.extra",
    tanh: "has no attribute 'tanh'; use `libdevice.tanh` of triton.language.extra",
    mean: "has no attribute 'mean'; divide `tl.sum` by the count",
    greatest: "(?s)but got `fp32`; .*`tl.maximum` takes the maximum of two values",
    log: "plain `Logger`, whose changes would go unnoticed",
    dtype_of_numpy: "it is the object `numpy.float32`; use `tl.float32`",
    array_of_numpy: r"for \+: `fp32` and `numpy.ndarray of shape \(2,\)`",
    empty_of_numpy: r"cannot convert numpy.ndarray of shape \(2, 3\) .*; pass an array as an argument",
    to_double: "it is the object `numpy.float64`; use `tl.float64`",
}


@pytest.mark.parametrize("body", MESSAGES)
def test_messages_say_what_serves_instead(body):
    with pytest.raises(triton.CompilationError, match=MESSAGES[body]) as caught:
        triton.jit(body)[(1,)](np.zeros(4, np.float32))
    first = caught.value.diagnostics[0]
    assert first.file == __file__ and first.line == body.__code__.co_firstlineno + 1
    assert first.column > 4 and first.end_column > first.column
