# where, minimum and maximum with and without NaN propagation, clamp and the function forms of operators.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp32,*bf16,i32,u32,i1' --target cpu --emit ttir --no-locations -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, b_ptr, n, u, flag):
    # CHECK-LABEL: tt.func public @kernel
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets)
    b = tl.load(b_ptr + offsets)
    # CHECK: %[[X:.+]] = tt.load {{.*}}f32
    # CHECK: %[[B:.+]] = tt.load {{.*}}bf16
    # CHECK: %[[LESS:.+]] = arith.cmpi slt
    # CHECK: arith.select %[[LESS]], %[[X]], %{{.+}} : tensor<16xi1>, tensor<16xf32>
    tl.store(x_ptr + offsets, tl.where(offsets < n, x, 0))
    # CHECK: arith.select %{{.+}}, %[[X]], %{{.+}} : tensor<16xf32>
    tl.store(x_ptr + offsets, tl.where(flag, x, -x))
    # CHECK: arith.maxnumf %[[X]]
    tl.store(x_ptr + offsets, tl.maximum(x, 0.0))
    # CHECK: arith.minimumf %[[X]]
    tl.store(x_ptr + offsets, tl.minimum(x, 1, propagate_nan=tl.PropagateNan.ALL))
    # CHECK: %[[WIDE:.+]] = arith.extf %[[B]] : tensor<16xbf16> to tensor<16xf32>
    # CHECK: arith.maxnumf %[[WIDE]]
    tl.store(x_ptr + offsets, tl.maximum(b, b + 1))
    # CHECK: arith.maxsi
    tl.store(x_ptr + offsets, tl.maximum(offsets, n))
    # CHECK: arith.minui
    tl.store(x_ptr, tl.minimum(u, 7))
    # CHECK: tt.clampf %[[X]], %{{.+}}, %{{.+}}, propagateNan = none : tensor<16xf32>
    tl.store(x_ptr + offsets, tl.clamp(x, 0.0, 6.0))
    # CHECK: arith.addf
    # CHECK: arith.subf
    # CHECK: arith.mulf
    tl.store(x_ptr + offsets, tl.mul(tl.sub(tl.add(x, 1), 2.5), x))
