"""Barriers, TMA copies and roles of warps as TTGIR of Triton's states them, on a simulated Hopper GPU."""
# SPDX-License-Identifier: MIT

import re

import numpy as np
import pytest
import triton
from _simulators import simulators
from triton.runtime import driver

simulator = simulators("sim:90")

TYPES = {
    "B": "!ttg.memdesc<1xi64, #flat, #smem, mutable>",
    "F": "!ttg.memdesc<128xf32, #flat, #smem, mutable>",
    "S": "tensor<128xf32, #b>",
    "D": "!tt.tensordesc<64x64xf16, #shared>",
    "T": "!ttg.memdesc<64x64xf16, #shared, #smem, mutable>",
    "R": "tensor<64x64xf16, #rows>",
}
HEAD = """
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = WIDTH, transposed = false, elementBitWidth = 16}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b1 = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
"""


def compiled(tmp_path, text, width=128):
    for name, type_ in TYPES.items():
        text = text.replace(f"@{name}@", type_)
    path = tmp_path / "kernel.ttgir"
    path.write_text(HEAD.replace("WIDTH", str(width)) + text + "}\n")
    return triton.compile(path, target=driver.active.get_current_target())


def numbers(*shape, dtype=np.float32):
    return np.random.default_rng(1).standard_normal(shape).astype(dtype)


# --- TMA ---------------------------------------------------------------------------------------

COPY = """
  tt.func public @copy(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32},
                       %row: i32, %column: i32) {
    %c0 = arith.constant 0 : i32
    %c100 = arith.constant 100 : i32
    %c128 = arith.constant 128 : i32
    %pitch = arith.constant 128 : i64
    %one = arith.constant 1 : i64
    %true = arith.constant true
    %in = tt.make_tensor_descriptor %x, [%c100, %c128], [%pitch, %one] : !tt.ptr<f16>, @D@
    %out = tt.make_tensor_descriptor %y, [%c100, %c128], [%pitch, %one] : !tt.ptr<f16>, @D@
    %buf = ttg.local_alloc : () -> @T@
    %bar = ttg.local_alloc : () -> @B@
    ttng.init_barrier %bar, 1 : @B@
    ttng.barrier_expect %bar, 8192, %true : @B@
    ttng.async_tma_copy_global_to_local %in[%row, %column] %buf, %bar, %true : @D@, @B@ -> @T@
    ttng.wait_barrier %bar, %c0, %true deps %buf : @B@, @T@
    ttng.inval_barrier %bar : @B@
    %t = ttg.local_load %buf : @T@ -> @R@
    %u = arith.addf %t, %t : @R@
    ttg.local_store %u, %buf : @R@ -> @T@
    ttng.fence_async_shared {bCluster = false}
    ttng.async_tma_copy_local_to_global %out[%row, %column] %buf : @D@, @T@
    ttng.async_tma_store_wait {pendings = 0 : i32}
    tt.return
  }
"""


@pytest.mark.parametrize("width", [0, 32, 64, 128])
def test_copies_through_descriptors_with_a_layout(simulator, tmp_path, width):
    x, y = numbers(100, 128, dtype=np.float16), np.zeros((100, 128), np.float16)
    compiled(tmp_path, COPY, width)[(1, 1, 1)](x, y, 64, 32)
    wanted = np.zeros_like(x)
    wanted[64:, 32:96] = 2 * x[64:, 32:96]
    np.testing.assert_array_equal(y, wanted)


# --- roles of warps ----------------------------------------------------------------------------

