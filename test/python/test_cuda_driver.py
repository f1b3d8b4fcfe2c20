"""The CUDA driver: when it is chosen, properties of devices, code loaded by hand, timing."""
# SPDX-License-Identifier: MIT

import json
import os
import subprocess
import sys

import pytest
import triton
import triton.language as tl
from _stub_cuda import LIBRARY, MISSING, use_stub
from triton._C import libtriton
from triton.backends.compiler import GPUTarget


@pytest.fixture
def stub():
    yield from use_stub("devices=2 capability=9.0")


@pytest.fixture
def cuda(stub):
    return triton.runtime.driver.active


# --- Which driver is active -----------------------------------------------------------------------


def in_new_process(code, tmp_path, library=LIBRARY, settings="", **environment):
    """Its output, and the calls that the stub recorded. torch is not imported there."""
    if not os.path.exists(LIBRARY):
        pytest.skip(MISSING)
    log = tmp_path / "calls"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TRITON_LIBCUDA_PATH": library,
            "STUB_LIBCUDA": settings,
            "STUB_LIBCUDA_LOG": str(log),
            **environment,
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    lines = log.read_text().splitlines() if log.exists() else []
    return done.stdout.strip(), [json.loads(line)["call"] for line in lines]


TARGET = "import triton; print(triton.runtime.driver.active.get_current_target())"


def test_gpus_are_chosen_where_there_are_some(tmp_path):
    out, _ = in_new_process(TARGET, tmp_path, settings="capability=8.6")
    assert out == "GPUTarget(backend='cuda', arch=86, warp_size=32)"


def test_folder_of_the_library_may_be_named(tmp_path):
    out, _ = in_new_process(TARGET, tmp_path, library=os.path.dirname(LIBRARY))
    assert "backend='cuda'" in out


@pytest.mark.parametrize(
    ("settings", "environment"),
    [
        ("devices=0", {}),
        ("version=11020", {}),
        ("fail=cuInit:999", {}),
        ("", {"CUDA_VISIBLE_DEVICES": ""}),
        ("", {"CUDA_VISIBLE_DEVICES": "-1"}),
        ("", {"TRITON_LIBCUDA_PATH": "/nowhere/libcuda.so.1"}),
        ("", {"TRITON_DEFAULT_BACKEND": "cpu"}),
    ],
)
def test_the_cpu_is_chosen_otherwise(tmp_path, settings, environment):
    out, calls = in_new_process(TARGET, tmp_path, settings=settings, **environment)
    assert "backend='cpu'" in out
    if environment:
        assert "cuInit" not in calls


def test_importing_and_making_drivers_initialises_nothing(tmp_path):
    code = "import triton; triton.backends.backends['nvidia'].driver()"
    assert in_new_process(code, tmp_path) == ("", [])


def test_asking_for_the_target_makes_no_context(tmp_path):
    _, calls = in_new_process(TARGET, tmp_path)
    assert "cuInit" in calls
    assert "cuDevicePrimaryCtxRetain" not in calls


def test_children_of_a_process_that_only_imported_can_use_the_gpu(tmp_path):
    code = """
import os, triton
if os.fork() == 0:
    print(triton.runtime.driver.active.get_current_target(), flush=True)
    os._exit(0)
os.wait()
"""
    assert "backend='cuda'" in in_new_process(code, tmp_path)[0]


def test_a_gpu_that_is_asked_for_and_missing_is_an_error(tmp_path):
    code = """
import triton
try:
    triton.runtime.driver.active.get_current_target()
except RuntimeError as error:
    print(error)
"""
    out, _ = in_new_process(code, tmp_path, settings="devices=0", TRITON_DEFAULT_BACKEND="nvidia")
    assert out.startswith("the NVIDIA driver finds no GPU")
    assert out.endswith("[cuda-no-device]")
    out, _ = in_new_process(
        code, tmp_path, library="/nowhere/libcuda.so.1", TRITON_DEFAULT_BACKEND="nvidia"
    )
    assert out.startswith("the NVIDIA driver cannot be loaded: /nowhere/libcuda.so.1")


# --- Properties -----------------------------------------------------------------------------------


def test_targets_and_devices(cuda, stub):
    assert cuda.get_current_target() == GPUTarget("cuda", 90, 32)
    assert cuda.get_current_device() == 0
    assert cuda.get_device_capability() == (9, 0)
    cuda.set_current_device(1)
    try:
        assert cuda.get_current_device() == 1
    finally:
        stub.library.cuCtxSetCurrent(None)
    assert cuda.get_current_stream(0) == 0
    assert cuda.map_python_to_cpp_type("*fp32") == "CUdeviceptr"
    types = [cuda.map_python_to_cpp_type(name) for name in ("i1", "u1", "i32", "u64", "bf16", "f32")]
    assert types == ["int8_t", "uint8_t", "int32_t", "uint64_t", "double", "double"]


