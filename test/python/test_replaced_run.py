"""A `run` that a subclass defines, or that replaces JITFunction's, sees every launch: tracers and profilers use that."""
# SPDX-License-Identifier: MIT

import functools
import types

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.runtime.jit import JITFunction, KernelInterface


@pytest.fixture(autouse=True)
def on_the_cpu(cpu_is_active):
    pass


def store(out_ptr, N: tl.constexpr):
    tl.store(out_ptr, N)


def launch(kernel, times=3):
    out = np.zeros(1, np.int32)
    for number in range(times):
        kernel[(1,)](out, N=5)
        assert out[0] == 5, number
        out[0] = 0


def counting(run, seen):
    @functools.wraps(run)
    def wrapper(*args, **kwargs):
        seen.append(kwargs["grid"])
        return run(*args, **kwargs)

    return wrapper


def test_of_a_subclass():
    class Traced(JITFunction):
        seen = []

        def run(self, *args, grid, warmup, **kwargs):
            self.seen.append(grid)
            return super().run(*args, grid=grid, warmup=warmup, **kwargs)

    launch(Traced(store))
    assert Traced.seen == [(1,)] * 3


def test_of_a_subclass_of_a_subclass():
    class Traced(JITFunction):
        seen = []
        run = counting(JITFunction.run, seen)

    class Named(Traced):
        pass

    launch(Named(store))
    assert Traced.seen == [(1,)] * 3


def test_in_place_of_the_class_function(monkeypatch):
    kernel, seen = triton.jit(store), []
    launch(kernel)
    with monkeypatch.context() as patch:
        patch.setattr(JITFunction, "run", counting(JITFunction.run, seen))
        launch(kernel)
        launch(triton.jit(store))
        assert len(seen) == 6
        launcher = kernel[(1,)]
    launch(kernel)
    launcher(np.zeros(1, np.int32), N=5)
    assert len(seen) == 6


def test_of_one_kernel():
    kernel, other, seen = triton.jit(store), triton.jit(store), []
    launch(kernel)
    kernel.run = counting(kernel.run, seen)
    launch(kernel)
    launch(other)
    assert len(seen) == 3


def test_of_one_kernel_as_a_method():
    kernel, seen = triton.jit(store), []

    def run(self, *args, **kwargs):
        seen.append(self)
        return JITFunction.run(self, *args, **kwargs)

    kernel.run = types.MethodType(run, kernel)
    launch(kernel)
    assert seen == [kernel] * 3


def test_that_changes_arguments(monkeypatch):
    run = JITFunction.run
    monkeypatch.setattr(
        JITFunction, "run", lambda self, *args, **kwargs: run(self, *args, **{**kwargs, "N": 7})
    )
    out, kernel = np.zeros(1, np.int32), triton.jit(store)
    for given in (1, 1, 2):
        kernel[(1,)](out, N=given)
        assert out[0] == 7


def test_of_an_interface_around_a_kernel():
    class Wrapper(KernelInterface):
        def __init__(self, fn):
            self.fn, self.seen = fn, []

        def run(self, *args, grid, warmup, **kwargs):
            self.seen.append(grid)
            return self.fn.run(*args, grid=grid, warmup=warmup, **kwargs)

    wrapper = Wrapper(triton.jit(store))
    launch(wrapper)
    assert len(wrapper.seen) == 3
    wrapper.warmup(np.zeros(1, np.int32), N=5, grid=(1,))


def test_under_an_autotuner(monkeypatch):
    seen = []
    monkeypatch.setattr(JITFunction, "run", counting(JITFunction.run, seen))
    tuned = triton.autotune([triton.Config({"N": 5})], key=[])(triton.jit(store))
    out = np.zeros(1, np.int32)
    for _ in range(3):
        tuned[(1,)](out)
    assert out[0] == 5 and len(seen) == 3
