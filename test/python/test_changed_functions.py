"""Functions that a kernel reaches and that change in the process: reloaded, bound anew, of another closure."""
# SPDX-License-Identifier: MIT

import collections
import dataclasses
import importlib
import linecache
import sys

import numpy as np
import pytest
import triton
import triton.language as tl

RELOADED = """
import enum, types
import triton
import triton.language as tl
CONST = tl.constexpr(7)
PLAIN = 7
@triton.jit
def scale(x): return x * 7
@triton.constexpr_function
def folded(n): return n * 7
class Group:
    SIZE = tl.constexpr(7)
    @staticmethod
    @triton.jit
    def method(x): return x * 7
class Kind(enum.Enum):
    A = 7
table = (scale, 1)
space = types.SimpleNamespace(f=scale)
def __getattr__(name): return scale if name == "lazy" else 1 / 0
"""
RELOADING = """
import triton
import triton.language as tl
import reloaded_library as lib
@triton.jit
def reached(x):
    return {expression}
@triton.jit
def applied(F: tl.constexpr, x):
    return F(x)
@triton.jit
def kernel(o, F: tl.constexpr):
    tl.store(o, applied(F, tl.load(o + 1)))
"""


@pytest.mark.parametrize("as_argument", [False, True])
@pytest.mark.parametrize(
    "expression",
    [
        "lib.scale(x)",
        "lib.folded(1)",
        "lib.CONST",
        "lib.PLAIN",
        "lib.Group.SIZE",
        "lib.Group.method(x)",
        "lib.Kind.A.value",
        "lib.table[0](x)",
        "lib.space.f(x)",
        "lib.lazy(x)",
    ],
)
def test_a_launch_after_a_reload_is_of_the_new_text(expression, as_argument, tmp_path, monkeypatch):
    library = tmp_path / "reloaded_library.py"
    library.write_text(RELOADED)
    text = RELOADING.format(expression=expression)
    if not as_argument:
        text = text.replace("applied(F, tl", "reached(tl")
    (tmp_path / "reloading.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    try:
        user = importlib.import_module("reloading")
        seen = []
        for digit in ("7", "5", "5", "7"):
            library.write_text(RELOADED.replace("7", digit))
            importlib.reload(sys.modules["reloaded_library"])
            out = np.array([0, 1], np.int32)
            user.kernel[(1,)](out, user.reached)
            user.kernel[(1,)](out, user.reached)
            seen.append(out[0])
        assert seen == [7, 5, 5, 7]
    finally:
        for name in ("reloaded_library", "reloading"):
            sys.modules.pop(name, None)


def test_a_helper_bound_anew_is_used():
    scope = {"triton": triton, "tl": tl}

    def define(text, name):
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        exec(compile(text, name, "exec"), scope)  # without `__name__`, as templates do

    define("@triton.jit\ndef helper(x): return x + 1\n", "<helper 1>")
    define("@triton.jit\ndef kernel(o): tl.store(o, helper(1))\n", "<kernel>")
    out = np.zeros(1, np.int32)
    scope["kernel"][(1,)](out)
    assert out[0] == 2
    define("@triton.jit\ndef helper(x): return x + 8\n", "<helper 2>")
    scope["kernel"][(1,)](out)
    assert out[0] == 9


def make_scaled(factor):
    factor = tl.constexpr(factor)

    @triton.jit
    def scaled(x):
        return x * factor

    return scaled


@triton.jit
def of_item(o, F: tl.constexpr):
    tl.store(o, F[0](10))


@triton.jit
def of_field(o, F: tl.constexpr):
    tl.store(o, F.f(10))


Named = collections.namedtuple("Named", "f g")


@dataclasses.dataclass(frozen=True)
class Fields:
    f: object
    g: int


@pytest.mark.parametrize(
    "kernel, group",
    [
        (of_item, lambda f: (f,)),
        (of_item, lambda f: [f, 1]),
        (of_item, lambda f: tl.constexpr((f, 2))),
        (of_field, lambda f: Named(f, 1)),
        (of_field, lambda f: Fields(f, 1)),
        (of_field, lambda f: tl.constexpr(Named(f, 2))),
    ],
)
def test_functions_in_constants_that_differ_in_a_closure(kernel, group):
    out, seen = np.zeros(1, np.int32), []
    for factor in (1, 2, 1, 3):
        kernel[(1,)](out, group(make_scaled(factor)))
        seen.append(out[0])
    assert seen == [10, 20, 10, 30]
