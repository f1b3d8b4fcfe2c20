"""Autotuning and heuristics: keys, pruning, hooks, restored arguments, the record on disk."""
# SPDX-License-Identifier: MIT

import copy
import pickle
import time

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.runtime.errors import AutotunerError


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * factor, mask=mask)


@triton.jit
def even_kernel(x_ptr, out_ptr, n, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) + 10)
    else:
        tl.store(
            out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) + 10, mask=offsets < n
        )


def configs(*blocks, **options):
    return [triton.Config({"BLOCK": block}, **options) for block in blocks]


def grid(meta):
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


class Bench:
    """Replaces the clock: a config's time is its block size, so the smallest wins. Calls the
    kernel once.
    """

    def __init__(self):
        self.calls = 0

    def __call__(self, call, quantiles):
        self.calls += 1
        call()
        return [self.times.pop(0)] * 3

    def returning(self, *times):
        self.times = list(times)
        return self


def tuned(blocks=(32, 64, 128), times=(3.0, 1.0, 2.0), key=("n",), kernel=scale_kernel, **options):
    bench = Bench().returning(*times)
    tuner = triton.autotune(configs=configs(*blocks), key=list(key), do_bench=bench, **options)(
        kernel
    )
    return tuner, bench


def data(n=1000):
    x = np.arange(n, dtype=np.float32)
    return x, np.zeros_like(x)


def test_best_configuration_is_kept_per_key():
    tuner, bench = tuned(times=(3.0, 1.0, 2.0, 1.0, 2.0, 3.0))
    x, out = data()
    tuner[grid](x, out, 1000, 2.0)
    assert (
        np.array_equal(out, 2 * x)
        and tuner.best_config.kwargs == {"BLOCK": 64}
        and bench.calls == 3
    )
    tuner[grid](x, out, 1000, 3.0)
    assert bench.calls == 3 and np.array_equal(out, 3 * x)
    tuner[grid](x, out, 999, 3.0)
    assert bench.calls == 6 and tuner.best_config.kwargs == {"BLOCK": 32} and len(tuner.cache) == 2
    assert {config.kwargs["BLOCK"] for config in tuner.configs_timings} == {
        32,
        64,
        128,
    } and tuner.bench_time > 0


def test_a_type_is_part_of_the_key():
    tuner, bench = tuned(times=(3.0, 1.0, 2.0) * 2)
    x, out = data()
    tuner[grid](x, out, 1000, 2.0)
    tuner[grid](x.astype(np.float64), out.astype(np.float64), 1000, 2.0)
    assert bench.calls == 6


def test_one_configuration_is_not_timed():
    tuner, bench = tuned(blocks=(64,), times=())
    x, out = data()
    tuner[grid](x, out, 1000, 2.0)
    assert bench.calls == 0 and np.array_equal(out, 2 * x)


def test_no_configuration_means_the_default():
    tuner = triton.autotune(configs=[], key=[])(scale_kernel)
    x, out = data()
    tuner[grid](x, out, 1000, 2.0, BLOCK=64)
    assert np.array_equal(out, 2 * x) and tuner.configs[0].num_warps == 4


def test_warps_and_stages_are_not_timed_on_the_cpu():
    torch = pytest.importorskip("torch")
    choices = [
        triton.Config({"BLOCK": block}, num_warps=warps, num_stages=stages)
        for block in (64, 32)
        for warps in (2, 4, 8)
        for stages in (1, 2)
    ]
    bench = Bench().returning(2.0, 1.0)
    tuner = triton.autotune(choices, ["n"], do_bench=bench)(scale_kernel)
    x = torch.arange(100, dtype=torch.float32)
    out = torch.zeros(100)
    tuner[grid](x, out, 100, 3.0)
    assert torch.equal(out, 3 * x)
    assert bench.calls == 2
    assert len(tuner.configs_timings) == len(choices)


def test_real_timing():
    tuner = triton.autotune(configs=configs(64, 1024), key=["n"])(scale_kernel)
    x, out = data()
    tuner[grid](x, out, 1000, 2.0)
    assert np.array_equal(out, 2 * x) and tuner.best_config in tuner.configs


