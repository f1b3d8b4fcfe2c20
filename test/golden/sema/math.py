# Every mathematical function, from tl, tl.math and as a method.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp32,i32,u32' --target cpu --emit ttir --no-locations -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, i, u):
    # CHECK-LABEL: tt.func public @kernel
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets)
    # CHECK: math.exp %
    # CHECK-NEXT: math.exp2
    # CHECK-NEXT: math.log %
    # CHECK-NEXT: math.log2
    x = tl.log2(tl.math.log(x.exp().exp2()))
    # CHECK-NEXT: math.cos
    # CHECK-NEXT: math.sin
    # CHECK-NEXT: math.sqrt
    # CHECK-NEXT: math.rsqrt
    # CHECK-NEXT: math.erf
    x = tl.erf(tl.rsqrt(tl.sqrt(tl.sin(tl.cos(x)))))
    # CHECK-NEXT: math.floor
    # CHECK-NEXT: math.ceil
    # CHECK-NEXT: math.absf
    # CHECK-NEXT: tt.precise_sqrt
    x = tl.math.sqrt_rn(tl.abs(tl.ceil(tl.floor(x))))
    # CHECK: math.fma
    # CHECK-NEXT: arith.divf
    # CHECK-NEXT: tt.precise_divf
    x = tl.div_rn(tl.fdiv(tl.fma(x, x, 1.0), x), x)
    tl.store(x_ptr + offsets, x)
    # CHECK: %[[MAGNITUDE:.+]] = math.absi %i : i32
    # CHECK: tt.mulhiui %[[MAGNITUDE]], %{{.+}} : i32
    # CHECK: tt.mulhiui %u, %u : i32
    tl.store(x_ptr, tl.umulhi(tl.abs(i), i))
    tl.store(x_ptr, tl.umulhi(tl.abs(u), u))
