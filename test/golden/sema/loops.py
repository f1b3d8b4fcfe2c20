# Iterators: hints become attributes of the loop, static loops are unrolled.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir --no-locations -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    # CHECK-LABEL: tt.func public @kernel
    # CHECK: scf.for
    # CHECK: } {tt.disallow_acc_multi_buffer, tt.flatten, tt.loop_unroll_factor = 2 : i32, tt.num_stages = 3 : i32, tt.warp_specialize}
    for i in tl.range(0, n, 2, num_stages=3, loop_unroll_factor=2, disallow_acc_multi_buffer=True, flatten=True,
                      warp_specialize=True):
        tl.store(x_ptr + i, 1.0)
    # CHECK: } {llvm.loop_annotation = #llvm.loop_annotation<licm = #llvm.loop_licm<disable = true, versioningDisable = true>>}
    for i in tl.range(n, disable_licm=True):
        tl.store(x_ptr + i, 0.0)
    # CHECK-NOT: scf.for
    # CHECK-COUNT-3: tt.store
    for i in tl.static_range(1, 4):
        tl.store(x_ptr + n + i, 2.0)
    # CHECK: scf.while
    while tl.condition(n > 0):
        tl.store(x_ptr + n, 3.0)
        n -= 1
    # CHECK: scf.while
    # CHECK: } attributes {llvm.loop_annotation = #llvm.loop_annotation<licm = #llvm.loop_licm<disable = true, versioningDisable = true>>}
    while tl.condition(n > -3, disable_licm=True):
        tl.store(x_ptr + n, 4.0)
        n -= 1
