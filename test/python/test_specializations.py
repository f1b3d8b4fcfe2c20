"""The variants that a domain reaches, against those that launches over the whole domain compile."""
# SPDX-License-Identifier: MIT

import itertools
import subprocess
import sys
from collections import namedtuple

import numpy as np
import pytest
import triton
import triton.language as tl
from _simulators import simulators
from triton import knobs
from triton.backends import GPUTarget
from triton.runtime.errors import CompileAllError, JitForbidden
from triton.tools.tensor_descriptor import TensorDescriptor

Pair = namedtuple("Pair", "first second")


@triton.jit
def double(value):
    return value * 2


@triton.jit
def negated(value):
    return -value


@triton.jit
def plain(x_ptr, n, factor, BLOCK: tl.constexpr, OP: tl.constexpr = None):
    offsets = tl.arange(0, BLOCK)
    if x_ptr is not None:
        tl.store(x_ptr + offsets, factor, mask=offsets < n)


@triton.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=["x_ptr"])
def unspecialized(x_ptr, n, m: tl.int64, flag: tl.constexpr = True):
    tl.store(x_ptr, n + m)


@triton.jit
def sum_of(out_ptr, pair):
    tl.store(out_ptr, pair[0] + pair[1])


@triton.jit
def of_descriptor(desc):
    desc.store([0, 0], desc.load([0, 0]))


@triton.jit
def variadic(out_ptr, *rest):
    tl.store(out_ptr, 1)


KERNELS = (plain, unspecialized, sum_of, of_descriptor, variadic)


@pytest.fixture(autouse=True)
def fresh(own_cache, cpu_is_active):
    for kernel in KERNELS:
        kernel.device_caches.clear()


def array(dtype, address):
    """An array whose address has that remainder modulo 16."""
    memory = np.zeros(512, np.uint8)
    offset = -memory.__array_interface__["data"][0] % 16 + address
    return memory[offset : offset + 256].view(dtype)


def launched(kernel, values, **options):
    """The keys of the kernels after a launch for each combination of real arguments."""
    for chosen in itertools.product(*values.values()):
        kernel[(1,)](**dict(zip(values, chosen, strict=True)), **options)
    return set(kernel.device_caches["cpu"][0])


def listed(kernel, domain, **options):
    variants = kernel.specializations(domain, **options)
    keys = {variant.key for variant in variants}
    assert len(keys) == len(variants)
    return keys


def test_dtypes_alignments_integers_and_constants():
    values = {
        "x_ptr": [array(dtype, at) for dtype in (np.float32, np.float16) for at in (0, 4)],
        "n": range(1, 40),
        "factor": [0.5],
        "BLOCK": [16, 32],
    }
    domain = {
        "x_ptr": triton.pointer([np.float32, "fp16"], aligned=[True, False]),
        "n": range(1, 40),
        "factor": float,
        "BLOCK": [16, 32],
    }
    expected = launched(plain, values)
    assert listed(plain, domain) == expected and len(expected) == 24


def test_a_dtype_is_aligned_tensors():
    expected = launched(
        plain, {"x_ptr": [array(np.int8, 0)], "n": [3], "factor": [1], "BLOCK": [16]}
    )
    assert listed(plain, {"x_ptr": np.int8, "n": 3, "factor": 1, "BLOCK": 16}) == expected


@pytest.mark.parametrize(
    "dtype", [np.float32, np.dtype("float32"), tl.float32, tl.pointer_type(tl.float32)], ids=repr
)
def test_dtypes_of_each_library(dtype):
    (variant,) = plain.specializations({"x_ptr": dtype, "n": 3, "factor": 1, "BLOCK": 16})
    assert variant.signature["x_ptr"] == "*fp32"


def test_dtypes_of_torch():
    torch = pytest.importorskip("torch")
    (variant,) = plain.specializations({"x_ptr": torch.bfloat16, "n": 3, "factor": 1, "BLOCK": 16})
    assert variant.signature["x_ptr"] == "*bf16"


