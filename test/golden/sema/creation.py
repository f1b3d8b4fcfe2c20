# arange, full, zeros and zeros_like create tiles; an empty shape gives a scalar.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp32,*fp16,*i64,fp32' --target cpu --emit ttir --no-locations -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, h_ptr, i_ptr, f):
    # CHECK-LABEL: tt.func public @kernel
    # CHECK-DAG: %[[SEVEN:.+]] = arith.constant dense<7> : tensor<16xi64>
    # CHECK-DAG: %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : tensor<16xf32>
    # CHECK-DAG: %[[HALF:.+]] = arith.constant 5.000000e-01 : f16
    # CHECK: %[[R:.+]] = tt.make_range {end = 20 : i32, start = 4 : i32} : tensor<16xi32>
    r = tl.arange(4, 20)
    # CHECK: tt.store %{{.+}}, %[[SEVEN]] : tensor<16x!tt.ptr<i64>>
    tl.store(i_ptr + r, tl.full((16, ), 7, tl.int64))
    # CHECK: %[[FS:.+]] = tt.splat %f : f32 -> tensor<16xf32>
    # CHECK: tt.store %[[P:.+]], %[[FS]]
    full = tl.full([16], f, tl.float32)
    tl.store(x_ptr + r, full)
    # CHECK: tt.store %[[P]], %[[ZERO]]
    tl.store(x_ptr + r, tl.zeros_like(full))
    # CHECK: tt.store %[[P]], %[[ZERO]]
    tl.store(x_ptr + r, tl.zeros((16, ), dtype=tl.float32))
    # CHECK: tt.store %h_ptr, %[[HALF]] : !tt.ptr<f16>
    tl.store(h_ptr, tl.full((), 0.5, tl.float16))
