# Hints become attributes of what defines the value.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir --no-locations -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    # CHECK-LABEL: tt.func public @kernel
    # CHECK-SAME: %n: i32 {tt.divisibility = 8 : i32}
    n = tl.multiple_of(n, 8)
    # CHECK: arith.addi {{.*}} {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<4> : tensor<1xi32>}
    offsets = tl.max_contiguous(tl.multiple_of(n + tl.arange(0, 16), 4), 16)
    # CHECK: arith.divsi {{.*}} {tt.constancy = dense<4> : tensor<1xi32>}
    tl.store(x_ptr + offsets, tl.max_constancy(offsets // 4, [4]).to(tl.float32))
