# Loads and stores: masks, other, cache and eviction hints, bool pointers, broadcasting.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp16,*fp16,*i1,i32' --target cpu --emit ttir --no-locations -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, b_ptr, n):
    # CHECK-LABEL: tt.func public @kernel
    # CHECK-DAG: %[[MINUS_INF:.+]] = arith.constant dense<0xFC00> : tensor<16xf16>
    # CHECK-DAG: %[[ONE:.+]] = arith.constant dense<1.000000e+00> : tensor<16xf16>
    # CHECK: %[[MASK:.+]] = arith.cmpi slt
    offsets = tl.arange(0, 16)
    mask = offsets < n
    # CHECK: tt.load %[[X:.+]], %[[MASK]], %[[MINUS_INF]] : tensor<16x!tt.ptr<f16>>
    a = tl.load(x_ptr + offsets, mask=mask, other=-float("inf"))
    # CHECK: tt.load %[[X]], %[[MASK]] {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_last>} : tensor<16x!tt.ptr<f16>>
    b = tl.load(x_ptr + offsets, mask, cache_modifier=".cg", eviction_policy="evict_last")
    # CHECK: tt.load %x_ptr {isVolatile = true} : !tt.ptr<f16>
    c = tl.load(x_ptr, volatile=True)
    # CHECK: tt.store %[[Y:.+]], %{{.+}}, %[[MASK]] {cachePolicy = #tt.cache_policy<cache_modifier = wt, eviction_policy = evict_first>} : tensor<16x!tt.ptr<f16>>
    tl.store(y_ptr + offsets, a + b + c, mask=mask, cache_modifier=".wt", eviction_policy="evict_first")
    # A number is converted to the element type before it fills the tile.
    # CHECK: tt.store %[[Y]], %[[ONE]] : tensor<16x!tt.ptr<f16>>
    tl.store(y_ptr + offsets, 1.0)
    # CHECK: %[[BYTE:.+]] = arith.extui %[[MASK]] : tensor<16xi1> to tensor<16xi8>
    # CHECK: tt.store %{{.+}}, %[[BYTE]] : tensor<16x!tt.ptr<i8>>
    tl.store(b_ptr + offsets, mask)
