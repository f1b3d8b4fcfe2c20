# A function of scalars on every element: the op with its region, broadcast operands, several results.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*i32' --target cpu --emit ttir --no-locations -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def divide(a, b):
    if b == 0:
        return a, 0.0
    else:
        return a // b, a / b


@triton.jit
def kernel(x_ptr):
    # CHECK-LABEL: tt.func public @kernel
    x = tl.load(x_ptr + tl.arange(0, 8))
    # CHECK: %[[L:.+]] = tt.broadcast %{{.+}} : tensor<8x1xi32> -> tensor<8x8xi32>
    # CHECK: %[[R:.+]] = tt.broadcast %{{.+}} : tensor<1x8xi32> -> tensor<8x8xi32>
    # CHECK: "tt.map_elementwise"(%[[L]], %[[R]]) <{pack = 1 : i32}> ({
    # CHECK: ^bb0(%[[A:.+]]: i32, %[[B:.+]]: i32):
    # CHECK: %[[Q:.+]]:2 = scf.if %{{.+}} -> (i32, f32) {
    # CHECK: arith.divsi %[[A]], %[[B]]
    # CHECK: tt.map_elementwise.return %[[Q]]#0, %[[Q]]#1 : i32, f32
    # CHECK: }) : (tensor<8x8xi32>, tensor<8x8xi32>) -> (tensor<8x8xi32>, tensor<8x8xf32>)
    quotient, ratio = tl.map_elementwise(divide, x[:, None], x[None, :])
    at = tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(x_ptr + at, quotient + ratio.to(tl.int32))
