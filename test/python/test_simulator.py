"""`TRITON_DEVICE=sim`: kernels for a GPU that run on the CPU."""
# SPDX-License-Identifier: MIT

import os
import subprocess
import sys

import numpy as np
import pytest
import triton
import triton.language as tl
from _simulators import simulators
from triton.backends.compiler import GPUTarget
from triton.backends.sim.driver import SimDriver
from triton.runtime import driver


@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * 2, mask=offsets < n)


@triton.jit
def row_sum(x_ptr, out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK))))


@triton.jit
def asserting(x_ptr, BLOCK: tl.constexpr):
    tl.device_assert(tl.load(x_ptr + tl.arange(0, BLOCK)) < 3, "x is too large")


@triton.jit
def unknown(x_ptr):
    tl.inline_asm_elementwise(
        "frobnicate.u32 $0, $1;", "=r,r", [tl.load(x_ptr)], dtype=tl.int32, is_pure=False, pack=1
    )


simulator = simulators("sim", "sim:80")


def test_runs_on_numpy_arrays(simulator):
    x = np.arange(1000, dtype=np.float32)
    out = np.empty_like(x)
    kernel = double[(4,)](x, out, x.size, BLOCK=256)
    assert np.array_equal(out, x * 2)
    assert list(kernel.asm) == ["ttir", "ttgir", "plan", "llir", "ptx"]
    assert kernel.asm["ptx"] == kernel.kernel


def test_runs_on_torch_tensors(simulator):
    torch = pytest.importorskip("torch")
    x = torch.arange(1000, dtype=torch.float32)
    out = torch.empty_like(x)
    double[(4,)](x, out, x.numel(), BLOCK=256)
    assert torch.equal(out, x * 2)


def test_target_is_that_of_the_gpu(simulator):
    target = simulator.get_current_target()
    assert isinstance(target, GPUTarget)
    assert (target.backend, target.warp_size) == ("cuda", 32)
    assert simulator.get_device_capability() == divmod(target.arch, 10)
    properties = simulator.utils.get_device_properties(0)
    assert properties["warpSize"] == 32
    assert properties["name"] == f"simulated sm_{target.arch}"


def test_threads_of_a_block_work_together(simulator):
    x = np.arange(4096, dtype=np.int32)
    out = np.zeros(1, np.int32)
    row_sum[(1,)](x, out, BLOCK=4096, num_warps=8)
    assert out[0] == x.sum()


def test_devices_do_not_share_kernels(cpu_is_active):
    x = np.arange(16, dtype=np.float32)
    out = np.empty_like(x)
    archs = []
    for device in ("sim", "sim:80"):
        driver.set_active(SimDriver(device))
        archs.append(double[(1,)](x, out, x.size, BLOCK=16).metadata.target.arch)
        driver.reset_active()
    on_cpu = double[(1,)](x, out, x.size, BLOCK=16)
    assert archs == [90, 80]
    assert on_cpu.metadata.target.backend == "cpu"


def test_failed_assertion_is_an_error(simulator):
    with pytest.raises(
        RuntimeError,
        match=r"kernel `asserting` failed on the simulated GPU.*x is too large.*sim-assert",
    ):
        asserting[(1,)](np.arange(32, dtype=np.float32), BLOCK=32, debug=True)


def test_unknown_instruction_is_an_error_with_its_line(simulator):
    with pytest.raises(RuntimeError, match=r"(?s)kernel `unknown`.*line \d+.*frobnicate.*sim-ptx"):
        unknown[(1,)](np.zeros(1, np.int32))


def test_wrong_name_of_a_device_is_an_error():
    with pytest.raises(ValueError, match="sim or sim:80"):
        SimDriver("sim:ninety")


PROGRAM = """
import numpy as np
from test_simulator import double
import triton

x = np.arange(1000, dtype=np.float32)
out = np.empty_like(x)
double[(4,)](x, out, x.size, BLOCK=256)
assert np.array_equal(out, x * 2)
print(triton.runtime.driver.active.get_current_target().arch)
"""


@pytest.mark.parametrize(("device", "printed"), [("sim", "90"), ("sim:80", "80")])
def test_variable_chooses_the_device(tmp_path, device, printed):
    environment = {
        **os.environ,
        "TRITON_DEVICE": device,
        "TRITON_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *filter(None, sys.path)]),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment
    )
    assert done.stdout.strip() == printed, done.stderr


# --- AMD's GPUs -----------------------------------------------------------------------------------

AMD = {
    "gfx90a": (64, 110, 65536),
    "gfx942": (64, 304, 65536),
    "gfx950": (64, 256, 163840),
    "gfx1030": (32, 40, 65536),
    "gfx1100": (32, 48, 65536),
    "gfx1200": (32, 16, 65536),
}


@pytest.fixture(params=AMD)
def amd_simulator(request):
    driver.set_active(SimDriver(f"sim:{request.param}"))
    yield driver.active
    driver.reset_active()


def test_properties_of_amd_gpus(amd_simulator):
    target = amd_simulator.get_current_target()
    wave, units, shared = AMD[target.arch]
    assert isinstance(target, GPUTarget)
    assert (target.backend, target.warp_size) == ("hip", wave)
    properties = amd_simulator.utils.get_device_properties(0)
    assert properties["warpSize"] == wave
    assert properties["multiprocessor_count"] == units
    assert properties["max_shared_mem"] == shared


def test_amd_kernels_run(amd_simulator):
    x = np.arange(1000, dtype=np.float32)
    out = np.empty_like(x)
    kernel = double[(4,)](x, out, x.size, BLOCK=256)
    assert np.array_equal(out, x * 2)
    total = np.empty(1, np.float32)
    row_sum[(1,)](x[:512], total, BLOCK=512)
    assert total[0] == x[:512].sum()
    assert "amdgcn" in kernel.asm


def test_amd_gpus_that_are_not_simulated():
    with pytest.raises(
        ValueError,
        match="sim:gfx90a, sim:gfx942, sim:gfx950, sim:gfx1030, sim:gfx1100, sim:gfx1200 for AMD",
    ):
        SimDriver("sim:gfx803")


def test_autotuning_times_each_number_of_warps(simulator):
    torch = pytest.importorskip("torch")
    tried = []
    configs = [triton.Config({}, num_warps=count) for count in (64, 1, 2)]

    @triton.autotune(configs, key=[], post_hook=lambda args, exception: tried.append(exception))
    @triton.jit
    def kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
        tl.store(out_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK))))

    x, out = torch.ones(64), torch.zeros(1)
    kernel[(1,)](x, out, BLOCK=64)
    assert out[0] == 64 and kernel.best_config.num_warps in (1, 2)
    assert "threads, Required: 2048" in str(tried[0])


def test_a_preloaded_kernel_is_that_of_launches(simulator):
    x, out, texts = np.ones(32, np.float32), np.zeros(1, np.float32), []
    with triton.knobs.runtime.scope():
        triton.knobs.runtime.jit_cache_hook = lambda **info: texts.append(
            info["compile"]["specialization_data"]
        )
        made = row_sum.warmup(x, out, BLOCK=32, grid=(1,))
    row_sum.device_caches.clear()
    assert row_sum.preload(texts[0]).hash == made.hash
    with triton.knobs.runtime.scope():
        triton.knobs.runtime.jit_cache_hook = lambda **_: pytest.fail("compiled again")
        row_sum[(1,)](x, out, BLOCK=32)
    assert out[0] == 32