SUMS = """
  tt.func public @sums(%in: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    %buf = ttg.local_alloc : () -> @F@
    %full = ttg.local_alloc : () -> @B@
    %empty = ttg.local_alloc : () -> @B@
    ttng.init_barrier %full, 1 : @B@
    ttng.init_barrier %empty, 1 : @B@
    %pid = tt.get_program_id x : i32
    %first = arith.muli %pid, %n : i32
    %r = ttg.warp_specialize(%in, %n, %first, %full, %empty, %buf) attributes {requestedRegisters = array<i32: 24>} default {
      %zero = arith.constant dense<0.0> : @S@
      %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (@S@) : i32 {
        %p = arith.andi %i, %c1 : i32
        ttng.wait_barrier %full, %p {byWarp} : @B@
        %x = ttg.local_load %buf : @F@ -> @S@
        ttng.arrive_barrier %empty, 1 : @B@
        %a = arith.addf %acc, %x : @S@
        scf.yield %a : @S@
      }
      ttg.warp_yield %s : @S@
    } partition0(%a0: !tt.ptr<f32>, %a1: i32, %a2: i32, %f: @B@, %e: @B@, %bb: @F@) num_warps(1) {
      %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b1>
      scf.for %i = %c0 to %a1 step %c1 : i32 {
        %p = arith.andi %i, %c1 : i32
        %q = arith.xori %p, %c1 : i32
        ttng.wait_barrier %e, %q {byWarp} : @B@
        %row = arith.addi %i, %a2 : i32
        %o = arith.muli %row, %c128 : i32
        %s = tt.splat %o : i32 -> tensor<128xi32, #b1>
        %idx = arith.addi %range, %s : tensor<128xi32, #b1>
        %ps = tt.splat %a0 : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #b1>
        %ptr = tt.addptr %ps, %idx : tensor<128x!tt.ptr<f32>, #b1>, tensor<128xi32, #b1>
        %x = tt.load %ptr : tensor<128x!tt.ptr<f32>, #b1>
        ttg.local_store %x, %bb : tensor<128xf32, #b1> -> @F@
        ttng.arrive_barrier %f, 1 : @B@
      }
      ttg.warp_return
    } : (!tt.ptr<f32>, i32, i32, @B@, @B@, @F@) -> @S@
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b>
    %begin = arith.muli %pid, %c128 : i32
    %begins = tt.splat %begin : i32 -> tensor<128xi32, #b>
    %places = arith.addi %range, %begins : tensor<128xi32, #b>
    %ps = tt.splat %out : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #b>
    %ptr = tt.addptr %ps, %places : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
    tt.store %ptr, %r : tensor<128x!tt.ptr<f32>, #b>
    tt.return
  }
"""


def test_results_and_captures_of_roles(simulator, tmp_path):
    x, out = numbers(3 * 5, 128), np.zeros((3, 128), np.float32)
    kernel = compiled(tmp_path, SUMS)
    kernel[(3, 1, 1)](x, out, 5)
    np.testing.assert_allclose(out, x.reshape(3, 5, 128).sum(1), rtol=1e-5, atol=1e-5)


def test_registers_of_roles(simulator, tmp_path):
    ptx = compiled(tmp_path, SUMS).asm["ptx"]
    assert re.findall(r"setmaxnreg\.(\w+)\S*\s+(\d+);", ptx) == [("dec", "24"), ("inc", "256")]


LOOP = """
  tt.func public @loop(%out: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    %c256 = arith.constant 256 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %first = arith.muli %i, %c256 : i32
      %second = arith.addi %first, %c128 : i32
      ttg.warp_specialize(%second) default {
        %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b>
        %s = tt.splat %first : i32 -> tensor<128xi32, #b>
        %idx = arith.addi %range, %s : tensor<128xi32, #b>
        %ps = tt.splat %out : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #b>
        %ptr = tt.addptr %ps, %idx : tensor<128x!tt.ptr<i32>, #b>, tensor<128xi32, #b>
        tt.store %ptr, %idx : tensor<128x!tt.ptr<i32>, #b>
        ttg.warp_yield
      } partition0(%from: i32) num_warps(1) {
        %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b1>
        %s = tt.splat %from : i32 -> tensor<128xi32, #b1>
        %idx = arith.addi %range, %s : tensor<128xi32, #b1>
        %ps = tt.splat %out : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #b1>
        %ptr = tt.addptr %ps, %idx : tensor<128x!tt.ptr<i32>, #b1>, tensor<128xi32, #b1>
        tt.store %ptr, %idx : tensor<128x!tt.ptr<i32>, #b1>
        ttg.warp_return
      } : (i32) -> ()
    }
    tt.return
  }
"""


def test_roles_in_a_loop(simulator, tmp_path):
    out = np.full(4 * 256, -1, np.int32)
    compiled(tmp_path, LOOP)[(1, 1, 1)](out, 4)
    np.testing.assert_array_equal(out, np.arange(4 * 256))
