"""The names that other packages and kernels look for exist; names that would imply features that we
lack do not.
"""
# SPDX-License-Identifier: MIT

import importlib
import inspect
import pickle
import subprocess
import sys

import pytest
import triton
import triton.language as tl

NAMES = {
    "triton": "Config JITFunction KernelInterface autotune heuristics jit cdiv next_power_of_2 "
    "compile set_allocator knobs __version__ constexpr_function CompilationError TritonError "
    "OutOfResources InterpreterError "
    "MockTensor TensorWrapper "
    "reinterpret AsyncCompileMode FutureKernel must_use_result language sanitizer testing tools runtime "
    "compiler backends errors",
    "triton._C.libtriton": "ir native_specialize_impl",
    "triton._C.libtriton.ir": "context load_dialects",
    "triton._utils": "find_paths_if get_iterable_path",
    "triton.backends": "backends BaseBackend",
    "triton.backends.compiler": "GPUTarget BaseBackend",
    "triton.compiler": "CompiledKernel ASTSource CompilationError",
    "triton.compiler.compiler": "ASTSource make_backend CompiledKernel triton_key",
    "triton.compiler.errors": (
        "CompilationError CompileTimeAssertionFailure UnsupportedLanguageConstruct"
    ),
    "triton.language": "constexpr dtype tensor core math extra load store arange program_id "
    "num_programs full zeros where exp sum max min reduce range static_range float32 bfloat16 "
    "int1 pointer_type block_type const",
    "triton.language.core": (
        "dtype view get_int_dtype _unwrap_if_constexpr builtin constexpr tensor load"
    ),
    "triton.language.math": "exp exp2 log log2 sqrt rsqrt sin cos erf abs fma floor ceil",
    "triton.language.extra": "libdevice",
    "triton.language.standard": "_log2 sum max",
    "triton.runtime": "driver",
    "triton.runtime.driver": "driver",
    "triton.runtime.autotuner": "Autotuner Config Heuristics OutOfResources PTXASError autotune",
    "triton.runtime.cache": "knobs triton_key _base32 get_cache_manager FileCacheManager",
    "triton.runtime.errors": "OutOfResources PTXASError AutotunerError InterpreterError",
    "triton.runtime.interpreter": "InterpretedFunction",
    "triton.runtime.jit": (
        "JITFunction KernelInterface ConstexprFunction native_specialize_impl mangle_type "
        "get_device_key"
    ),
    "triton.testing": (
        "do_bench get_dram_gbps get_max_simd_tflops get_max_tensorcore_tflops nvsmi Benchmark "
        "perf_report assert_close"
    ),
    "triton.tools.tensor_descriptor": "TensorDescriptor",
}


def module_at(path):
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:  # `libtriton.ir` is an attribute
        parent, _, name = path.rpartition(".")
        return getattr(module_at(parent), name)


@pytest.mark.parametrize("path", NAMES)
def test_names_exist(path):
    module = module_at(path)
    missing = [name for name in NAMES[path].split() if not hasattr(module, name)]
    assert not missing, f"{path} lacks {missing}"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("triton.backends.compiler", "AttrsDescriptor"),  # selects an old protocol in torch
        ("triton.compiler.compiler", "AttrsDescriptor"),
        ("triton.runtime.jit", "create_specialize_impl"),
        ("triton.language", "no_such_function"),
    ],
)
def test_names_that_must_be_absent(path, name):
    assert not hasattr(importlib.import_module(path), name)