def test_pruning():
    seen = []

    def early(configs, named_args, **kwargs):
        seen.append((sorted(named_args), sorted(kwargs)))
        return configs[:2]

    tuner, bench = tuned(times=(2.0, 1.0), prune_configs_by={"early_config_prune": early})
    x, out = data()
    tuner[grid](x, out, 1000, factor=2.0)
    assert bench.calls == 2 and tuner.best_config.kwargs == {"BLOCK": 64}
    assert seen[0][0] == ["n", "out_ptr", "x_ptr"] and "factor" in seen[0][1]

    model = {"perf_model": lambda BLOCK, **rest: BLOCK, "top_k": 2}
    tuner, bench = tuned(blocks=(256, 32, 64), times=(2.0, 1.0), prune_configs_by=model)
    tuner[grid](x, out, 1000, 2.0)
    assert bench.calls == 2 and tuner.best_config.kwargs == {"BLOCK": 64}


def test_pruning_to_one_configuration_times_nothing():
    x, out = data()
    told = []
    with triton.knobs.autotuning.scope():
        triton.knobs.autotuning.listener = lambda **event: told.append(event)
        early = {"early_config_prune": lambda configs, named, **kwargs: configs[1:2]}
        tuner, bench = tuned(times=(), prune_configs_by=early)
        tuner[grid](x, out, 1000, 2.0)
        assert bench.calls == 0 and tuner.best_config.kwargs == {"BLOCK": 64}
        model = {"perf_model": lambda BLOCK, **rest: BLOCK, "top_k": 0.1}  # of 3: one stays
        tuner, bench = tuned(blocks=(256, 32, 64), times=(), prune_configs_by=model)
        tuner[grid](x, out, 1000, 2.0)
        assert bench.calls == 0 and tuner.best_config.kwargs == {"BLOCK": 32}
    assert told == [] and np.array_equal(out, x * 2)


def test_pruning_errors():
    x, out = data()
    tuner, _ = tuned(prune_configs_by={"early_config_prune": lambda configs, args, **kw: []})
    with pytest.raises(AutotunerError, match="No valid autotuner configs after pruning"):
        tuner[grid](x, out, 1000, 2.0)
    tuner, _ = tuned(prune_configs_by={"perf_model": lambda **kw: 1, "top_k": 2.5})
    with pytest.raises(TypeError, match="top_k must be either"):
        tuner[grid](x, out, 1000, 2.0)


@pytest.mark.parametrize("blocks", [(32, 64, 128), (64,)])
def test_conflicting_arguments(blocks):
    tuner, _ = tuned(blocks=blocks)
    x, out = data()
    with pytest.raises(ValueError, match="Conflicting meta-parameters: BLOCK"):
        tuner[grid](x, out, 1000, 2.0, BLOCK=64)