def test_properties(cuda):
    assert cuda.utils.get_device_properties(1) == {
        "name": "NVIDIA H200",
        "multiprocessor_count": 132,
        "max_num_regs": 65536,
        "max_shared_mem": 232448,
        "warpSize": 32,
        "max_threads_per_sm": 2048,
        "max_threads_per_block": 1024,
        "sm_clock_rate": 1980000,
        "mem_clock_rate": 3201000,
        "mem_bus_width": 6144,
        "last_level_cache_bytes": 62914560,
        "compute_capability": 90,
    }
    with pytest.raises(RuntimeError, match="no device cuda:2; the driver sees 2"):
        cuda.utils.get_device_properties(2)


def test_pointers(stub):
    stub.add_memory(0x5000, 0x100, device=1)
    assert libtriton.driver_cuda.pointer_info(0x5010) == {
        "on_host": False,
        "device": 1,
        "address": 0x5010,
        "start": 0x5000,
        "bytes": 0x100,
    }
    assert libtriton.driver_cuda.pointer_info(0x9) is None


# --- Code loaded by hand --------------------------------------------------------------------------

PTX = b".version 8.0\n.target sm_90\n.visible .entry k(.param .u64 p) { ret; }\n"


def test_load_binary(cuda, stub):
    stub.configure("devices=2 registers=40 local=8 max_threads=256")
    module, function, registers, spills, threads = cuda.utils.load_binary("k", PTX, 100000, 1)
    assert function != 0
    assert (registers, spills, threads) == (40, 2, 256)
    assert stub.calls("cuFuncSetAttribute")[0]["value"] == 100000
    assert stub.calls("cuModuleLoadDataEx")[0]["device"] == 1
    assert cuda.utils.cuOccupancyMaxActiveClusters(function, 0, 4, 1, 1) == 33
    cuda.utils.unload_module(module)
    assert len(stub.calls("cuModuleUnload")) == 1
    with pytest.raises(RuntimeError, match="has no kernel `other`"):
        cuda.utils.load_binary("other", PTX, 0, 0)
    with pytest.raises(triton.OutOfResources, match="Required: 232449"):
        cuda.utils.load_binary("k", PTX, 232449, 0)


# --- Timing ---------------------------------------------------------------------------------------


def test_memory_is_freed_where_no_context_is_current(stub):
    buffer = libtriton.driver_cuda.Buffer(1 << 20, 1)
    (address,) = [call["address"] for call in stub.calls("cuMemAlloc")]
    assert libtriton.driver_cuda.pointer_info(address)["device"] == 1
    stub.library.cuCtxSetCurrent(None)
    del buffer
    assert libtriton.driver_cuda.pointer_info(address) is None


def test_do_bench_clears_the_cache_before_each_call_and_reads_the_gpus_clock(cuda, stub):
    calls = []
    times = triton.testing.do_bench(lambda: calls.append(1), warmup=1, rep=1, return_mode="all")
    assert len(times) >= 1
    assert all(0 <= time < 1000 for time in times)
    cleared = stub.calls("cuMemsetD8Async")
    assert len(cleared) == len(calls) - 1  # the first call, which may compile, is not timed
    assert len(stub.calls("cuEventRecord")) % 2 == 0
    assert {call["bytes"] for call in cleared} == {256 << 20}
    assert len(stub.calls("cuMemFree")) == 1


def test_peak_rates(cuda):
    assert triton.testing.get_dram_gbps() == pytest.approx(4917, rel=1e-3)
    rate = triton.testing.get_max_tensorcore_tflops
    assert rate("torch.bfloat16", 1830000) == pytest.approx(989, rel=1e-3)
    assert rate("torch.float8_e4m3fn", 1830000) == pytest.approx(1979, rel=1e-3)
    assert triton.testing.get_max_simd_tflops("float32", 1980000) == pytest.approx(67, rel=1e-2)


def test_synchronize_reports_failures(cuda, stub):
    cuda.synchronize()
    stub.configure("fail=cuCtxSynchronize:700")
    with pytest.raises(RuntimeError, match="cannot wait for cuda:0, since a kernel has failed"):
        cuda.synchronize()


def test_do_bench_takes_the_clock_of_the_device_that_the_kernels_run_on(cuda, stub):
    numpy = pytest.importorskip("numpy")

    @triton.jit
    def one(out_ptr):
        tl.store(out_ptr, 1)

    out = numpy.zeros(1, numpy.int32)
    assert triton.testing.do_bench(lambda: one[(1,)](out), warmup=1, rep=1) > 0
    assert out[0] == 1
    assert stub.calls("cuEventRecord") == [] and stub.calls("cuMemAlloc") == []
    triton.testing.do_bench(lambda: None, warmup=1, rep=1)
    assert stub.calls("cuEventRecord")