def test_none_bools_and_kinds_of_numbers():
    numbers = [True, 2.5, 2**40, 2**40 + 1, 2**63, 16, 1]
    values = {"x_ptr": [None, array(np.float32, 0)], "n": [3], "factor": numbers, "BLOCK": [16]}
    domain = {"x_ptr": [None, np.float32], "n": 3, "factor": [bool, float, *numbers], "BLOCK": 16}
    expected = launched(plain, values)
    assert listed(plain, domain) == expected and len(expected) == 14


def test_the_class_int_is_all_of_64_bits():
    numbers = [1, 2, 16, 2**40, 2**40 + 1]
    values = {"x_ptr": [None], "n": numbers, "factor": [1.0], "BLOCK": [16]}
    domain = {"x_ptr": None, "n": int, "factor": float, "BLOCK": 16}
    assert listed(plain, domain) == launched(plain, values)


def test_what_is_not_specialized_has_fewer_classes():
    values = {
        "x_ptr": [array(np.int64, 0), array(np.int64, 8)],
        "n": [1, 2, 16, 2**40],
        "m": [1, 2, 16],
        "flag": [True, False],
    }
    domain = {
        "x_ptr": triton.pointer(np.int64, aligned=[True, False]),
        "n": int,
        "m": range(1, 17),
        "flag": [True, False],
    }
    expected = launched(unspecialized, values)
    assert listed(unspecialized, domain) == expected and len(expected) == 12


def test_a_parameter_that_is_left_out_has_its_default():
    domain = {"x_ptr": np.int64, "n": 2, "m": 2}
    expected = launched(unspecialized, {"x_ptr": [array(np.int64, 0)], "n": [2], "m": [2]})
    assert listed(unspecialized, domain) == expected


def test_functions_are_constants():
    values = {
        "x_ptr": [None],
        "n": [2],
        "factor": [1.0],
        "BLOCK": [16],
        "OP": [None, double, negated],
    }
    expected = launched(plain, values)
    assert listed(plain, {**values, "factor": float}) == expected and len(expected) == 3


def test_tuples():
    pairs = itertools.product((1, 3, 16), (2.5, 3))
    expected = launched(sum_of, {"out_ptr": [array(np.float32, 0)], "pair": list(pairs)})
    assert listed(sum_of, {"out_ptr": np.float32, "pair": (int, [float, 3])}) > expected
    domain = {"out_ptr": np.float32, "pair": (range(1, 33), [float, 3])}
    assert listed(sum_of, domain) == expected and len(expected) == 6


def test_named_tuples_keep_their_class():
    pairs = [Pair(1, 3), (1, 3), Pair(2, 3)]
    expected = launched(sum_of, {"out_ptr": [array(np.float32, 0)], "pair": pairs})
    domain = {"out_ptr": np.float32, "pair": [Pair(range(1, 3), 3), (1, 3)]}
    assert listed(sum_of, domain) == expected and len(expected) == 3


def test_variadic_parameters():
    out = array(np.float32, 0)
    for rest in ((), (1,), (2,)):
        variadic[(1,)](out, *rest)
    expected = set(variadic.device_caches["cpu"][0])
    assert listed(variadic, {"out_ptr": np.float32, "rest": [(), ([1, 2],)]}) == expected


def test_descriptors():
    tensor = array(np.float32, 0)[:64].reshape(4, 16)
    descriptors = [TensorDescriptor.from_tensor(tensor, [4, width]) for width in (8, 16)]
    expected = launched(of_descriptor, {"desc": descriptors})
    shapes = [triton.descriptor("fp32", [4, width]) for width in (8, 16)]
    assert listed(of_descriptor, {"desc": shapes}) == expected and len(expected) == 2
    assert listed(of_descriptor, {"desc": descriptors}) == expected


def test_options_have_possibilities():
    values = {"x_ptr": [None], "n": [2], "factor": [1.0], "BLOCK": [16]}
    launched(plain, values, num_warps=2, num_stages=1)
    expected = launched(plain, values, num_stages=1, num_warps=4)
    assert listed(plain, {**values, "num_warps": [2, 4]}, num_stages=1) == expected
    assert len(expected) == 2


