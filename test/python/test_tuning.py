"""The search of an autotuner: what is compiled ahead, what is timed for how long, ties, classes of keys, tables."""
# SPDX-License-Identifier: MIT

import threading

import numpy as np
import pytest
import triton
import triton.language as tl
from _simulators import simulators
from triton.runtime.errors import AutotunerError
from triton.runtime.tuning.model import CandidateLaunch, proposed
from triton.runtime.tuning.samples import Sampler, Samples, best_of, is_clearly_slower
from triton.runtime.tuning.search import Candidate


def kernel():
    """A new kernel, of which nothing is compiled."""

    @triton.jit
    def scale(x_ptr, out_ptr, n, REPEAT: tl.constexpr, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n)
        for _ in range(REPEAT):
            x = tl.sqrt(x + 1.0)
        tl.store(out_ptr + at, x, mask=at < n)

    return scale


def grid(meta):
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


def configs(*repeats, block=1024, **options):
    return [triton.Config({"REPEAT": repeat, "BLOCK": block}, **options) for repeat in repeats]


def data(n=1 << 16):
    return np.ones(n, np.float32), np.empty(n, np.float32)


def samples_of(*times):
    samples = Samples()
    samples.times = list(times)
    return samples


def tune(configurations, n=1 << 16, fn=None, **options):
    tuner = triton.autotune(configurations, ["n"], **options)(fn or kernel())
    x, out = data(n)
    tuner[grid](x, out, n)
    return tuner


def calls_of(tuner):
    """REPEAT -> how many calls were timed."""
    found = tuner.report().candidates
    return {one.config.kwargs["REPEAT"]: len(one.samples.times) for one in found}


# --- timing ---


def test_a_slow_configuration_is_cut_after_few_calls():
    tuner = tune(configs(1, 400))
    assert tuner.best_config.kwargs["REPEAT"] == 1
    assert calls_of(tuner)[400] <= 40
    assert calls_of(tuner)[1] >= 3


def test_configurations_of_one_kernel_are_a_tie_for_the_first():
    tuner = tune([*configs(2, num_warps=8), *configs(2, num_warps=4)])  # which a CPU has not
    assert tuner.best_config is tuner.configs[0]
    assert [one.outcome for one in tuner.report().candidates] == ["timed", "as 1"]


def test_the_timings_are_quantiles_of_every_configuration_in_order():
    tuner = tune(configs(1, 60, 200))
    assert [config.kwargs["REPEAT"] for config in tuner.configs_timings] == [1, 60, 200]
    assert all(low <= median <= high for median, low, high in tuner.configs_timings.values())


def test_one_disturbed_visit_does_not_cut():
    best = samples_of(*[1.0] * 10)
    assert not is_clearly_slower(samples_of(1.8, 1.9, 1.8), best)
    assert is_clearly_slower(samples_of(2.8, 2.9, 2.8), best)


def test_samples_that_do_not_overlap_are_a_difference():
    best = samples_of(1.0, 1.3, 1.1)
    assert is_clearly_slower(samples_of(4.0, 9.0, 2.5), best)


def test_noise_is_not_a_difference():
    best = samples_of(*[1.0, 1.1, 1.2] * 20)
    assert not is_clearly_slower(samples_of(*[1.01, 1.11, 1.21] * 20), best)
    assert is_clearly_slower(samples_of(*[1.31, 1.32, 1.33] * 20), best)


def test_the_first_of_a_tie_is_chosen():
    assert best_of({"a": [1.004, 0.99, 1.02], "b": [1.0, 0.99, 1.01]}) == "a"
    assert best_of({"a": [1.02, 1.0, 1.04], "b": [1.0, 0.99, 1.01]}) == "b"
    assert best_of({"a": [1.0001] * 3, "b": [1.0] * 3}) == "b"  # without noise there is no tie
    assert best_of({"a": 2.0, "b": 1.0}) == "b"
    assert best_of({"a": [float("inf")] * 3, "b": [float("inf")] * 3}) == "a"


def test_a_benchmark_of_the_user_sees_every_configuration_once_in_order():
    seen = []

    def bench(call, quantiles):
        call()
        seen.append(len(seen))
        return [5.0 - len(seen)] * 3

    tuner = tune(configs(1, 2, 3), do_bench=bench)
    assert seen == [0, 1, 2] and tuner.best_config.kwargs["REPEAT"] == 3


def test_nothing_is_compiled_while_a_cpu_is_timed(monkeypatch):
    seen = []
    measure = Sampler.__call__

    def watch(self, call, quantiles):
        seen.append([t.name for t in threading.enumerate() if t.name.startswith("triton tuning")])
        names.append(running())
        return measure(self, call, quantiles)

    names = []
    compiling = set()
    compile_source = triton.runtime.JITFunction._compile_source

    def running():
        return len(compiling)

    def compile_one(self, *args):
        compiling.add(threading.get_ident())
        try:
            return compile_source(self, *args)
        finally:
            compiling.discard(threading.get_ident())

    monkeypatch.setattr(triton.runtime.JITFunction, "_compile_source", compile_one)
    monkeypatch.setattr(Sampler, "__call__", watch)
    tune(configs(*range(3, 9)))
    assert names and not any(names)