def test_import_takes_no_module_that_it_can_do_without():
    """These take longer to import than the whole package; they are imported at first use."""
    heavy = "ast concurrent.futures dataclasses hashlib inspect json logging numpy tempfile torch"
    script = (
        "import sys; before = set(sys.modules); import triton; "
        f"print(sorted(set({heavy!r}.split()) & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_modules_are_imported_at_first_use():
    text = (
        "import triton\nassert triton.sanitizer.mark_unwritten and triton.testing and triton.tools"
    )
    subprocess.run([sys.executable, "-c", text], check=True)


def test_records_are_values():
    target = triton.backends.compiler.GPUTarget("cuda", 90, warp_size=32)
    same = triton.backends.compiler.GPUTarget(backend="cuda", arch=90, warp_size=32)
    assert target == same and hash(target) == hash(same) and {target: 1}[same] == 1
    assert target != triton.backends.compiler.GPUTarget("cuda", 80, 32) and target != ("cuda", 90)
    assert repr(target) == "GPUTarget(backend='cuda', arch=90, warp_size=32)"
    assert vars(pickle.loads(pickle.dumps(target))) == vars(target)
    with pytest.raises(AttributeError, match="cannot assign to field 'arch'"):
        target.arch = 80
    with pytest.raises(TypeError, match="GPUTarget\\(\\) is missing the argument 'warp_size'"):
        triton.backends.compiler.GPUTarget("cuda", 90)
    with pytest.raises(TypeError, match="takes 3 arguments, 4 given"):
        triton.backends.compiler.GPUTarget("cuda", 90, 32, 1)
    for wrong in ({"arch": 80}, {"colour": 1}):
        with pytest.raises(TypeError, match="got an unexpected argument"):
            triton.backends.compiler.GPUTarget("cuda", 90, 32, **wrong)


def test_functions_of_the_package_read_their_text_when_it_is_asked_for():
    script = (
        "import sys; had = 'inspect' in sys.modules; "  # a start-up file of the site may import it
        "import triton; assert ('inspect' in sys.modules) == had; "
        "assert triton.cdiv(7, 2) == 4; assert ('inspect' in sys.modules) == had; "
        "assert triton.cdiv.src.startswith('def cdiv(x, y):'); import inspect; "
        "assert str(inspect.signature(triton.cdiv)) == '(x, y)'; "
        "assert len(triton.next_power_of_2.cache_key) == 64; "
        "assert not hasattr(triton.cdiv, 'colour')"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_version_compares_as_torch_compares_it():
    major, minor = (int(part) for part in triton.__version__.split(".")[:2])
    assert (major, minor) >= (3, 6)
    assert not triton.__version__ < "3.2.0"  # as strings


def test_driver_is_an_object_and_a_module():
    from triton.runtime.driver import driver

    assert triton.runtime.driver is driver
    assert driver.active is driver.active
    assert driver.active.get_current_target().backend in ("cpu", "cuda", "hip")


def test_driver_is_lazy_and_can_be_loaded_again():
    script = (
        "import importlib, sys, triton\n"
        "importlib.reload(sys.modules['triton.runtime.driver'])\n"
        "driver = importlib.reload(sys.modules['triton.runtime']).driver\n"
        "assert driver._active is None and driver._default is None\n"
        "assert isinstance(driver.active, triton.backends.driver.DriverBase)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_cpu_is_a_backend():
    backend = triton.backends.backends["cpu"]
    assert backend.driver.is_active()
    made = triton.compiler.make_backend(triton.backends.compiler.GPUTarget("cpu", "", 32))
    assert isinstance(made, backend.compiler)
    assert made.parse_options({"num_warps": 8, "no_such_option": 1}).num_warps == 8
    assert isinstance(made.hash(), str)


def test_unknown_target_is_an_error():
    with pytest.raises(RuntimeError, match="0 compatible backends for target \\(tpu\\)"):
        triton.compiler.make_backend(triton.backends.compiler.GPUTarget("tpu", "", 1))
    with pytest.raises(RuntimeError, match="only be one.; did you mean `cuda`"):
        triton.compiler.make_backend(triton.backends.compiler.GPUTarget("cdua", 90, 32))


@pytest.mark.parametrize("index", [None, 0])
def test_device_properties_are_positive(index):
    driver = triton.backends.backends["cpu"].driver()
    properties = driver.utils.get_device_properties(index)
    for name in (
        "multiprocessor_count",
        "max_num_regs",
        "max_shared_mem",
        "warpSize",
        "max_threads_per_sm",
    ):
        assert isinstance(properties[name], int) and properties[name] > 0, name


def test_builtins_have_signatures():
    signature = inspect.signature(tl.load)
    assert next(iter(signature.parameters)) == "pointer" or len(signature.parameters) > 2
    assert signature.parameters["mask"].default is None
    assert signature.parameters["_semantic"].default is None
    assert "_semantic" in inspect.signature(tl.core.view).parameters


def test_builtins_resolve_by_module_and_name():
    for function in (tl.load, tl.sum, tl.exp):
        assert getattr(importlib.import_module(function.__module__), function.__name__) is function
        assert pickle.loads(pickle.dumps(function)) is function
        assert function.__doc__


def test_math_names_are_the_same_objects():
    assert tl.math.exp is tl.exp
    assert tl.core.load is tl.load


def test_builtins_are_for_kernels_only():
    with pytest.raises(ValueError, match="Did you forget to add @triton.jit"):
        tl.load(0)


def test_host_functions():
    assert triton.cdiv(10, 3) == 4
    assert [triton.next_power_of_2(n) for n in (1, 2, 3, 781, 1024, 1025, 2**40 + 1)] == [
        1,
        2,
        4,
        1024,
        1024,
        2048,
        2**41,
    ]
    assert tl.standard._log2(1024) == 10


def test_paths_into_nested_arguments():
    from triton._utils import find_paths_if, get_iterable_path

    values = [1, (2, "a"), ("b", (3, "c"))]
    paths = find_paths_if(values, lambda path, value: isinstance(value, str))
    assert paths == [(1, 1), (2, 0), (2, 1, 1)]
    assert [get_iterable_path(values, path) for path in paths] == ["a", "b", "c"]


def test_import_starts_no_thread_and_needs_neither_torch_nor_numpy():
    code = (
        "import os, sys, threading, triton, triton.language; "
        "print('torch' in sys.modules, 'numpy' in sys.modules, "
        "threading.active_count(), len(os.listdir('/proc/self/task')))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == ["False", "False", "1", "1"]
