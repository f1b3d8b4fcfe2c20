"""AMD's GPUs: when their driver is chosen, properties of devices, launches byte by byte, timing."""
# SPDX-License-Identifier: MIT

import os
import struct
import subprocess
import sys

import pytest
import triton
from _stub_cuda import LIBRARY as CUDA_LIBRARY
from _stub_cuda import exchange_array_class
from _stub_hip import LIBRARY, MISSING, code_object, compile_by_hand, make_kernel, use_hip_stub
from triton._C import libtriton
from triton.backends.compiler import GPUTarget

A, B = 0x7F0000001000, 0x7F0000002010


@pytest.fixture
def stub():
    yield from use_hip_stub("devices=2")


@pytest.fixture
def hip(stub):
    return triton.runtime.driver.active


@pytest.fixture
def kernel(stub, monkeypatch):
    monkeypatch.setattr(triton.compiler, "compile", compile_by_hand(stub))
    return make_kernel()


# --- Which driver is active -----------------------------------------------------------------------

FAKE_TORCH = """
import sys, types
torch = types.ModuleType("torch")
version = types.ModuleType("torch.version")
version.hip, version.cuda = {hip!r}, {cuda!r}
torch.version = version
torch.cuda = types.SimpleNamespace(is_available=lambda: True)
sys.modules["torch"], sys.modules["torch.version"] = torch, version
"""
TARGET = "import triton; print(triton.runtime.driver.active.get_current_target())"


def in_new_process(code, settings="", **environment):
    if not os.path.exists(LIBRARY):
        pytest.skip(MISSING)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TRITON_LIBHIP_PATH": LIBRARY,
            "TRITON_LIBCUDA_PATH": "/nowhere/libcuda.so.1",
            "STUB_LIBAMDHIP64": settings,
            **environment,
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("arch", "target"),
    [
        ("gfx90a:sramecc+:xnack-", "GPUTarget(backend='hip', arch='gfx90a', warp_size=64)"),
        ("gfx1100", "GPUTarget(backend='hip', arch='gfx1100', warp_size=32)"),
    ],
)
def test_gpus_are_chosen_where_there_are_some(arch, target):
    assert in_new_process(TARGET, settings=f"arch={arch}") == target


@pytest.mark.parametrize(
    ("settings", "environment"),
    [
        ("devices=0", {}),
        ("fail=hipInit:999", {}),
        ("", {"HIP_VISIBLE_DEVICES": "-1"}),
        ("", {"TRITON_LIBHIP_PATH": "/nowhere/libamdhip64.so"}),
        ("", {"TRITON_DEFAULT_BACKEND": "cpu"}),
    ],
)
def test_the_cpu_is_chosen_otherwise(settings, environment):
    assert "backend='cpu'" in in_new_process(TARGET, settings=settings, **environment)


def test_a_gpu_that_is_asked_for_and_missing_is_an_error():
    code = """
import triton
try:
    triton.runtime.driver.active.get_current_target()
except RuntimeError as error:
    print(error)
"""
    out = in_new_process(code, settings="devices=0", TRITON_DEVICE="hip")
    assert out.startswith("the HIP runtime finds no GPU")
    assert out.endswith("[hip-no-device]")
    out = in_new_process(code, TRITON_DEVICE="hip", TRITON_LIBHIP_PATH="/nowhere/libamdhip64.so")
    assert out.startswith("AMD's HIP runtime cannot be loaded: /nowhere/libamdhip64.so")


def test_a_build_of_torch_for_rocm_makes_it_the_active_driver():
    assert "backend='hip'" in in_new_process(FAKE_TORCH.format(hip="6.3", cuda=None) + TARGET)
    assert "backend='cpu'" in in_new_process(FAKE_TORCH.format(hip=None, cuda="12.8") + TARGET)


def test_tensors_of_torch_for_rocm_are_on_hip_although_torch_says_cuda():
    code = """
import triton
from triton._C import libtriton
class Tensor:
    dtype = "torch.float32"
    device = types.SimpleNamespace(type="cuda", index=1)
    def data_ptr(self):
        return 0x1000
print(libtriton.device_of(Tensor()), triton.runtime.driver.for_device("hip").get_current_target())
"""
    rocm = in_new_process(FAKE_TORCH.format(hip="6.3", cuda=None) + code)
    assert rocm == "('hip', 1) GPUTarget(backend='hip', arch='gfx942', warp_size=64)"
    assert in_new_process(FAKE_TORCH.format(hip=None, cuda="12.8") + code).startswith("('cuda', 1)")


@pytest.mark.parametrize(
    ("hip", "cuda", "device", "stream"), [("6.3", None, 1, 64), (None, "12.8", 0, 0)]
)
def test_torch_knows_the_current_device_of_the_gpus_it_is_built_for(hip, cuda, device, stream):
    code = """
torch._C = sys.modules["torch._C"] = types.ModuleType("torch._C")
torch._C._cuda_getDevice, torch._C._cuda_getCurrentRawStream = lambda: 1, lambda device: 64
import triton
active = triton.runtime.driver.for_device("hip")
print(active.get_current_device(), active.get_current_stream(0))
"""
    out = in_new_process(FAKE_TORCH.format(hip=hip, cuda=cuda) + code, settings="devices=2")
    assert out == f"{device} {stream}"


