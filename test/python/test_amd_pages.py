"""The pages' code for AMD's GPUs: the softmax's host code on a simulated one, the stages of a compilation as files."""
# SPDX-License-Identifier: MIT

import os
import subprocess
import sys
import textwrap

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

SOFTMAX = '''
import numpy as np
import triton
import triton.language as tl
from triton.runtime import driver


def is_hip():
    return triton.runtime.driver.active.get_current_target().backend == "hip"


def is_cdna():
    target = triton.runtime.driver.active.get_current_target()
    return is_hip() and target.arch in ("gfx940", "gfx941", "gfx942", "gfx90a", "gfx908")


@triton.jit
def softmax_kernel(o, i, i_stride, o_stride, n_rows, n_cols, BLOCK: tl.constexpr, num_stages: tl.constexpr):
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0), num_stages=num_stages):
        columns = tl.arange(0, BLOCK)
        mask = columns < n_cols
        x = tl.load(i + row * i_stride + columns, mask=mask, other=-float("inf"))
        numerator = tl.exp(x - tl.max(x, axis=0))
        tl.store(o + row * o_stride + columns, numerator / tl.sum(numerator, axis=0), mask=mask)


properties = driver.active.utils.get_device_properties(0)
NUM_SM = properties["multiprocessor_count"]
NUM_REGS = properties["max_num_regs"]
SIZE_SMEM = properties["max_shared_mem"]
WARP_SIZE = properties["warpSize"]
x = np.random.default_rng(0).standard_normal((37, 781)).astype(np.float32)
y = np.full_like(x, np.nan)
num_warps, num_stages = 8, 4 if SIZE_SMEM > 200000 else 2
kernel = softmax_kernel.warmup(
    y, x, x.shape[1], y.shape[1], *x.shape, BLOCK=1024, num_stages=num_stages, num_warps=num_warps, grid=(1,)
)
kernel._init_handles()
assert is_hip()
if is_cdna():
    # Vector registers of the other kind count, too; the threads of a unit are the limit as well.
    NUM_GPRS = NUM_REGS * 2
    MAX_NUM_THREADS = properties["max_threads_per_sm"]
    max_num_waves = MAX_NUM_THREADS // WARP_SIZE
    occupancy = min(NUM_GPRS // WARP_SIZE // kernel.n_regs, max_num_waves) // num_warps
else:
    occupancy = NUM_REGS // (kernel.n_regs * WARP_SIZE * num_warps)
occupancy = min(occupancy, SIZE_SMEM // kernel.metadata.shared)
assert occupancy > 0
programs = min(NUM_SM * occupancy, x.shape[0])
kernel[(programs, 1, 1)](y, x, x.shape[1], y.shape[1], *x.shape, 1024, num_stages)
expected = np.exp(x - x.max(1, keepdims=True))
expected /= expected.sum(1, keepdims=True)
np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-8)
print("waves of", WARP_SIZE, "on", NUM_SM)
'''


@pytest.mark.parametrize(
    "arch, printed", [("gfx942", "waves of 64 on 304"), ("gfx90a", "waves of 64 on 110")]
)
def test_the_softmax_page_takes_its_way_for_amd(arch, printed, tmp_path):
    script = tmp_path / "softmax.py"
    script.write_text(SOFTMAX)
    environment = {**os.environ, "TRITON_DEVICE": f"sim:{arch}", "TRITON_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@pytest.mark.parametrize("arch, wave", [("gfx942", 64), ("gfx90a", 64), ("gfx1100", 32)])
def test_the_stages_of_a_compilation_are_files(arch, wave, tmp_path):
    names = ["x_ptr", "y_ptr", "out_ptr"]
    source = triton.compiler.ASTSource(
        fn=add_kernel,
        signature=dict.fromkeys(names, "*fp32") | {"n": "i32", "BLOCK": "constexpr"},
        constexprs={"BLOCK": 1024},
    )
    compiled = triton.compile(source, target=GPUTarget("hip", arch, wave))
    for stage in ("ttir", "ttgir", "llir", "amdgcn", "hsaco"):
        content = compiled.asm[stage]
        assert isinstance(content, bytes if stage == "hsaco" else str)
        (tmp_path / f"add_kernel.{stage}").write_bytes(
            content if stage == "hsaco" else content.encode()
        )
    assert f'ttg.target = "hip:{arch}"' in (tmp_path / "add_kernel.ttgir").read_text()
    assert '"ttg.threads-per-warp" = ' + str(wave) in (tmp_path / "add_kernel.ttgir").read_text()
    assert "amdgpu_kernel void @add_kernel" in (tmp_path / "add_kernel.llir").read_text()
    assert ".amdhsa_kernel add_kernel" in (tmp_path / "add_kernel.amdgcn").read_text()
    assert (tmp_path / "add_kernel.hsaco").read_bytes()[:4] == b"\x7fELF"
    assert compiled.metadata.name == "add_kernel"


def test_ttgir_with_layouts_of_matrix_instructions_is_read(tmp_path):
    """As Triton 3.6 prints it: from `amd_mfma` layouts to a code object."""
    text = textwrap.dedent(
        """
        #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
        #mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
        #shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
        #shared1 = #ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [0, 1]}>
        #smem = #ttg.shared_memory
        module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
          tt.func public @product(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
            %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
            %cst_0 = arith.constant dense<64> : tensor<64x1xi32, #blocked>
            %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
            %1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
            %2 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
            %3 = arith.muli %2, %cst_0 : tensor<64x1xi32, #blocked>
            %4 = tt.expand_dims %1 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked>
            %5 = tt.broadcast %3 : tensor<64x1xi32, #blocked> -> tensor<64x64xi32, #blocked>
            %6 = tt.broadcast %4 : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
            %7 = arith.addi %5, %6 : tensor<64x64xi32, #blocked>
            %8 = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #blocked>
            %9 = tt.addptr %8, %7 : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
            %10 = tt.load %9 : tensor<64x64x!tt.ptr<f16>, #blocked>
            %11 = ttg.local_alloc %10 : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
            %12 = ttg.local_alloc %10 : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared1, #smem>
            %13 = ttg.local_load %11 : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
            %14 = ttg.local_load %12 : !ttg.memdesc<64x64xf16, #shared1, #smem> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
            %15 = tt.dot %13, %14, %cst : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> -> tensor<64x64xf32, #mma>
            %16 = ttg.convert_layout %15 : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #blocked>
            %17 = tt.splat %o : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #blocked>
            %18 = tt.addptr %17, %7 : tensor<64x64x!tt.ptr<f32>, #blocked>, tensor<64x64xi32, #blocked>
            tt.store %18, %16 : tensor<64x64x!tt.ptr<f32>, #blocked>
            tt.return
          }
        }
        """
    )
    path = tmp_path / "product.ttgir"
    path.write_text(text)
    compiled = triton.compile(str(path), target=GPUTarget("hip", "gfx942", 64))
    assert "v_mfma_f32_32x32x8" in compiled.asm["amdgcn"]
    assert compiled.asm["hsaco"][:4] == b"\x7fELF"
