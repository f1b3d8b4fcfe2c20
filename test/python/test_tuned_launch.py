"""Launches of autotuned kernels whose choice is known: what the native path must keep of `Autotuner.run`."""
# SPDX-License-Identifier: MIT

import copy
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest
import triton
import triton.language as tl
from triton import knobs

SMALL, LARGE = triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 32})


def first_is_best(call, quantiles):
    """A clock by which the first configuration is the fastest."""
    call()
    first_is_best.time += 1
    return [first_is_best.time] * len(quantiles)


first_is_best.time = 0


def make_tuner(configs=(SMALL, LARGE), key=("n",), **options):
    @triton.autotune(list(configs), key=list(key), do_bench=first_is_best, **options)
    @triton.jit
    def kernel(out, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(out + at, n + at * 0 + BLOCK, mask=at < 16)

    return kernel


def count_runs(tuner):
    """How often launches reach Python; the list grows by one for each."""
    seen = []
    original = tuner._config_for

    def counted(args, kwargs):
        seen.append(args)
        return original(args, kwargs)

    tuner._config_for = counted
    return seen


def zeros():
    return np.zeros(16, np.int32)


def launch(tuner, n=5):
    """The block size that the launch has taken."""
    out = zeros()
    tuner[(1,)](out, n)
    assert (out == out[0]).all()
    return int(out[0]) - n


# --- The choice -----------------------------------------------------------------------------------


def test_known_choice_is_found_natively():
    tuner = make_tuner()
    seen = count_runs(tuner)
    assert [launch(tuner) for _ in range(5)] == [16] * 5
    assert len(seen) == 1


def test_new_key_is_tuned():
    tuner = make_tuner()
    seen = count_runs(tuner)
    for n in (5, 6, 5, 6):
        launch(tuner, n)
    assert len(seen) == 2 and len(tuner.cache) == 2


def test_argument_outside_of_the_key_is_not_tuned():
    tuner = make_tuner(key=())
    for n in (5, 6, 7):
        assert launch(tuner, n) == 16
    assert len(tuner.cache) == 1


def test_dtype_is_part_of_the_key():
    tuner = make_tuner()
    for dtype in (np.int32, np.int64, np.int32, np.int64):
        tuner[(1,)](np.zeros(16, dtype), 5)
    assert {key[1] for key in tuner.cache} == {"int32", "int64"}


def test_one_configuration():
    tuner = make_tuner([LARGE])
    assert [launch(tuner) for _ in range(3)] == [32] * 3
    assert not tuner.cache


def test_a_program_replaces_a_choice():
    tuner = make_tuner()
    assert [launch(tuner), launch(tuner)] == [16, 16]
    (key,) = tuner.cache
    tuner.cache[key] = LARGE
    assert [launch(tuner), launch(tuner)] == [32, 32]
    tuner.cache[key] = SMALL
    assert [launch(tuner), launch(tuner)] == [16, 16]


def test_a_cleared_cache_is_tuned_again():
    tuner = make_tuner()
    seen = count_runs(tuner)
    launch(tuner)
    tuner.cache.clear()
    assert [launch(tuner), launch(tuner)] == [16, 16]
    assert len(seen) == 2 and len(tuner.cache) == 1


def test_another_dict_is_the_cache():
    tuner = make_tuner()
    launch(tuner)
    tuner.cache = {key: LARGE for key in tuner.cache}
    assert [launch(tuner), launch(tuner)] == [32, 32]


def test_configuration_changed_in_place():
    config = triton.Config({"BLOCK": 16})
    tuner = make_tuner([config])
    assert [launch(tuner), launch(tuner)] == [16, 16]
    config.kwargs["BLOCK"] = 32
    assert [launch(tuner), launch(tuner)] == [32, 32]


def test_option_of_a_configuration_changed_in_place():
    config = triton.Config({"BLOCK": 16}, num_stages=2)
    tuner = make_tuner([config])
    kernels = [tuner[(1,)](zeros(), 5) for _ in range(2)]
    config.num_stages = 3
    other = tuner[(1,)](zeros(), 5)
    assert kernels[0] is kernels[1] and other.metadata.num_stages == 3


def test_classes_of_keys():
    tuner = make_tuner(key_class={"n": lambda n: n > 100})
    seen = count_runs(tuner)
    assert [launch(tuner, n) for n in (5, 6, 5, 6, 500, 500)] == [16] * 6
    assert len(tuner.cache) == 2 and len(seen) == 3  # a value's class is asked for once


def test_conflicting_argument_is_an_error():
    tuner = make_tuner()
    launch(tuner)
    for _ in range(2):
        with pytest.raises(ValueError, match="Conflicting meta-parameters: BLOCK"):
            tuner[(1,)](zeros(), 5, BLOCK=32)


def test_missing_argument_is_an_error():
    tuner = make_tuner()
    launch(tuner)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'n'"):
        tuner[(1,)](zeros())


def test_options_of_the_call():
    tuner = make_tuner([triton.Config({"BLOCK": 16})], key=())
    for _ in range(2):
        with pytest.raises(ValueError, match="Conflicting meta-parameters: num_warps"):
            tuner[(1,)](zeros(), 5, num_warps=2)


# --- Hooks and state ------------------------------------------------------------------------------


def test_hook_of_a_configuration_is_called_each_time():
    seen = []
    config = triton.Config({"BLOCK": 16}, pre_hook=lambda nargs: seen.append(nargs["n"]))
    tuner = make_tuner([config])
    for n in (5, 5, 5):
        launch(tuner, n)
    assert seen == [5, 5, 5]


def test_hook_given_later_is_called():
    config = triton.Config({"BLOCK": 16})
    tuner = make_tuner([config])
    launch(tuner), launch(tuner)
    seen = []
    config.pre_hook = lambda nargs: seen.append(nargs["BLOCK"])
    launch(tuner)
    assert seen == [16]


def test_best_config_is_that_of_the_last_call():
    tuner = make_tuner()
    launch(tuner, 5), launch(tuner, 6)
    key = next(key for key in tuner.cache if key[0] == 6)
    tuner.cache[key] = LARGE
    found = []
    for n in (5, 6, 5, 6, 6, 5):
        launch(tuner, n)
        found.append(tuner.best_config)
    assert found == [SMALL, LARGE, SMALL, LARGE, LARGE, SMALL]


def test_best_config_set_by_a_program():
    tuner = make_tuner()
    launch(tuner), launch(tuner)
    tuner.best_config = LARGE
    assert tuner.best_config is LARGE
    launch(tuner)
    assert tuner.best_config is SMALL


def test_best_config_of_each_thread():
    tuner = make_tuner()
    launch(tuner, 5), launch(tuner, 6)
    tuner.cache[next(key for key in tuner.cache if key[0] == 6)] = LARGE
    launch(tuner, 6), launch(tuner, 6)
    found = []

    def other():
        found.append(tuner.best_config)  # it has made no call
        launch(tuner, 5), launch(tuner, 5)
        found.append(tuner.best_config)

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [LARGE, SMALL] and tuner.best_config is LARGE


def test_nargs_during_the_grid_function():
    tuner, out, seen = make_tuner(), zeros(), []

    def grid(meta):
        seen.append((dict(tuner.nargs), meta["BLOCK"]))
        return (1,)

    tuner[(1,)](out, 5)
    for _ in range(2):
        tuner[grid](out, 5)
    assert len(seen) == 2 and tuner.nargs is None
    for nargs, block in seen:
        assert nargs["out"] is out and nargs["n"] == 5 and block == 16


def test_grid_function_launches_the_kernel():
    tuner, inner, seen = make_tuner(), zeros(), []

    def grid(meta):
        if meta["n"] == 5:
            tuner[grid](inner, 7)
            seen.append(tuner.nargs["n"])
        return (1,)

    for _ in range(3):
        out = zeros()
        tuner[grid](out, 5)
        assert (out == 5 + 16).all() and (inner == 7 + 16).all()
    assert seen[-3:] == [5, 5, 5] and tuner.nargs is None


def test_error_of_the_grid_function():
    tuner = make_tuner()
    launch(tuner), launch(tuner)

    def grid(meta):
        raise LookupError("no grid")

    with pytest.raises(LookupError, match="no grid"):
        tuner[grid](zeros(), 5)
    assert tuner.nargs is None and launch(tuner) == 16


def test_hooks_of_the_kernel_are_called():
    tuner, seen = make_tuner(), []
    launch(tuner), launch(tuner)
    tuner.fn.add_pre_run_hook(lambda *args, **kwargs: seen.append(kwargs["BLOCK"]))
    launch(tuner), launch(tuner)
    assert seen == [16, 16]


def test_replaced_run_is_called():
    tuner, seen = make_tuner(), []
    launch(tuner), launch(tuner)
    original = tuner.run
    tuner.run = lambda *args, **kwargs: (seen.append(args), original(*args, **kwargs))[1]
    launch(tuner)
    assert len(seen) == 1


def test_replaced_run_of_the_class_is_called(monkeypatch):
    tuner, seen = make_tuner(), []
    launch(tuner), launch(tuner)
    original = triton.Autotuner.run

    def run(self, *args, **kwargs):
        seen.append(args)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(triton.Autotuner, "run", run)
    launch(tuner)
    assert len(seen) == 1


def test_other_kernel_below_the_tuner():
    tuner, other = make_tuner(), make_tuner()
    launch(tuner), launch(tuner)

    @triton.jit
    def kernel(out, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(out + at, n + at * 0 - 1, mask=at < 16)

    tuner.fn = kernel
    assert [launch(tuner), launch(tuner)] == [-1, -1]
    assert launch(other) == 16


def test_new_source_is_compiled():
    tuner = make_tuner()
    launch(tuner), launch(tuner)
    tuner.fn._unsafe_update_src(tuner.fn.src.replace("+ BLOCK", "+ BLOCK + 1"))
    assert [launch(tuner), launch(tuner)] == [17, 17]


def test_changed_settings_are_seen():
    tuner = make_tuner()
    plain = [tuner[(1,)](zeros(), 5) for _ in range(2)][1]
    with knobs.runtime.scope():
        knobs.runtime.debug = True
        assert tuner[(1,)](zeros(), 5) is not plain
    assert tuner[(1,)](zeros(), 5) is plain


def test_copy_knows_nothing():
    tuner = make_tuner()
    launch(tuner), launch(tuner)
    twin = copy.copy(tuner)
    twin.cache = {key: LARGE for key in tuner.cache}
    assert [launch(twin), launch(tuner)] == [32, 16]


def test_calls_are_pickled_as_empty():
    calls = make_tuner()._calls
    assert type(pickle.loads(pickle.dumps(calls))) is type(calls)


def test_tuner_is_freed():
    tuner = make_tuner()
    launch(tuner), launch(tuner)
    tuner.launcher = tuner[(1,)]
    gone = weakref.ref(tuner)
    del tuner
    gc.collect()
    assert gone() is None


def test_many_threads():
    tuner = make_tuner()
    launch(tuner, 5), launch(tuner, 6)
    tuner.cache[next(key for key in tuner.cache if key[0] == 6)] = LARGE
    wrong = []

    def work(n, block):
        for _ in range(200):
            if launch(tuner, n) != block or tuner.best_config.kwargs["BLOCK"] != block:
                wrong.append(n)

    threads = [threading.Thread(target=work, args=each) for each in ((5, 16), (6, 32)) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# --- Heuristics -----------------------------------------------------------------------------------


def test_heuristics_use_known_kernels():
    @triton.heuristics({"BLOCK": lambda args: 16 * (1 + (args["n"] > 100))})
    @triton.jit
    def kernel(out, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(out + at, n + at * 0 + BLOCK, mask=at < 16)

    reached = []
    original = kernel.fn._variant

    def variant(*args):
        reached.append(args)
        return original(*args)

    kernel.fn._variant = variant
    assert [launch(kernel, n) for n in (5, 500, 5, 500, 5, 500)] == [16, 32] * 3
    assert len(reached) == 2


def test_heuristics_over_a_tuner():
    tuner = make_tuner()
    seen = count_runs(tuner)
    kernel = triton.heuristics({"n": lambda args: 9})(tuner)
    for _ in range(3):
        out = zeros()
        kernel[(1,)](out)
        assert (out == 9 + 16).all()
    assert len(seen) == 1


def test_tuner_over_heuristics():
    @triton.autotune([SMALL, LARGE], key=["n"], do_bench=first_is_best)
    @triton.heuristics({"TWICE": lambda args: 2 * args["BLOCK"]})
    @triton.jit
    def kernel(out, n, BLOCK: tl.constexpr, TWICE: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(out + at, n + at * 0 + TWICE, mask=at < 16)

    assert [launch(kernel) for _ in range(3)] == [32] * 3
