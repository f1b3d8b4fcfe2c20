# Offsets of pointers are signed; unsigned ones under 64 bits are widened first.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp32,i32,u32' --target cpu --emit ttir --no-locations -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, i, u):
    # CHECK-LABEL: tt.func public @kernel
    # CHECK: tt.addptr %x_ptr, %i : !tt.ptr<f32>, i32
    tl.store(i + x_ptr, 1.0)
    # CHECK: %[[WIDE:.+]] = arith.extui %u : i32 to i64
    # CHECK: tt.addptr %x_ptr, %[[WIDE]] : !tt.ptr<f32>, i64
    tl.store(x_ptr + u, 2.0)
    # CHECK: %[[BACK:.+]] = arith.subi %{{.+}}, %i : i32
    # CHECK: tt.addptr %x_ptr, %[[BACK]] : !tt.ptr<f32>, i32
    tl.store(x_ptr - i, 3.0)
    # CHECK: tt.int_to_ptr %{{.+}} : i64 -> !tt.ptr<f16>
    tl.store(u.to(tl.int64).to(tl.pointer_type(tl.float16)), 4.0)
    # CHECK: tt.bitcast %x_ptr : !tt.ptr<f32> -> !tt.ptr<i8>
    tl.store(x_ptr.to(tl.pointer_type(tl.int8), bitcast=True), 5)
