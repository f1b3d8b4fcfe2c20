"""Interpreter mode warns of what compilation refuses, with the same message and code."""
# SPDX-License-Identifier: MIT

import math
import sys
import types
import warnings

import numpy as np
import pytest
import triton
import triton.language as tl
from triton._interpreter.refusals import RefusedWhenCompiled


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")


SIZES = [1, 2, 4]


def plain(x):
    return x + 1


def loops_change_types(x_ptr, n):
    total = 0
    for i in range(n):
        total += tl.load(x_ptr + i)
    tl.store(x_ptr, total)


def halves(x_ptr, n):
    for i in range(n / 2):
        tl.store(x_ptr, i)


def functions_of_python(x_ptr, n):
    tl.store(x_ptr, math.exp(tl.load(x_ptr)))


def undecorated(x_ptr, n):
    tl.store(x_ptr, plain(tl.load(x_ptr)))


def globals_that_change(x_ptr, n):
    tl.store(x_ptr, SIZES[1])


def names_of_branches(x_ptr, n):
    if n > 1:
        y = 1.0
    tl.store(x_ptr, y)


def exceptions(x_ptr, n):
    try:
        tl.store(x_ptr, 1.0)
    finally:
        pass


def dictionaries(x_ptr, n):
    tl.store(x_ptr, {"a": 1.0}["a"])


def imports(x_ptr, n):
    import math

    tl.store(x_ptr, math.pi)


def results(x_ptr, n):
    return n


def shapes_of_the_run(x_ptr, n):
    tl.store(x_ptr, triton.next_power_of_2(n))


def conversions(x_ptr, n):
    tl.store(x_ptr, int(tl.load(x_ptr)))


CASES = {
    loops_change_types: "loop-changes-type",
    halves: "loop-bound-not-int",
    functions_of_python: "host-exception",
    undecorated: "host-exception",
    globals_that_change: "host-exception",
    names_of_branches: "undefined-name",
    exceptions: "unsupported-statement",
    dictionaries: "unsupported-expression",
    imports: "unsupported-statement",
    results: "kernel-returns-value",
    shapes_of_the_run: "not-constant",
    conversions: "cannot-convert",
}


@pytest.mark.parametrize("body", CASES)
def test_what_compilation_refuses_is_a_warning_at_its_line(body):
    x = np.ones(8, np.float32)
    with pytest.warns(RefusedWhenCompiled, match=rf"\[{CASES[body]}\]$") as caught:
        triton.jit(body)[(1,)](x, 4)
    first = body.__code__.co_firstlineno
    assert all(
        each.filename == __file__ and 0 < each.lineno - first < 6
        for each in caught
        if each.category is RefusedWhenCompiled
    )


def test_an_error_has_the_code_of_its_line():
    @triton.jit
    def kernel(x_ptr):
        tl.store(x_ptr + tl.arange(0, 8), tl.arange(0, 16))

    with warnings.catch_warnings(), pytest.raises(triton.InterpreterError, match=r"\[[a-z-]+\]$"):
        warnings.simplefilter("error")
        kernel[(1,)](np.ones(8, np.float32))


def test_kernels_that_compile_and_debug_are_not_remarked_upon(monkeypatch):
    @triton.jit
    def inner(x):
        return x * 2

    @triton.jit
    def kernel(x_ptr, SIZE: tl.constexpr, FLAG: tl.constexpr = False):
        at = tl.arange(0, SIZE)
        breakpoint()
        tl.store(x_ptr + at, inner(tl.load(x_ptr + at)) if not FLAG else 0.0)

    stops = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: stops.append(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel[(2,)](np.ones(8, np.float32), SIZE=8)
    assert stops == [1, 1]


tools = types.ModuleType("tools")
calls = []
tools.note = lambda value: calls.append(value)


def test_functions_of_modules_run_only_in_the_program(capsys):
    @triton.jit
    def inner(x):
        tools.note(1)
        return x

    @triton.jit
    def noting(x_ptr):
        tl.store(x_ptr, inner(tl.load(x_ptr)))

    @triton.jit
    def printing(x_ptr):
        tl.static_print("once")

    calls.clear()
    noting[(1,)](np.ones(8, np.float32))
    printing[(1,)](np.ones(8, np.float32))
    assert len(calls) == 1 and capsys.readouterr().out.count("once") == 1
