# Reductions: over one axis, over all, of pairs, with widening, kept dimensions and indices.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp32,*i32,*bf16,*i8' --target cpu --emit ttir --no-locations -o - | FileCheck %s
# RUN: nereid compile %s:indices --signature '*bf16,*i32' --target cpu --emit ttir --no-locations -o - | FileCheck %s --check-prefix INDEX
import triton
import triton.language as tl


@triton.jit
def product(a, b):
    return a * b


@triton.jit
def sum_and_count(s1, n1, s2, n2):
    return s1 + s2, n1 + n2


@triton.jit
def kernel(x_ptr, i_ptr, b_ptr, c_ptr):
    # CHECK-LABEL: tt.func public @kernel
    grid = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    x = tl.load(x_ptr + grid)
    # CHECK: %[[SUM:.+]] = "tt.reduce"(%{{.+}}) <{axis = 1 : i32}> ({
    # CHECK-NEXT: ^bb0(%[[A:.+]]: f32, %[[B:.+]]: f32):
    # CHECK-NEXT: %[[AB:.+]] = arith.addf %[[A]], %[[B]] : f32
    # CHECK-NEXT: tt.reduce.return %[[AB]] : f32
    # CHECK-NEXT: }) : (tensor<4x8xf32>) -> tensor<4xf32>
    # CHECK: tt.expand_dims %[[SUM]] {axis = 1 : i32} : tensor<4xf32> -> tensor<4x1xf32>
    tl.store(x_ptr + grid, x / tl.sum(x, axis=-1, keep_dims=True))
    # All axes: the tile is flattened first, in any order.
    # CHECK: tt.reshape %{{.+}} allow_reorder : tensor<4x8xf32> -> tensor<32xf32>
    # CHECK: arith.maxnumf
    # CHECK: }) : (tensor<32xf32>) -> f32
    tl.store(x_ptr, tl.max(x))
    # CHECK: arith.mulf
    # CHECK: }) : (tensor<4x8xf32>) -> tensor<8xf32>
    tl.store(x_ptr + tl.arange(0, 8), x.reduce(0, product))
    # CHECK: %[[PAIR:.+]]:2 = "tt.reduce"(%{{.+}}, %{{.+}}) <{axis = 0 : i32}>
    # CHECK: tt.reduce.return %{{.+}}, %{{.+}} : f32, i32
    # CHECK: }) : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
    total, count = tl.reduce((x, tl.full((4, 8), 1, tl.int32)), 0, sum_and_count)
    tl.store(x_ptr + tl.arange(0, 8), total / count)
    # Narrow integers are summed in 32 bits and keep their signedness.
    # CHECK: arith.extsi %{{.+}} : tensor<4x8xi8> to tensor<4x8xi32>
    # CHECK: arith.addi
    tl.store(i_ptr + tl.arange(0, 8), tl.sum(tl.load(c_ptr + grid), 0))
    # bf16 is summed in bf16, its minimum is computed in fp32.
    # CHECK: %[[BF:.+]] = tt.load %{{.+}} : tensor<4x8x!tt.ptr<bf16>>
    # CHECK: arith.addf %{{.+}}, %{{.+}} : bf16
    # CHECK: arith.extf %[[BF]] : tensor<4x8xbf16> to tensor<4x8xf32>
    # CHECK: arith.minnumf %{{.+}}, %{{.+}} : f32
    b = tl.load(b_ptr + grid)
    tl.store(x_ptr + tl.arange(0, 8), tl.sum(b, 0) + tl.min(b, 0))
    # CHECK: arith.xori
    # CHECK: arith.ori
    tl.store(i_ptr, tl.xor_sum(grid))
    tl.store(i_ptr + tl.arange(0, 8), tl.reduce_or(grid, 0))


@triton.jit
def indices(b_ptr, i_ptr):
    # INDEX-LABEL: tt.func public @indices
    grid = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    b = tl.load(b_ptr + grid)
    # INDEX: %[[AT:.+]] = tt.broadcast %{{.+}} : tensor<1x8xi32> -> tensor<4x8xi32>
    # INDEX: %[[BEST:.+]]:2 = "tt.reduce"(%{{.+}}, %[[AT]]) <{axis = 1 : i32}>
    # INDEX: arith.cmpf ogt
    # INDEX: arith.cmpf oeq
    # INDEX: arith.cmpi slt
    # INDEX: }) : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4xf32>, tensor<4xi32>)
    # INDEX: tt.store %{{.+}}, %[[BEST]]#1
    tl.store(i_ptr + tl.arange(0, 4), tl.argmax(b, axis=1))
    # INDEX: arith.cmpf olt
    # INDEX-NOT: arith.cmpf oeq
    # INDEX: tt.return
    value, index = tl.min(b, 0, return_indices=True, return_indices_tie_break_left=False)
    tl.store(i_ptr + tl.arange(0, 8), index + value.to(tl.int32))