def test_several_domains():
    domains = [
        {"x_ptr": None, "n": n, "factor": 1.0, "BLOCK": block} for n, block in ((2, 16), (16, 32))
    ]
    values = {"x_ptr": [None], "factor": [1.0]}
    launched(plain, {**values, "n": [2], "BLOCK": [16]})
    expected = launched(plain, {**values, "n": [16], "BLOCK": [32]})
    assert listed(plain, domains) == expected and len(expected) == 2


# --- Decorated kernels


def test_autotuned_kernels_have_the_variants_of_each_configuration():
    configs = [
        triton.Config({"BLOCK": block}, num_warps=warps) for block in (16, 32) for warps in (1, 2)
    ]
    tuned = triton.autotune(configs, key=["n"])(plain)
    for config in configs:
        alone = triton.autotune([config], key=[])(plain)
        for n in (1, 2, 16):
            alone[(1,)](array(np.float32, 0), n, 0.5)
    expected = set(plain.device_caches["cpu"][0])
    assert listed(tuned, {"x_ptr": np.float32, "n": range(1, 17), "factor": float}) == expected
    assert len(expected) == 12


def test_heuristics_are_computed_for_each_value():
    even = triton.heuristics(
        {
            "BLOCK": lambda args: triton.next_power_of_2(args["n"]),
            "OP": lambda args: args["BLOCK"] > 4,
        }
    )(plain)
    for n in range(1, 65):
        even[(1,)](array(np.float32, 0), n, 0.5)
    expected = set(plain.device_caches["cpu"][0])
    assert listed(even, {"x_ptr": np.float32, "n": range(1, 65), "factor": float}) == expected


def test_heuristics_of_configurations():
    configs = [triton.Config({"BLOCK": block}) for block in (16, 64)]
    fits = triton.heuristics({"OP": lambda args: args["n"] % args["BLOCK"] == 0})(plain)
    tuned = triton.autotune(configs, key=["n"])(fits)
    for config, n in itertools.product(configs, range(1, 130)):
        triton.autotune([config], key=[])(fits)[(1,)](array(np.float32, 0), n, 0.5)
    expected = set(plain.device_caches["cpu"][0])
    assert listed(tuned, {"x_ptr": np.float32, "n": range(1, 130), "factor": float}) == expected


def test_results_of_a_heuristic_may_be_listed():
    def unknown(args):
        raise AssertionError

    fits = triton.heuristics({"OP": unknown})(plain)
    domain = {"x_ptr": None, "n": 2, "factor": float, "BLOCK": 16}
    with pytest.raises(ValueError, match=r"heuristic `OP` of plain .*domain\['OP'\] = \[...\]"):
        fits.specializations(domain)
    assert len(fits.specializations({**domain, "OP": [True, False]})) == 2


# --- Bad domains


DOMAIN = {"x_ptr": None, "n": 2, "factor": 1.0, "BLOCK": 16}


@pytest.mark.parametrize(
    "change, error, text",
    [
        ({"blok": 1}, KeyError, "neither a parameter nor an option `blok`"),
        ({"x_ptr": "fp16"}, TypeError, r"'fp16' is a text; a tensor is a dtype"),
        ({"x_ptr": object()}, TypeError, "argument `x_ptr` of plain"),
        ({"n": 2**64}, OverflowError, "does not fit in 64 bits"),
        ({"n": range(2**64)}, ValueError, "exceeds 64 bits"),
        ({"n": []}, ValueError, "gives `n` no value"),
        ({"n": range(0)}, ValueError, "gives `n` no value"),
        ({"BLOCK": range(100000)}, ValueError, "100000 values, each a constant"),
        ({"n": int, "BLOCK": range(4096), "num_warps": 3}, AssertionError, "power of 2, got 3"),
        ({"x_ptr": [np.int8] * 9, "n": int, "OP": list(range(9999)), "BLOCK": [1, 2]}, ValueError, "variants"),
    ],
)  # fmt: skip
def test_bad_domains_are_named(change, error, text):
    with pytest.raises(error, match=text):
        plain.specializations({**DOMAIN, **change})