def test_restore_value_and_reset_to_zero():
    @triton.jit
    def accumulate(x_ptr, sum_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        mask = offsets < n
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
        tl.store(x_ptr + offsets, x * 2, mask=mask)
        tl.store(sum_ptr, tl.load(sum_ptr) + tl.sum(x, axis=0))

    x = np.ones(16, np.float32)
    total = np.full(1, 5, np.float32)
    tuner, _ = tuned(
        blocks=(16, 32),
        times=(2.0, 1.0),
        kernel=accumulate,
        restore_value=["x_ptr"],
        reset_to_zero=["sum_ptr"],
    )
    tuner[(1,)](x, total, 16)
    assert (x == 2).all(), "tuning left no trace, the launch doubled once"
    assert total[0] == 16


def test_user_hooks():
    events = []
    pre = lambda args, reset_only=False: events.append(("pre", reset_only))  # noqa: E731
    post = lambda args, exception: events.append(("post", exception))  # noqa: E731
    tuner, _ = tuned(blocks=(32, 64), times=(2.0, 1.0), pre_hook=pre, post_hook=post)
    x, out = data()
    tuner[grid](x, out, 1000, 2.0)
    assert events == [("pre", False), ("post", None)] * 2 + [("pre", True)]
    assert tuner.user_defined_pre_hook and tuner.user_defined_post_hook


def test_config_hook_sees_all_arguments():
    seen = []
    config = triton.Config({"BLOCK": 64}, pre_hook=lambda args: seen.append(args))
    tuner = triton.autotune(configs=[config], key=["n"])(scale_kernel)
    x, out = data()
    tuner[grid](x, out, 1000, 2.0)
    assert (
        seen[0]["n"] == 1000
        and seen[0]["BLOCK"] == 64
        and seen[0]["num_warps"] == 4
        and seen[0]["out_ptr"] is out
    )


def test_configs_that_cannot_run_are_left_out():
    @triton.jit
    def picky(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
        tl.static_assert(BLOCK < 100)
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * factor, mask=mask)

    tuner, _ = tuned(blocks=(128, 64), times=(1.0, 1.0), kernel=picky)
    x, out = data()
    tuner[grid](x, out, 1000, 2.0)
    assert tuner.best_config.kwargs == {"BLOCK": 64} and np.array_equal(out, 2 * x)


def test_other_errors_reach_the_caller_after_the_hook():
    seen = []
    tuner, _ = tuned(post_hook=lambda args, exception: seen.append(exception))
    x, out = data()
    with pytest.raises(TypeError, match="failed to specialize"):
        tuner[grid](x, out, 1000, "two")
    assert isinstance(seen[0], TypeError)


def test_results_are_kept_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    x, out = data()
    first, bench = tuned(cache_results=True)
    first[grid](x, out, 1000, 2.0)
    assert bench.calls == 3
    second, bench = tuned(cache_results=True, times=())
    told = []
    with triton.knobs.autotuning.scope():
        triton.knobs.autotuning.listener = lambda **event: told.append(event)
        second.bench_time = 1.0  # of an earlier key
        second[grid](x, out, 1000, 2.0)
    assert bench.calls == 0 and second.best_config == first.best_config
    assert [(event["cache_hit"], event["duration"]) for event in told] == [(True, None)]
    for path in tmp_path.glob("*/*.autotune.json"):
        path.write_text("{")  # damaged: measured again
    third, bench = tuned(cache_results=True)
    third[grid](x, out, 1000, 2.0)
    assert bench.calls == 3


def test_config_is_plain_data():
    config = triton.Config({"A": 1}, num_warps=2, num_stages=3)
    twin = pickle.loads(pickle.dumps(copy.deepcopy(config)))
    assert (
        twin == config
        and hash(twin) == hash(config)
        and twin != triton.Config({"A": 2}, num_warps=2)
    )
    assert config.all_kwargs() == {"A": 1, "num_warps": 2, "num_stages": 3, "num_ctas": 1}
    assert str(config) == "A: 1, num_warps: 2, num_ctas: 1, num_stages: 3, maxnreg: None"
    config.__dict__.update(found_by_coordesc=True)
    assert config.found_by_coordesc

    class Sub(triton.Config):
        pass

    assert Sub({"B": 2}, num_warps=1).kwargs == {"B": 2}


def test_the_text_of_a_config_has_what_changes_its_kernel():
    texts = [
        str(triton.Config({"B": 1}, **more))
        for more in (
            {},
            {"ir_override": "a.ttir"},
            {"ir_override": "b.ttir"},
            {"num_cpu_threads": 2},
        )
    ]
    assert (
        len(set(texts)) == 4
        and texts[0] == "B: 1, num_warps: 4, num_ctas: 1, num_stages: 3, maxnreg: None"
    )


def test_deprecated_arguments_warn():
    with pytest.warns(DeprecationWarning, match="deprecated"):
        tuner = triton.autotune(configs=configs(32, 64), key=["n"], warmup=1, rep=2)(scale_kernel)
    x, out = data()
    tuner[grid](x, out, 1000, 2.0)
    assert np.array_equal(out, 2 * x)


def test_warmup_compiles_every_configuration():
    tuner, bench = tuned()
    x, out = data()
    kernels = tuner.warmup(x, out, 1000, 2.0, grid=(1,))
    assert [kernel.src.constants[(4,)] for kernel in kernels] == [32, 64, 128] and bench.calls == 0


@pytest.mark.parametrize("n", [1024, 1000])
def test_heuristics_in_all_positions(n):
    x, out = data(n)
    even = {"EVEN": lambda args: args["n"] % args["BLOCK"] == 0}
    heuristic = triton.heuristics(even)(even_kernel)
    heuristic[grid](x, out, n, BLOCK=64)
    assert np.array_equal(out, x + 10)
    inside = triton.autotune(
        configs=configs(64, 128), key=["n"], do_bench=Bench().returning(2.0, 1.0)
    )(heuristic)
    out[:] = 0
    inside[grid](x, out, n)
    assert np.array_equal(out, x + 10) and inside.base_fn is even_kernel.fn
    around = triton.heuristics({"EVEN": lambda args: False})(
        triton.autotune(configs=configs(64, 128), key=["n"], do_bench=Bench().returning(2.0, 1.0))(
            even_kernel
        )
    )
    out[:] = 0
    around[grid](x, out, n)
    assert np.array_equal(out, x + 10)


def test_heuristics_see_earlier_results():
    chain = triton.heuristics(
        {"BLOCK": lambda args: 64, "EVEN": lambda args: args["n"] % args["BLOCK"] == 0}
    )(even_kernel)
    x, out = data(128)
    chain[grid](x, out, 128)
    assert np.array_equal(out, x + 10) and list(chain.values) == ["BLOCK", "EVEN"]


def test_known_launch_with_heuristics_needs_no_run(monkeypatch):
    seen = []
    kernel = triton.heuristics({"BLOCK": lambda args: 64, "EVEN": seen.append})(even_kernel)
    x, out = data(1000)
    kernel[grid](x, out, n=1000)
    monkeypatch.setattr(triton.JITFunction, "_take_stream", None)  # what `run` calls first
    out[:] = 0
    kernel[(16,)](x, out, n=1000)
    assert np.array_equal(out, x + 10)
    assert seen[1].pop("grid") == (16,) and seen[1].pop("warmup") is False
    assert list(seen[1]) == ["x_ptr", "out_ptr", "n", "BLOCK"] and seen[1]["BLOCK"] == 64


def test_heuristics_replace_a_given_keyword():
    kernel = triton.heuristics(
        {"BLOCK": lambda args: args["BLOCK"] * 2, "EVEN": lambda args: False}
    )(even_kernel)
    x, out = data(100)
    compiled = kernel[grid](x, out, 100, BLOCK=64)
    assert compiled.src.constants[(4,)] == 128 and np.array_equal(out, x + 10)


def test_heuristic_may_change_its_arguments():
    def even(args):
        args["n"] = 0
        return False

    kernel = triton.heuristics({"EVEN": even, "BLOCK": lambda args: args["n"]})(even_kernel)
    x, out = data(64)
    kernel[grid](x, out, 64)
    assert np.array_equal(out, x + 10)


def test_error_of_a_heuristic_is_its_own():
    kernel = triton.heuristics({"EVEN": lambda args: args["absent"]})(even_kernel)
    x, out = data(64)
    with pytest.raises(KeyError, match="absent"):
        kernel[grid](x, out, 64, BLOCK=64)


def test_heuristic_that_adds_another():
    def even(args):
        kernel.values["BLOCK"] = lambda args: 64
        return False

    kernel = triton.heuristics({"EVEN": even})(even_kernel)
    x, out = data(64)
    with pytest.raises(RuntimeError, match=r"`values`|changed size"):
        kernel[grid](x, out, 64)


def test_replaced_run_of_heuristics_is_called(monkeypatch):
    kernel = triton.heuristics({"EVEN": lambda args: False})(even_kernel)
    monkeypatch.setattr(kernel, "run", lambda *args, **kwargs: "replaced")
    assert kernel[(1,)](1) == "replaced"


def test_warps_have_no_limit_where_there_are_none():
    tuner = triton.autotune(
        configs=[triton.Config({"BLOCK": 64}, num_warps=warps) for warps in (4, 128)], key=["n"]
    )(scale_kernel)
    x, out = data()
    tuner[grid](x, out, 1000, 2.0)
    assert np.array_equal(out, 2 * x)
    assert all(timing[0] < float("inf") for timing in tuner.configs_timings.values())


def test_long_tuning_is_announced(monkeypatch, capsys):
    monkeypatch.setattr(triton.runtime.progress, "PATIENCE", 0.02)

    def bench(call, quantiles):
        time.sleep(0.06)
        return [1.0] * 3

    for progress in ("off", "auto", "on"):  # stderr is no terminal here
        monkeypatch.setenv("TRITON_PROGRESS", progress)
        tuner, _ = tuned(blocks=(32, 64), times=())
        tuner._do_bench = bench
        x, out = data()
        tuner[grid](x, out, 1000, 2.0)
        lines = capsys.readouterr().err.splitlines()
        assert bool(lines) == (progress == "on")
    assert lines[0].startswith("triton: tuning scale_kernel, configuration 1 of 2 (BLOCK: 32")


def test_a_long_compilation_is_announced(monkeypatch, capsys):
    @triton.jit
    def long(out_ptr, N: tl.constexpr):
        for i in tl.static_range(N):
            tl.store(out_ptr + i, i)

    monkeypatch.setattr(triton.runtime.progress, "PATIENCE", 0.0)
    monkeypatch.setenv("TRITON_PROGRESS", "on")
    long.warmup(np.zeros(1, np.float32), 200, grid=(1,))
    assert "triton: compiling long for " in capsys.readouterr().err
