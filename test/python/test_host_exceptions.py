"""Exceptions of Python code while a kernel is compiled: errors at the kernel's line, caused by them."""
# SPDX-License-Identifier: MIT

import types

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.runtime.jit import JITFunction


class Unready(Exception):
    pass


pytestmark = pytest.mark.usefixtures("own_cache")


def add_one(x):
    return x + 1


class UnreadyFunction(JITFunction):
    @property
    def _must_use_result(self):
        raise Unready


class UnreadyDefaults(JITFunction):
    """Its parameters are readable by launches, and raise once armed, when the compiler reads them."""

    armed = False

    @property
    def params(self):
        if self.armed:
            raise Unready
        return self.kept

    @params.setter
    def params(self, value):
        self.kept = value


class UnreadyObject:
    def __getattr__(self, name):
        raise Unready


class UnreadyMeta(type):
    def __instancecheck__(cls, instance):
        raise Unready


class UnreadyClass(metaclass=UnreadyMeta):
    pass


unready_module = types.ModuleType("unready_module")
unready_module.__getattr__ = UnreadyObject().__getattr__
unready_function = UnreadyFunction(add_one)
unready_defaults = UnreadyDefaults(add_one)


@triton.constexpr_function
def made(which):
    unready_defaults.armed = which == "defaults"
    return {
        "function": unready_function,
        "defaults": unready_defaults,
        "object": UnreadyObject(),
        "module": unready_module,
        "class": UnreadyClass,
    }[which]


def cause_of(kernel):
    with pytest.raises(triton.CompilationError) as error:
        kernel[(1,)](np.zeros(1, np.float32))
    unready_defaults.armed = False
    assert "[host-exception]" in str(error.value) and error.value.diagnostics[0].line > 0
    return error.value.__cause__


@triton.jit
def call_global(x_ptr):
    tl.store(x_ptr, unready_function(tl.load(x_ptr)))


@triton.jit
def call_made(x_ptr):
    tl.store(x_ptr, made("function")(tl.load(x_ptr)))


@triton.jit
def read_defaults(x_ptr):
    tl.store(x_ptr, made("defaults")(tl.load(x_ptr)))


@triton.jit
def drop_result(x_ptr):
    function = made("object")
    function(x_ptr)


@triton.jit
def drop_module(x_ptr):
    module = made("module")
    module(x_ptr)


@triton.jit
def ask_whether(x_ptr):
    if hasattr(made("object"), "size"):
        tl.store(x_ptr, 1)


@triton.jit
def ask_or(x_ptr):
    tl.store(x_ptr, getattr(made("object"), "size", 1))


@triton.jit
def ask_class(x_ptr):
    if isinstance(1, made("class")):
        tl.store(x_ptr, 1)


@pytest.mark.parametrize(
    "kernel",
    [
        call_global,
        call_made,
        read_defaults,
        drop_result,
        drop_module,
        ask_whether,
        ask_or,
        ask_class,
    ],
    ids=lambda kernel: kernel.__name__,
)
def test_exception_is_the_cause(kernel):
    assert isinstance(cause_of(kernel), Unready)


def test_function_can_be_asked_again():
    """A failed read leaves no partial data behind."""
    assert isinstance(cause_of(read_defaults), Unready)

    @triton.jit
    def kernel(x_ptr):
        tl.store(x_ptr, unready_defaults(tl.load(x_ptr)))

    x = np.zeros(1, np.float32)
    kernel[(1,)](x)
    assert x[0] == 1


def test_missing_attribute_is_no_error():
    @triton.constexpr_function
    def plain():
        return types.SimpleNamespace(size=3)

    @triton.jit
    def kernel(x_ptr):
        tl.store(x_ptr, getattr(plain(), "size", 1) + getattr(plain(), "depth", 10))
        tl.static_assert(hasattr(plain(), "size") and not hasattr(plain(), "depth"))

    x = np.zeros(1, np.float32)
    kernel[(1,)](x)
    assert x[0] == 13
