# Integer indices and slices of a tile are gathers with constant indices; on a GPU a remark tells their cost.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp32' --target cuda:90 --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


# CHECK: :[[#@LINE+9]]:21: remark: picking 1 of the 16 elements of a tile moves data between threads; load what is needed from memory where that is possible [index-cost]
# CHECK: :[[#@LINE+9]]:44: remark: picking 4 of the 16 elements {{.*}}[index-cost]
# CHECK-LABEL: tt.func public @kernel
# CHECK: [[ONE:%.*]] = tt.gather {{.*}} (tensor<16xf32>, tensor<1xi32>) -> tensor<1xf32>
# CHECK: tt.unsplat [[ONE]]
# CHECK: tt.gather {{.*}} (tensor<16xf32>, tensor<4xi32>) -> tensor<4xf32>
@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.store(x_ptr, x[3])
    tl.store(x_ptr + 16 + tl.arange(0, 4), x[1:15:4])