def test_a_missing_parameter_is_named():
    with pytest.raises(TypeError, match="the domain of plain lacks `n`, `BLOCK`"):
        plain.specializations({"x_ptr": None, "factor": 1})


@pytest.mark.parametrize("domain", [3, [3], "n"])
def test_what_is_no_domain(domain):
    with pytest.raises(TypeError):
        plain.specializations(domain)


@pytest.mark.parametrize("dtype", ["fp17", object(), None, int])
def test_what_is_no_dtype(dtype):
    with pytest.raises(TypeError, match="is no dtype"):
        triton.pointer(dtype)


def test_alignments_are_flags():
    with pytest.raises(TypeError, match="`aligned` must be True, False or a list"):
        triton.pointer("fp16", aligned=16)


def test_a_configuration_conflicts_with_the_domain():
    tuned = triton.autotune([triton.Config({"BLOCK": 16})], key=[])(plain)
    with pytest.raises(ValueError, match="names BLOCK, which its configurations give"):
        tuned.specializations(DOMAIN)


def test_heuristics_over_too_many_values():
    fits = triton.heuristics({"OP": lambda args: args["n"] > 4})(plain)
    with pytest.raises(ValueError, match="the heuristics of plain read the values of n"):
        fits.specializations({**DOMAIN, "n": int})


# --- compile_all


def test_launches_after_compile_all_compile_nothing():
    domain = {
        "x_ptr": [None, triton.pointer(np.float32, aligned=[True, False])],
        "n": range(1, 40),
        "factor": float,
        "BLOCK": [16, 32],
    }
    kernels = plain.compile_all(domain)
    assert len(kernels) == 18 and len({kernel.hash for kernel in kernels}) == 18
    arrays = [None, array(np.float32, 0), array(np.float32, 4)]
    with knobs.runtime.scope(), knobs.cache.scope():
        knobs.runtime.jit = "forbid"
        knobs.cache.dir = knobs.cache.dir + "-absent"  # what the process knows is enough
        launched(plain, {"x_ptr": arrays, "n": range(1, 40), "factor": [0.5], "BLOCK": [16, 32]})


PROGRAM = """
import sys
import numpy as np
import triton
import triton.language as tl

@triton.jit
def fill(x_ptr, n, VALUE: tl.constexpr):
    tl.store(x_ptr, VALUE + n)

if sys.argv[1] == "build":
    fill.compile_all({"x_ptr": np.int32, "n": range(64), "VALUE": [3, 4]})
else:
    for n in range(64):
        fill[(1,)](np.zeros(64, np.int32), n, 4)
"""


