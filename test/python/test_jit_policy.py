"""TRITON_JIT: where a kernel would be compiled, and what is said of it."""
# SPDX-License-Identifier: MIT

import inspect
import warnings

import numpy as np
import pytest
import triton
import triton.language as tl
from triton import knobs
from triton._C import libtriton
from triton.runtime.errors import JitForbidden, JitWarning
from triton.runtime.variants import jit_policy, known_variants


@triton.jit
def scale(x_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * factor, mask=mask)


FIRST_LINE = inspect.getsourcelines(scale.fn)[1]


@pytest.fixture(autouse=True)
def policy(own_cache, cpu_is_active):
    scale.device_caches.clear()
    with knobs.runtime.scope():
        yield knobs.runtime


def launch(n=64, offset=0, block=64, factor=2.0, **options):
    x = np.ones(256, np.float32)[offset:]
    kernel = scale[(1,)](x, n, factor, BLOCK=block, **options)
    assert (x[:n] == factor).all()
    return kernel


def refused(**arguments):
    with pytest.raises(JitForbidden) as caught:
        launch(**arguments)
    return str(caught.value)


def test_the_default_compiles_silently():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        launch()


def test_a_first_variant_is_refused_with_all_its_arguments(policy):
    policy.jit = "forbid"
    text = refused(n=63, num_warps=8)
    assert f"{__file__}:" in text and f"`scale` ({__file__}:{FIRST_LINE})" in text
    for line in ("x_ptr: *fp32, a multiple of 16", "n: i32", "factor: fp32", "BLOCK: 64"):
        assert f"  {line}\n" in text
    assert "  option num_warps: 8\n" in text and "No variant of it is known" in text


def test_the_call_is_named(policy):
    policy.jit = "forbid"
    line = inspect.getsourcelines(launch)[1] + 2
    assert refused().startswith(f"{__file__}:{line}: ")


@pytest.mark.parametrize(
    "arguments, difference",
    [
        ({"n": 63}, "n: i32; known: i32, a multiple of 16"),
        ({"n": 1}, "n: 1; known: i32, a multiple of 16"),
        ({"offset": 1}, "x_ptr: *fp32; known: *fp32, a multiple of 16"),
        ({"block": 128}, "BLOCK: 128; known: 64"),
        ({"num_warps": 8}, "option num_warps: 8; known: 4"),
    ],
)
def test_only_what_differs_from_the_known_variant_is_named(policy, arguments, difference):
    launch()
    policy.jit = "forbid"
    lines = refused(**arguments).splitlines()
    assert [line for line in lines if line.startswith("  ")] == [f"  {difference}"]


def test_the_nearest_variant_is_compared(policy):
    launch()
    launch(n=63, block=128, num_warps=8)
    policy.jit = "forbid"
    assert "  BLOCK: 64; known: 128\n2 variants" in refused(n=63, num_warps=8)


def test_a_refused_launch_has_no_effect(policy):
    policy.jit = "forbid"
    x = np.ones(64, np.float32)
    with pytest.raises(JitForbidden):
        scale[(1,)](x, 64, 2.0, BLOCK=64)
    assert (x == 1).all()
    policy.jit = "allow"
    scale[(1,)](x, 64, 2.0, BLOCK=64)
    assert (x == 2).all()


def test_a_kernel_in_memory_is_launched(policy):
    launch()
    policy.jit = "forbid"
    launch()


def test_a_kernel_on_disk_is_launched(policy):
    launch()
    scale.device_caches.clear()
    policy.jit = "forbid"
    assert launch()._code.cache_hit


def test_always_compiling_is_forbidden_too(policy):
    launch()
    scale.device_caches.clear()
    policy.jit = "forbid"
    with knobs.compilation.scope():
        knobs.compilation.always_compile = True
        refused()


def test_a_warning_is_at_the_call(policy):
    policy.jit = "warn"
    with pytest.warns(JitWarning, match="`scale`.* is in no cache") as caught:
        launch()
    (warning,) = caught
    assert warning.filename == __file__
    assert warning.lineno == inspect.getsourcelines(launch)[1] + 2


def test_each_variant_is_warned_of(policy):
    policy.jit = "warn"
    with pytest.warns(JitWarning) as caught:
        for n in (64, 63, 1, 64, 63, 1):
            launch(n=n)
    assert len(caught) == 3


def test_a_compilation_by_hand_is_refused(policy):
    policy.jit = "forbid"
    source = triton.compiler.ASTSource(
        scale, {"x_ptr": "*fp16", "n": "i32", "factor": "fp32"}, {"BLOCK": 32}
    )
    with pytest.raises(JitForbidden, match=r"x_ptr: \*fp16\n"):
        triton.compile(source)


def test_a_file_of_ir_is_refused(policy, tmp_path):
    kernel = launch()
    path = tmp_path / "scale.ttir"
    path.write_text(kernel.asm["ttir"])
    policy.jit = "forbid"
    with pytest.raises(JitForbidden, match=r"@scale of .*scale.ttir is in no cache"):
        triton.compile(str(path))


