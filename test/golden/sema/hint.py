# Hints become attributes of the op that defines the value.
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


# RUN: nereid compile %s:carried --signature '*fp32,i32' --target cpu --emit ttir --no-locations -o - | FileCheck %s --check-prefix=CARRIED
@triton.jit
def carried(x_ptr, n):
    # A loop-carried value has a hint of its own in the body; its initial value has it, too.
    # CARRIED-LABEL: tt.func public @carried
    # CARRIED: %[[START:.*]] = arith.divsi {{.*}}tt.divisibility = dense<16> : tensor<1xi32>
    # CARRIED: scf.for {{.*}} iter_args(%[[OFFSET:.*]] = %[[START]])
    # CARRIED: %[[HINTED:.*]] = tt.bitcast %[[OFFSET]] {tt.divisibility = dense<16> : tensor<1xi32>} : i32 -> i32
    # CARRIED: arith.addi %[[HINTED]], %{{.*}} : i32
    offset = n // 7
    for _ in range(n):
        tl.store(x_ptr + offset, 1.0)
        tl.multiple_of(offset, 16)
        offset += n