def test_another_process_finds_the_kernels_on_disk(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with knobs.runtime.scope():
        knobs.runtime.device = "cpu"
        subprocess.run([sys.executable, str(program), "build"], check=True, timeout=120)
        knobs.runtime.jit = "forbid"
        subprocess.run([sys.executable, str(program), "launch"], check=True, timeout=120)


simulator = simulators("sim:80", "sim:gfx942")


def test_on_simulated_gpus(simulator):
    values = {
        "x_ptr": [None, array(np.float32, 0), array(np.float32, 4)],
        "n": range(1, 18),
        "factor": [0.5],
        "BLOCK": [32],
    }
    for chosen in itertools.product(*values.values()):
        plain[(1,)](**dict(zip(values, chosen, strict=True)))
    (caches,) = [caches for caches in plain.device_caches.values() if caches[0]]
    expected = set(caches[0])
    pointer = triton.pointer("fp32", aligned=[True, False])
    domain = {**DOMAIN, "x_ptr": [None, pointer], "n": range(1, 18), "factor": float, "BLOCK": 32}
    assert listed(plain, domain) == expected and len(expected) == 9
    plain.device_caches.clear()
    plain.compile_all(domain)
    with knobs.runtime.scope():
        knobs.runtime.jit = "forbid"
        for chosen in itertools.product(*values.values()):
            plain[(1,)](**dict(zip(values, chosen, strict=True)))


@pytest.mark.parametrize("target", ["cuda:90", GPUTarget("cuda", 90, 32), "hip:gfx942"])
def test_another_target(target):
    (kernel,) = plain.compile_all({**DOMAIN, "x_ptr": np.float16}, target=target, num_warps=2)
    assert kernel.metadata.target.backend in str(target) and kernel.metadata.num_warps == 2
    assert not plain.device_caches["cpu"][0]


def test_another_target_needs_no_launch_before():
    @triton.jit
    def unused(x_ptr):
        tl.store(x_ptr, 1)

    (kernel,) = unused.compile_all({"x_ptr": np.int8}, target="cuda:80")
    assert kernel.metadata.target == GPUTarget("cuda", 80, 32)


def test_sizes_of_storage_are_classes_on_amd_gpus():
    pointer = triton.pointer(np.float16, within_2gib=[True, False])
    domain = {**DOMAIN, "x_ptr": pointer}
    counts = {
        target: len(plain.specializations(domain, target=target))
        for target in ("cpu", "cuda:80", "hip:gfx942")
    }
    assert counts == {"cpu": 1, "cuda:80": 1, "hip:gfx942": 2}


@pytest.mark.parametrize("target", ["cud:90", "cuda", "", 90, "hip"])
def test_unknown_targets(target):
    with pytest.raises((ValueError, TypeError), match="target"):
        plain.specializations(DOMAIN, target=target)


@triton.jit
def refuses(x_ptr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK != 32, "not 32")
    tl.store(x_ptr + tl.arange(0, BLOCK), 0)


def test_variants_that_fail_are_named_and_the_others_compiled():
    with pytest.raises(CompileAllError) as caught:
        refuses.compile_all({"x_ptr": np.int8, "BLOCK": [16, 32, 64]})
    error = caught.value
    assert len(error.kernels) == 2
    ((variant, cause),) = error.failures
    assert variant.constants[(1,)] == 32 and "not 32" in str(cause) and error.__cause__ is cause
    assert str(error).startswith("1 of 3 variants could not be compiled:\n  refuses(")
    refuses[(1,)](np.zeros(64, np.int8), BLOCK=64)


def test_compile_all_is_refused_under_forbid():
    with knobs.runtime.scope():
        knobs.runtime.jit = "forbid"
        with pytest.raises(CompileAllError) as caught:
            plain.compile_all({**DOMAIN, "BLOCK": [16, 32]})
    assert [type(error) for _, error in caught.value.failures] == [JitForbidden] * 2


def test_hooks_may_prevent_a_compilation():
    with knobs.runtime.scope():
        knobs.runtime.jit_cache_hook = lambda **info: info["compile"]["constants"]["BLOCK"] == 16
        kernels = plain.compile_all({**DOMAIN, "BLOCK": [16, 32]})
    assert len(kernels) == 1


def test_inside_another_asynchronous_compilation():
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as executor, triton.AsyncCompileMode(executor):
        kernels = plain.compile_all({**DOMAIN, "BLOCK": [16, 32]})
    assert [kernel.name for kernel in kernels] == ["plain", "plain"]


def test_nothing_is_compiled_for_the_interpreter(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    interpreted = triton.jit(plain.fn)
    assert interpreted.specializations(DOMAIN) == [] and interpreted.compile_all(DOMAIN) == []


def test_a_bar_counts_the_variants(monkeypatch, capsys):
    monkeypatch.setattr("triton.runtime.variants.compile_all._PATIENCE", 0.0)
    monkeypatch.setenv("TRITON_PROGRESS", "on")
    plain.compile_all({**DOMAIN, "BLOCK": [2**power for power in range(10)]}, workers=1)
    shown = capsys.readouterr().err
    assert "triton: compiling plain, " in shown and " of 10 variants" in shown