def test_a_policy_that_forbids_compilation_forbids_tuning(monkeypatch):
    tuner = triton.autotune(configs(1, 2), ["n"])(kernel())
    x, out = data(64)
    monkeypatch.setenv("TRITON_JIT", "forbid")
    with pytest.raises(triton.runtime.errors.JitForbidden, match="would be tuned for n=64"):
        tuner[grid](x, out, 64)


# --- compiling ---


def test_candidates_compile_on_several_threads(monkeypatch):
    threads, gate = [], threading.Barrier(2, timeout=20)
    compile_source = triton.runtime.JITFunction._compile_source

    def compile_one(self, *args):
        threads.append(threading.current_thread())
        if len(threads) <= 2:
            gate.wait()  # neither goes on before the other has begun
        return compile_source(self, *args)

    monkeypatch.setattr(
        triton.runtime.tuning.search.os, "sched_getaffinity", lambda process: {0, 1}
    )
    monkeypatch.setattr(triton.runtime.JITFunction, "_compile_source", compile_one)
    tune(configs(1, 2, 3))
    assert len(threads) == 3 and threading.main_thread() not in threads


def test_warmup_compiles_on_several_threads(monkeypatch):
    names = []
    compile_source = triton.runtime.JITFunction._compile_source

    def compile_one(self, *args):
        names.append(threading.current_thread().name)
        return compile_source(self, *args)

    monkeypatch.setattr(triton.runtime.JITFunction, "_compile_source", compile_one)
    tuner = triton.autotune(configs(1, 2, 3), ["n"])(kernel())
    x, out = data(64)
    kernels = tuner.warmup(x, out, 64, grid=(1,))
    assert [one.src.constants[(3,)] for one in kernels] == [1, 2, 3]
    assert len(names) == 3 and all(name.startswith("triton tuning") for name in names)


def test_a_kernel_with_a_run_of_its_own_is_only_called():
    """Nothing is compiled ahead where somebody watches the calls."""
    seen = []
    watched = kernel()
    run = watched.run

    def watch(*args, **kwargs):
        seen.append(kwargs.get("warmup"))
        return run(*args, **kwargs)

    watched.run = watch
    tune(configs(1, 2), n=64, fn=watched)
    assert seen and not any(seen)


def test_a_configuration_that_does_not_compile_is_left_out():
    @triton.jit
    def picky(x_ptr, out_ptr, n, REPEAT: tl.constexpr, BLOCK: tl.constexpr):
        tl.static_assert(REPEAT < 3, "too many")
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)

    tuner = tune(configs(5, 1, 4), fn=picky)
    assert tuner.best_config.kwargs["REPEAT"] == 1
    failed = [one for one in tuner.report().candidates if one.outcome == "failed"]
    assert len(failed) == 2 and "too many" in failed[0].reason


def test_an_error_of_the_kernel_reaches_the_caller():
    @triton.jit
    def wrong(x_ptr, out_ptr, n, REPEAT: tl.constexpr, BLOCK: tl.constexpr):
        tl.store(out_ptr + tl.arange(0, BLOCK), missing)  # noqa: F821

    with pytest.raises(triton.CompilationError, match="missing"):
        tune(configs(1, 2), fn=wrong)


def test_compilations_that_an_error_cancels_are_made_up_for(monkeypatch):
    """The second call finds the kernels of the first one's search, which ended before they were compiled."""
    monkeypatch.setattr(triton.runtime.tuning.search.os, "sched_getaffinity", lambda process: {0})

    def fail(args):
        raise KeyboardInterrupt

    made = configs(*range(1, 7))
    made[0].pre_hook = fail
    tuner = triton.autotune(made, ["n"])(kernel())
    x, out = data(64)
    with pytest.raises(KeyboardInterrupt):
        tuner[grid](x, out, 64)
    made[0].pre_hook = None
    tuner[grid](x, out, 64)
    assert len(tuner.configs_timings) == 6