# --- Properties -----------------------------------------------------------------------------------


def test_targets_and_devices(hip, stub):
    assert hip.get_current_target() == GPUTarget("hip", "gfx942", 64)
    assert hip.get_current_device() == 0
    hip.set_current_device(1)
    try:
        assert hip.get_current_device() == 1
    finally:
        stub.library.hipSetDevice(0)
    assert hip.get_current_stream(0) == 0
    assert hip.map_python_to_cpp_type("*fp32") == "hipDeviceptr_t"
    assert hip.device_type == "hip"


MI300X = {
    "name": "AMD Instinct MI300X",
    "multiprocessor_count": 304,
    "max_num_regs": 65536,
    "max_shared_mem": 65536,
    "warpSize": 64,
    "max_threads_per_sm": 2048,
    "max_threads_per_block": 1024,
    "sm_clock_rate": 2100000,
    "mem_clock_rate": 1300000,
    "mem_bus_width": 8192,
    "last_level_cache_bytes": 4194304,
    "arch": "gfx942",
    "cooperativeLaunch": 1,
}


def test_properties(hip):
    assert hip.utils.get_device_properties(1) == MI300X
    with pytest.raises(RuntimeError, match="no device hip:2; the HIP runtime sees 2"):
        hip.utils.get_device_properties(2)


def test_properties_without_a_gpu_are_those_of_one():
    assert libtriton.driver_hip.known_properties("gfx942") == MI300X
    assert libtriton.driver_hip.known_properties("gfx1100")["warpSize"] == 32
    with pytest.raises(ValueError, match="`gfx999` are recorded; there are those of gfx90a, gfx9"):
        libtriton.driver_hip.known_properties("gfx999")


def test_target_info_and_the_predicates_of_tests(hip):
    from triton import _internal_testing as testing
    from triton.language import target_info

    assert target_info.is_hip() and target_info.is_hip_cdna3() and not target_info.is_cuda()
    assert not target_info.is_hip_cdna4()
    assert testing.is_hip() and testing.is_hip_cdna() and not testing.is_hip_rdna()
    assert testing.get_hip_lds_size() == 65536


# --- Code loaded by hand --------------------------------------------------------------------------


def test_load_binary(hip, stub):
    stub.configure("devices=2 registers=40 local=8 max_threads=256")
    code = code_object("k", [])
    module, function, registers, spills, threads = hip.utils.load_binary("k", code, 1000, 1)
    assert function != 0
    assert (registers, spills, threads) == (40, 2, 256)
    assert stub.calls("hipModuleLoadDataEx")[0]["device"] == 1
    hip.utils.unload_module(module)
    assert len(stub.calls("hipModuleUnload")) == 1
    with pytest.raises(RuntimeError, match="has no kernel `other`"):
        hip.utils.load_binary("other", code, 0, 0)
    with pytest.raises(triton.OutOfResources, match="Required: 65537"):
        hip.utils.load_binary("k", code, 65537, 0)


# --- Launches -------------------------------------------------------------------------------------


def test_every_argument_arrives_byte_by_byte(stub, kernel):
    array = exchange_array_class(LIBRARY)
    buffer = b"".join(
        [
            struct.pack("<Q", A),
            struct.pack("<i", -7),
            struct.pack("<f", 0.3),
            b"\1" + b"\0" * 7,
            struct.pack("<Q", B),
            b"\0" * 16,
        ]
    )
    for _ in range(3):  # the second and third are launched natively
        kernel[(5, 6, 7)](array(A), -7, 0.3, True, array(B), num_warps=2)
    assert len(stub.launches()) == 3
    for launch in stub.launches():
        assert launch["buffer"] == buffer.hex()
        assert launch["bytes"] == len(buffer)
        assert launch["grid"] == [5, 6, 7]
        assert launch["block"] == [128, 1, 1]
        assert launch["shared"] == 0


def test_storages_of_2_gib_and_more_have_their_own_kernels(stub, kernel, monkeypatch):
    """On GPUs the sizes of storages are in the keys of known launches, too."""
    array = exchange_array_class(LIBRARY)
    small, large = array(A), array(A)
    small.ptr_range, large.ptr_range = lambda: 2**31 - 1, lambda: 2**31
    compile_kernel, bounded = triton.compiler.compile, []

    def record(source, **options):
        bounded.append(
            [path[0] for path, names in source.attrs.items() if "tt.pointer_range" in dict(names)]
        )
        return compile_kernel(source, **options)

    monkeypatch.setattr(triton.compiler, "compile", record)
    for _ in range(3):
        kernel[(1,)](small, 1, 1.0, True, small)
        kernel[(1,)](large, 1, 1.0, True, small)
        kernel[(1,)](array(A), 1, 1.0, True, array(A))  # their size is not known
    assert bounded == [[0, 4], [4], []] and len(stub.launches()) == 9


