# Joining and splitting tiles: join, split, cat, interleave.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp32' --target cpu --emit ttir --no-locations -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    # CHECK-LABEL: tt.func public @kernel
    # CHECK: %[[X:.+]] = tt.load
    x = tl.load(x_ptr + tl.arange(0, 16))
    # CHECK: %[[Y:.+]] = arith.mulf
    y = x * 2
    # CHECK: %[[J:.+]] = tt.join %[[X]], %[[Y]] : tensor<16xf32> -> tensor<16x2xf32>
    # CHECK: %[[I:.+]] = tt.reshape %[[J]] : tensor<16x2xf32> -> tensor<32xf32>
    # CHECK: tt.store %{{.+}}, %[[I]]
    tl.store(x_ptr + tl.arange(0, 32), tl.interleave(x, y))
    # CHECK: %[[P:.+]] = tt.reshape %[[X]] : tensor<16xf32> -> tensor<8x2xf32>
    # CHECK: %[[A:.+]], %[[B:.+]] = tt.split %[[P]] : tensor<8x2xf32> -> tensor<8xf32>
    # CHECK: arith.subf %[[A]], %[[B]] : tensor<8xf32>
    a, b = tl.reshape(x, (8, 2)).split()
    tl.store(x_ptr + tl.arange(0, 8), a - b)
    # CHECK: %[[T:.+]] = tt.trans %[[J]] {order = array<i32: 1, 0>} : tensor<16x2xf32> -> tensor<2x16xf32>
    # CHECK: %[[C:.+]] = tt.reshape %[[T]] : tensor<2x16xf32> -> tensor<32xf32>
    # CHECK: tt.store %{{.+}}, %[[C]]
    tl.store(x_ptr + tl.arange(0, 32), tl.cat(x, y))
    # CHECK: %[[ANY:.+]] = tt.cat %[[X]], %[[Y]] : tensor<16xf32> -> tensor<32xf32>
    # CHECK: tt.store %{{.+}}, %[[ANY]]
    tl.store(x_ptr + tl.arange(0, 32), tl.cat(x, y, can_reorder=True))
