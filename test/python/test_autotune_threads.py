"""Autotuned kernels that several threads call: the state of a call is its thread's own, and a key is tuned once."""
# SPDX-License-Identifier: MIT

import copy
import os
import pickle
import threading
import time

import numpy as np
import pytest
import triton
import triton.language as tl

COUNT = 4


@triton.jit
def add_kernel(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    total = tl.load(out_ptr + offsets, mask=mask) + tl.load(x_ptr + offsets, mask=mask) * factor
    tl.store(out_ptr + offsets, total, mask=mask)


def grid(meta):
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


class Bench:
    """Calls the kernel twice with a pause, so that the threads' calls overlap."""

    def __init__(self):
        self.calls = 0

    def __call__(self, call, quantiles):
        self.calls += 1
        for _ in range(2):
            call()
            time.sleep(0.002)
        return [float(self.calls)] * 3


def tuned(key=("n",), configs=(16, 32, 64), **options):
    bench = Bench()
    made = [
        config if isinstance(config, triton.Config) else triton.Config({"BLOCK": config})
        for config in configs
    ]
    return triton.autotune(configs=made, key=list(key), do_bench=bench, **options)(
        add_kernel
    ), bench


def in_threads(call, count=COUNT):
    """The errors of `count` threads that start at once."""
    errors, gate = [], threading.Barrier(count)

    def body(index):
        try:
            gate.wait()
            call(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return errors


@pytest.mark.parametrize("size", ["same key", "own key"])
@pytest.mark.parametrize(
    "option", ["restore_value", "reset_to_zero", "restore_value of two", "hooks"]
)
def test_every_thread_gets_its_result(option, size):
    copies = threading.local()

    def pre_hook(args, reset_only=False):
        if not reset_only:
            copies.out = args["out_ptr"].copy()

    def post_hook(args, exception):
        args["out_ptr"][...] = copies.out

    options = {
        "restore_value": {"restore_value": ["out_ptr"]},
        "restore_value of two": {"restore_value": ["x_ptr", "out_ptr"]},
        "reset_to_zero": {"reset_to_zero": ["out_ptr"]},
        "hooks": {"pre_hook": pre_hook, "post_hook": post_hook},
    }[option]
    tuner, bench = tuned(**options)
    sizes = [100 + (index if size == "own key" else 0) for index in range(COUNT)]
    start = 0 if option == "reset_to_zero" else 1
    outs = [np.full(n, start, np.float32) for n in sizes]

    def call(index):
        tuner[grid](np.full(sizes[index], 2, np.float32), outs[index], sizes[index], index + 3.0)
        assert tuner.nargs is None and tuner.best_config is not None

    assert in_threads(call) == []
    for index, out in enumerate(outs):
        assert (out == start + 2 * (index + 3)).all()
    assert bench.calls == 3 * len(set(sizes)) and tuner.nargs is None


def test_functions_see_the_arguments_of_their_call():
    seen = []

    def check(args):
        seen.append(args["out_ptr"].size == args["n"] == args["x_ptr"].size)

    def prune(configs, named, **kwargs):
        time.sleep(0.002)
        check(named)
        return configs

    def model(**args):
        check(args)
        return args["BLOCK"]

    pruning = {"early_config_prune": prune, "perf_model": model, "top_k": 2}
    configs = [triton.Config({"BLOCK": block}, pre_hook=check) for block in (16, 32, 64)]
    tuner, bench = tuned(configs=configs, prune_configs_by=pruning)

    def call(index):
        n = 50 + index
        tuner[grid](np.ones(n, np.float32), np.ones(n, np.float32), n, 1.0)

    assert in_threads(call) == [] and all(seen) and bench.calls == 2 * COUNT


def test_the_best_configuration_is_that_of_the_own_call():
    tuner, bench = tuned(key=("n",))
    tuner.cache[(8, "float32", "float32")] = tuner.configs[0]
    tuner.cache[(9, "float32", "float32")] = tuner.configs[1]

    def call(index):
        for _ in range(20):
            n = 8 + index
            tuner[grid](np.ones(n, np.float32), np.ones(n, np.float32), n, 1.0)
            assert tuner.best_config is tuner.configs[index]

    assert in_threads(call, 2) == [] and bench.calls == 0
    assert tuner.best_config in tuner.configs[:2]


def test_a_thread_launches_while_another_tunes():
    tuning, launched = threading.Event(), threading.Event()

    def bench(call, quantiles):
        tuning.set()
        assert launched.wait(30)
        call()
        return [1.0] * 3

    tuner = triton.autotune(
        configs=[triton.Config({"BLOCK": b}) for b in (16, 32)], key=["n"], do_bench=bench
    )(add_kernel)
    tuner.cache[(7, "float32", "float32")] = tuner.configs[1]
    outs = [np.zeros(7, np.float32), np.zeros(40, np.float32)]

    def call(index):
        if index == 0:
            assert tuning.wait(30)
        n = outs[index].size
        tuner[grid](np.ones(n, np.float32), outs[index], n, 1.0)
        if index == 0:
            launched.set()

    assert in_threads(call, 2) == [] and (outs[0] == 1).all()


def test_after_an_error_the_next_thread_tunes():
    calls = []

    def bench(call, quantiles):
        calls.append(threading.get_ident())
        time.sleep(0.002)
        if len(calls) == 1:
            raise ValueError("no clock")
        call()
        return [1.0] * 3

    configs = [triton.Config({"BLOCK": block}) for block in (16, 32)]
    tuner = triton.autotune(configs=configs, key=["n"], do_bench=bench, restore_value=["out_ptr"])(
        add_kernel
    )
    outs = [np.ones(20, np.float32) for _ in range(COUNT)]
    errors = in_threads(lambda index: tuner[grid](np.ones(20, np.float32), outs[index], 20, 1.0))
    assert [str(error) for error in errors] == ["no clock"]
    assert sorted(out[0] for out in outs) == [1] + [2] * (COUNT - 1) and len(calls) == 3


def test_an_interrupted_measurement_restores_the_arguments():
    class Stop(BaseException):
        pass

    @triton.jit
    def inner(out_ptr, BLOCK: tl.constexpr):
        tl.store(out_ptr, BLOCK)

    launches = []

    def interrupt(*args, **kwargs):
        launches.append(args)
        args[0][...] = 5
        raise Stop

    inner.add_pre_run_hook(interrupt)
    configs = [triton.Config({"BLOCK": block}) for block in (16, 32)]
    tuner = triton.autotune(configs=configs, key=[], do_bench=Bench(), restore_value=["out_ptr"])(
        inner
    )
    out = np.ones(1, np.float32)
    with pytest.raises(Stop):
        tuner[(1,)](out)
    assert out[0] == 1 and len(launches) == 1 and tuner.nargs is None


def test_a_hook_may_launch_the_kernel_again():
    results = []

    def hook(args, reset_only=False):
        if args["n"] == 30:
            out = np.zeros(10, np.float32)
            tuner[grid](np.ones(10, np.float32), out, 10, 1.0)
            results.append(out[0])
            assert tuner.nargs["n"] == 30

    tuner, _ = tuned(pre_hook=hook)
    out = np.zeros(30, np.float32)
    tuner[grid](np.ones(30, np.float32), out, 30, 1.0)
    assert set(results[1:]) == {1} and tuner.nargs is None


def test_a_forked_child_tunes_what_a_thread_of_its_parent_is_tuning():
    parent, tuning, forked = os.getpid(), threading.Event(), threading.Event()

    def bench(call, quantiles):
        if os.getpid() == parent:
            tuning.set()
            assert forked.wait(30)
        call()
        return [1.0] * 3

    configs = [triton.Config({"BLOCK": block}) for block in (16, 32)]
    tuner = triton.autotune(configs=configs, key=["n"], do_bench=bench)(add_kernel)

    def call():
        out = np.zeros(20, np.float32)
        tuner[grid](np.ones(20, np.float32), out, 20, 1.0)
        return len(tuner.cache) == 1

    add_kernel[(2,)](np.ones(20, np.float32), np.ones(20, np.float32), 20, 1.0, BLOCK=16)
    thread = threading.Thread(target=call)
    thread.start()
    assert tuning.wait(30)
    pid = os.fork()
    if pid == 0:
        os._exit(0 if call() else 1)
    for _ in range(300):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            break
        time.sleep(0.1)
    else:
        os.kill(pid, 9)
    forked.set()
    thread.join(30)
    assert found == pid and status == 0


def test_copies_share_no_state():
    tuner, _ = tuned()
    tuner.nargs = {"n": 1}
    for made in (copy.copy(tuner), copy.deepcopy(tuner)):
        made.nargs = {"n": 2}
        assert tuner.nargs == {"n": 1} and made.configs == tuner.configs
    state = pickle.loads(pickle.dumps((tuner._call, tuner._key_locks)))
    assert state[0].nargs is None


def test_first_launches_share_one_cache():
    @triton.jit
    def fresh(out_ptr, value):
        tl.store(out_ptr, value)

    outs = [np.zeros(1, np.float32) for _ in range(8)]
    kernels = [None] * 8

    def call(index):
        kernels[index] = fresh[(1,)](outs[index], 1.5 + index)

    assert in_threads(call, 8) == []
    assert [out[0] for out in outs] == [1.5 + index for index in range(8)]
    (caches,) = fresh.device_caches.values()
    assert len(caches[0]) == 1