def test_a_kernel_in_the_users_cache_is_launched(policy, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "triton.runtime.cache:FileCacheManager")
    launch()
    scale.device_caches.clear()
    policy.jit = "forbid"
    launch()
    refused(n=63)


def test_an_unknown_policy_is_refused(policy, monkeypatch):
    monkeypatch.setenv("TRITON_JIT", "never")
    with pytest.raises(
        ValueError, match="TRITON_JIT is 'never'; it must be allow or warn or forbi"
    ):
        launch()


def test_what_is_refused_is_recorded(policy, tmp_path):
    policy.jit, policy.record = "forbid", str(tmp_path / "missing.jsonl")
    refused()
    assert len((tmp_path / "missing.jsonl").read_text().splitlines()) == 1


def tuner():
    configs = [triton.Config({"BLOCK": block}) for block in (32, 64)]
    return triton.autotune(configs, key=["n"])(scale)


def test_tuning_is_refused_with_its_key(policy):
    policy.jit = "forbid"
    kernel = tuner()
    with pytest.raises(JitForbidden, match=r"`scale`.* would be tuned for n=7 .*2 configurations"):
        jit_policy.check_tuning(kernel, (7, "float32"), kernel.configs)


def test_tuning_is_warned_of(policy):
    policy.jit = "warn"
    kernel = tuner()
    with pytest.warns(JitWarning, match=r"`scale`.* would be tuned for n=7"):
        jit_policy.check_tuning(kernel, (7, "float32"), kernel.configs)


def test_an_autotuned_launch_is_refused_before_anything_is_timed(policy):
    policy.jit = "forbid"
    with pytest.raises(JitForbidden, match="would be tuned for n=64 "):
        tuner()[(1,)](np.ones(64, np.float32), 64, 2.0)


def test_a_decision_in_memory_is_used(policy):
    kernel = tuner()
    x = np.ones(64, np.float32)
    kernel[(1,)](x, 64, 2.0)
    policy.jit = "forbid"
    kernel[(1,)](x, 64, 2.0)


def test_compilations_on_threads_name_the_call(policy):
    policy.jit = "warn"
    domain = {"x_ptr": np.float32, "n": 2, "factor": float, "BLOCK": [16, 32]}
    with pytest.warns(JitWarning) as caught:
        scale.compile_all(domain)
    line = inspect.currentframe().f_lineno - 1
    assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, line)] * 2


def in_a_new_process():
    libtriton.flush_cache()
    scale.device_caches.clear()


def test_variants_on_disk_are_compared_where_memory_has_none(policy, own_cache):
    launch(n=63, offset=1)
    launch(n=1, block=128, num_warps=8)
    in_a_new_process()
    policy.jit = "forbid"
    text = refused(n=2, offset=1, block=128)
    assert "  BLOCK: 128; known: 64\n" in text and f"2 variants are in {own_cache}" in text
    assert "num_warps" not in text and "x_ptr" not in text
    text = refused(n=1, block=128)
    assert [line for line in text.splitlines() if line.startswith("  ")] == [
        "  option num_warps: 4; known: 8"
    ]


def test_variants_on_disk_for_another_target_are_not_compared(policy):
    domain = {"x_ptr": np.float32, "n": 2, "factor": float, "BLOCK": 16}
    scale.compile_all(domain, target="cuda:80")
    in_a_new_process()
    policy.jit = "forbid"
    assert "No variant of it is known here" in refused()


def test_a_damaged_cache_folder_is_no_reason_to_fail(policy, own_cache):
    launch()
    in_a_new_process()
    for path in own_cache.glob("??/*.nereid"):
        path.write_bytes(path.read_bytes()[:100])
    policy.jit = "forbid"
    assert "No variant of it is known here" in refused(n=1)


@pytest.mark.parametrize(
    "signature, words",
    [
        ("", []),
        ("*fp32:16, i32,1", ["*fp32:16", "i32", "1"]),
        ("(1, (i32:16, *i8)), None", ["(1, (i32:16, *i8))", "None"]),
        ("tensordesc<fp16[16, 32]>, 2", ["tensordesc<fp16[16, 32]>", "2"]),
        ("constexpr<\"(1,'a,)',)\">, i64", ["constexpr<\"(1,'a,)',)\">", "i64"]),
    ],
)
def test_words_of_a_signature(signature, words):
    assert known_variants.split_words(signature) == words


@pytest.mark.parametrize(
    "word, text",
    [
        ("*fp32:16", "*fp32, a multiple of 16"),
        ("*fp32:16:S", "*fp32, a multiple of 16, within 2 GiB"),
        ("(1, i32:16)", "(1, i32, a multiple of 16)"),
        ("i32", "i32"),
        ("64", "64"),
        ('constexpr<"dtype x:y">', "dtype x:y"),
    ],
)
def test_words_are_described(word, text):
    assert known_variants.described(word) == text
