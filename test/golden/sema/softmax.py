# Float functions that the library composes from simpler ones.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp32' --target cpu --emit ttir --no-locations -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    # CHECK-LABEL: tt.func public @kernel
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets)
    # CHECK: arith.maxnumf
    # CHECK: arith.subf
    # CHECK: math.exp
    # CHECK: arith.addf
    # CHECK: arith.divf
    tl.store(x_ptr + offsets, tl.softmax(x))
    # CHECK: %[[MINUS:.+]] = arith.negf
    # CHECK: %[[E:.+]] = math.exp %[[MINUS]]
    # CHECK: %[[SUM:.+]] = arith.addf %[[E]], %[[ONE:.+]] : tensor<16xf32>
    # CHECK: arith.divf %[[ONE]], %[[SUM]]
    tl.store(x_ptr + offsets, x.sigmoid())
    # CHECK: tt.precise_divf
    tl.store(x_ptr + offsets, tl.softmax(x, 0, ieee_rounding=True))
