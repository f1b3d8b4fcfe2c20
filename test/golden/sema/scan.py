# Scans: the op with its region, cumsum and cumprod of the library.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*bf16,*fp32' --target cpu --emit ttir --no-locations -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def later(a, i, b, j):
    return b, i + j


@triton.jit
def kernel(x_ptr, out_ptr):
    # CHECK-LABEL: tt.func public @kernel
    at = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    x = tl.load(x_ptr + at)
    # CHECK: %[[WIDE:.+]] = arith.extf %{{.+}} : tensor<4x8xbf16> to tensor<4x8xf32>
    # CHECK: "tt.scan"(%[[WIDE]]) <{axis = 1 : i32, reverse = false}> ({
    # CHECK: arith.addf
    # CHECK: tt.scan.return %{{.+}} : f32
    tl.store(out_ptr + at, tl.cumsum(x, -1))
    # CHECK: "tt.scan"(%[[WIDE]]) <{axis = 0 : i32, reverse = true}> ({
    # CHECK: arith.mulf
    tl.store(out_ptr + at, x.cumprod(0, reverse=True))
    # CHECK: "tt.scan"(%[[WIDE]], %{{.+}}) <{axis = 1 : i32, reverse = false}> ({
    # CHECK: ^bb0(%{{.+}}: f32, %[[I:.+]]: i32, %[[B:.+]]: f32, %[[J:.+]]: i32):
    # CHECK: %[[SUM:.+]] = arith.addi %[[I]], %[[J]] : i32
    # CHECK: tt.scan.return %[[B]], %[[SUM]] : f32, i32
    value, count = tl.associative_scan((x.to(tl.float32), at), 1, later)
    tl.store(out_ptr + at, value + count)