def test_a_hook_of_a_configuration_runs_before_its_compilation():
    @triton.jit
    def copy(x, out_ptr, n, REPEAT: tl.constexpr, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK
        tl.store(out_ptr + at + tl.arange(0, BLOCK), x.load([at]))

    def set_block(args):
        args["x"].block_shape = [args["BLOCK"]]

    from triton.tools.tensor_descriptor import TensorDescriptor

    torch = pytest.importorskip("torch")
    x, out = torch.rand(4096), torch.empty(4096)
    described = TensorDescriptor.from_tensor(x, [1])
    made = [
        triton.Config({"REPEAT": 1, "BLOCK": block}, pre_hook=set_block) for block in (128, 256)
    ]
    tuner = triton.autotune(made, ["n"])(copy)
    tuner[grid](described, out, 4096)
    assert torch.equal(x, out) and len(tuner.configs_timings) == 2


# --- the model ---


def matmul():
    @triton.jit
    def product(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
        rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        depth = tl.arange(0, DEPTH)
        total = tl.zeros((BLOCK, BLOCK), tl.float32)
        for k in range(0, n, DEPTH):
            a = tl.load(a_ptr + rows[:, None] * n + (k + depth)[None, :])
            b = tl.load(b_ptr + (k + depth)[:, None] * n + columns[None, :])
            total = tl.dot(a, b, total)
        tl.store(c_ptr + rows[:, None] * n + columns[None, :], total)

    return product


def tune_matmul(made, n=64, **options):
    tuner = triton.autotune(made, ["n"], **options)(matmul())
    a, b = (np.random.default_rng(0).random((n, n)).astype(np.float16) for _ in range(2))
    out = np.empty((n, n), np.float32)
    tuner[lambda meta: (n // meta["BLOCK"], n // meta["BLOCK"])](a, b, out, n)
    assert np.allclose(out, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-2)
    return tuner


def tiles(*sizes, depths=(16, 32), warps=(4,)):
    return [
        triton.Config({"BLOCK": size, "DEPTH": depth}, num_warps=count)
        for size in sizes
        for depth in depths
        for count in warps
    ]


simulated = simulators("sim")


@pytest.mark.usefixtures("simulated")
def test_the_model_has_three_timed_at_most():
    tuner = tune_matmul(tiles(16, 32, 64, warps=(1, 2, 4)), search="model")
    assert tuner.report().timed == 3 and len(tuner.configs_timings) == 3
    assert tuner.best_config in tuner.configs_timings
    estimates = [one.microseconds for one in tuner.report().candidates]
    assert len(estimates) == 18 and all(0 < estimate < 1e6 for estimate in estimates)


@pytest.mark.usefixtures("simulated")
def test_the_setting_chooses_the_search(monkeypatch):
    monkeypatch.setenv("TRITON_AUTOTUNE_SEARCH", "model")
    assert tune_matmul(tiles(16, 32)).report().timed == 3
    assert tune_matmul(tiles(16, 32), search="exhaustive").report().timed == 4


@pytest.mark.usefixtures("simulated")
def test_an_exhaustive_search_has_estimates_too(monkeypatch, tmp_path):
    monkeypatch.setenv(
        "TRITON_CACHE_DIR", str(tmp_path)
    )  # kernels of a cache are not compiled again
    tuner = tune_matmul(tiles(16, 32))
    assert all(one.estimate["limit"] for one in tuner.report().candidates)


@pytest.mark.usefixtures("simulated")
def test_what_cannot_be_launched_is_dropped_before_code_generation(monkeypatch, tmp_path):
    """A gather keeps its whole source in shared memory."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))

    @triton.jit
    def reverse(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n, other=0.0)
        tl.store(out_ptr + at, tl.gather(x, tl.maximum(n - 1 - at, 0), 0), mask=at < n)

    made = [triton.Config({"BLOCK": size}, num_warps=8) for size in (1 << 16, 1024, 2048)]
    x, out = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    tuner = triton.autotune(made, ["n"])(reverse)
    tuner[(1,)](x, out, 1000)
    assert np.array_equal(out, x[::-1])
    dropped = [one for one in tuner.report().candidates if one.outcome == "dropped"]
    assert [one.config.kwargs["BLOCK"] for one in dropped] == [1 << 16]
    assert "bytes of shared memory of" in dropped[0].reason
    assert dropped[0].code == "cannot-launch"
    assert tuner.configs_timings[tuner.configs[0]] == [float("inf")] * 3


def test_a_cpu_has_a_model():
    tuner = tune(configs(*range(1, 65, 9)), search="model")
    timed = [one.config.kwargs["REPEAT"] for one in tuner.report().candidates if one.timing]
    assert sorted(timed) == [1, 10, 19]


def test_without_a_model_the_list_is_sampled(monkeypatch):
    monkeypatch.setattr(
        CandidateLaunch, "estimate", lambda launch: None
    )  # as for another package's target
    tuner = tune(configs(*range(1, 8)), search="model")
    timed = [one.config.kwargs["REPEAT"] for one in tuner.report().candidates if one.timing]
    assert sorted(timed) == [1, 4, 7] and tuner.best_config in tuner.configs_timings


def candidate(index, microseconds, warps=4, **constants):
    one = Candidate(index, triton.Config(constants, num_warps=warps))
    one.estimate = {"microseconds": microseconds}
    return one


def test_the_proposed_differ_in_constants_and_warps():
    made = [
        candidate(0, 10.0, BLOCK=64),
        candidate(1, 10.1, BLOCK=64),
        candidate(2, 11.0, warps=8, BLOCK=64),
        candidate(3, 12.0, BLOCK=128),
        candidate(4, 30.0, warps=1, BLOCK=256),
    ]
    made[1].config.num_stages = 4  # which the model sees
    assert [one.index for one in proposed(made)] == [0, 3, 2]


def test_what_is_far_slower_by_the_model_is_not_proposed_for_variety():
    made = [candidate(0, 10.0, B=64), candidate(1, 10.1, B=64), candidate(2, 10.2, B=64)]
    made.append(candidate(3, 20.0, B=128))
    assert [one.index for one in proposed(made)] == [0, 1, 2]


def test_an_unknown_search_is_an_error():
    with pytest.raises(ValueError, match="search is 'fast'; it must be exhaustive or model"):
        triton.autotune(configs(1), ["n"], search="fast")(kernel())


# --- classes of keys ---


def test_values_of_a_class_share_a_choice():
    tuner = triton.autotune(configs(1, 2), ["n"], key_class={"n": triton.pow2_class})(kernel())
    x, out = data(4096)
    for n in (3000, 2049, 4096):
        tuner[grid](x, out, n)
    assert len(tuner.cache) == 1
    tuner[grid](x, out, 2048)
    assert len(tuner.cache) == 2


@pytest.mark.parametrize(
    ("value", "expected"), [(0, 0), (1, 1), (2, 2), (3, 4), (1024, 1024), (1025, 2048), (-3, -4)]
)
def test_pow2_class(value, expected):
    assert triton.pow2_class(value) == expected


def test_other_classes():
    assert [triton.multiple_class(64)(value) for value in (0, 1, 64, 65)] == [0, 64, 64, 128]
    classes = [triton.bounds_class(16, 256)(value) for value in (1, 16, 17, 256, 1 << 20)]
    assert classes == [0, 0, 1, 1, 2]


def test_the_setting_classifies_all_integers(monkeypatch):
    monkeypatch.setenv("TRITON_AUTOTUNE_KEY_CLASS", "pow2")
    tuner = triton.autotune(configs(1, 2), ["n"])(kernel())
    x, out = data(4096)
    for n in (3000, 4000):
        tuner[grid](x, out, n)
    assert len(tuner.cache) == 1


def test_a_class_that_raises_is_named():
    def halves(value):
        return value[0]

    tuner = triton.autotune(configs(1, 2), ["n"], key_class={"n": halves})(kernel())
    x, out = data(64)
    message = "scale: the key class `.*halves` of parameter `n` fails for 64: TypeError"
    with pytest.raises(AutotunerError, match=message):
        tuner[grid](x, out, 64)


def test_a_class_without_a_hash_is_named():
    tuner = triton.autotune(configs(1, 2), ["n"], key_class={"n": lambda value: [value]})(kernel())
    x, out = data(64)
    with pytest.raises(AutotunerError, match="of parameter `n` fails for 64: .*unhashable"):
        tuner[grid](x, out, 64)


def test_a_class_of_an_unknown_name_is_an_error():
    with pytest.raises(ValueError, match="key_class names `N`, which is not in key="):
        triton.autotune(configs(1), ["n"], key_class={"N": triton.pow2_class})(kernel())
    with pytest.raises(TypeError, match="key_class of `n` must be a function"):
        triton.autotune(configs(1), ["n"], key_class={"n": 2})(kernel())


# --- what is shown ---


def test_the_table_names_every_configuration():
    tuner = tune(configs(1, 400) + configs(1, block=64, num_warps=8))
    text = str(tuner.report())
    assert "scale, key (65536, 'float32', 'float32'): " in text.splitlines()[0]
    assert "REPEAT=1, BLOCK=64, num_warps=8" in text and "best" in text
    page = tuner._repr_html_()
    assert page.count("<tr>") == 1 + 3 + 2 and "REPEAT=400" in page


def test_there_is_no_table_before_a_tuning():
    tuner = triton.autotune(configs(1, 2), ["n"])(kernel())
    assert tuner.report() is None and "2 configurations, 0 keys" in repr(tuner)
    assert "<p>" in tuner._repr_html_()


def test_printing_shows_the_table(monkeypatch, capsys):
    monkeypatch.setenv("TRITON_PRINT_AUTOTUNING", "1")
    tune(configs(1, 400))
    shown = capsys.readouterr().out
    assert "best config selected: REPEAT: " in shown and "REPEAT=400" in shown


def test_the_text_of_a_configuration():
    assert repr(triton.Config({"A": 1})).startswith("Config(A: 1, num_warps: 4")