def test_launches_go_to_the_device_and_the_stream_of_the_arrays(stub, kernel):
    array = exchange_array_class(LIBRARY)
    stub.set_current_stream(0x40)
    for _ in range(2):
        kernel[(1,)](array(A, device_id=1), 1, 1.0, True, array(B, device_id=1))
    assert [(launch["device"], launch["stream"]) for launch in stub.launches()] == [(1, 0x40)] * 2
    kernel[(1,)](array(A, device_id=1), 1, 1.0, True, array(B, device_id=1), stream=0x80)
    assert stub.launches()[-1]["stream"] == 0x80
    kernel[(1,)](array(B, device_id=1), 1, 1.0, True, array(A))  # of several GPUs: the current one
    assert stub.launches()[-1]["device"] == 0


def test_other_libraries_arrays_by_the_cuda_array_interface():
    code = """
import pytest, triton, _stub_hip
from _stub_cuda import InterfaceArray
for stub in _stub_hip.use_hip_stub():
    triton.compiler.compile = _stub_hip.compile_by_hand(stub)
    kernel = _stub_hip.make_kernel()
    for address in (0x1000, 0x9000):
        stub.add_memory(address, 4096)
    for _ in range(2):
        kernel[(1,)](InterfaceArray(0x1000, stream=0x20), 1, 1.0, True, InterfaceArray(0x9000))
    assert len(stub.launches()) == 2
    print({(call["call"], call["stream"]) for call in stub.calls() if "Event" in call["call"] and "stream" in call})
"""
    out = in_new_process(code)
    assert "('hipEventRecord', 32)" in out and "('hipStreamWaitEvent', 0)" in out


BOTH_DRIVERS = """
import triton, _stub_cuda, _stub_hip
from triton._C import libtriton
from triton.backends.{backend}.driver import {driver}
libtriton.driver_cuda.set_library(_stub_cuda.LIBRARY)
libtriton.driver_hip.set_library(_stub_hip.LIBRARY)
{before}
triton.runtime.driver.set_active({driver}())
array = _stub_cuda.InterfaceArray(0x1000)
kernel = _stub_hip.make_kernel()
seen = []
triton.runtime.driver.for_device = lambda name: seen.append(name) or 1 / 0
try:
    kernel[(1,)](array, 1, 1.0, True, array)
except ZeroDivisionError:
    pass
print(seen)
"""


@pytest.mark.parametrize(
    ("backend", "driver", "name"),
    [("amd", "HIPDriver", "hip"), ("nvidia", "CUDADriver", "cuda")],
)
@pytest.mark.parametrize("first", ["", "libtriton.driver_cuda", "libtriton.driver_hip"])
def test_the_active_driver_says_which_gpu_cuda_means(backend, driver, name, first):
    """Whichever drivers are there, or have been used before."""
    before = f"{first}.device_count()" if first else ""
    code = BOTH_DRIVERS.format(backend=backend, driver=driver, before=before)
    assert in_new_process(code, TRITON_LIBCUDA_PATH=CUDA_LIBRARY) == f"['{name}']"


def test_a_failed_launch_names_its_cause(stub, kernel):
    array = exchange_array_class(LIBRARY)
    stub.configure("devices=2 fail=hipModuleLaunchKernel:701")
    with pytest.raises(RuntimeError, match="hipErrorLaunchOutOfResources from hipModuleLaunch"):
        kernel[(1,)](array(A), 1, 1.0, True, array(B))


def test_resources_of_a_loaded_kernel(stub, kernel):
    array = exchange_array_class(LIBRARY)
    stub.configure("devices=2 registers=52 local=16")
    compiled = kernel.warmup(array(A), 1, 1.0, True, array(B), grid=(1,))
    compiled._init_handles()
    assert (compiled.n_regs, compiled.n_spills) == (52, 4)


# --- Timing ---------------------------------------------------------------------------------------


def test_do_bench_clears_the_cache_before_each_call_and_reads_the_gpus_clock(hip, stub):
    calls = []
    times = triton.testing.do_bench(lambda: calls.append(1), warmup=1, rep=1, return_mode="all")
    assert len(times) >= 1
    assert all(0 <= time < 1000 for time in times)
    cleared = stub.calls("hipMemsetD8Async")
    assert len(cleared) == len(calls) - 1
    assert {call["bytes"] for call in cleared} == {256 << 20}
    assert len(stub.calls("hipFree")) == 1


def test_synchronize_reports_failures(hip, stub):
    hip.synchronize()
    stub.configure("fail=hipDeviceSynchronize:700")
    with pytest.raises(RuntimeError, match="hipDeviceSynchronize failed on hip:0, since a kernel"):
        hip.synchronize()
