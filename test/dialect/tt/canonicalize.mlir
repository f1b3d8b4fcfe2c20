// RUN: nereid-opt %s --canonicalize --split-input-file | FileCheck %s
// Canonicalization before any target's passes.

// CHECK-LABEL: @constant_masks
tt.func @constant_masks(%p: tensor<4x!tt.ptr<f32>>, %other: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %true = arith.constant dense<true> : tensor<4xi1>
  %false = arith.constant dense<false> : tensor<4xi1>
  // CHECK: %[[LOADED:.*]] = tt.load %{{[a-z0-9]*}} : tensor<4x!tt.ptr<f32>>
  %a = tt.load %p, %true, %other : tensor<4x!tt.ptr<f32>>
  %b = tt.load %p, %false, %other : tensor<4x!tt.ptr<f32>>
  // CHECK-NEXT: tt.store %{{.*}}, %{{.*}} : tensor<4x!tt.ptr<f32>>
  // CHECK-NEXT: tt.return %[[LOADED]], %{{.*}}
  tt.store %p, %a, %true : tensor<4x!tt.ptr<f32>>
  tt.store %p, %a, %false : tensor<4x!tt.ptr<f32>>
  tt.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----
// CHECK-LABEL: @shapes_of_constants
tt.func @shapes_of_constants() -> tensor<4x8xf32> {
  // CHECK-NEXT: arith.constant dense<1.000000e+00> : tensor<4x8xf32>
  // CHECK-NEXT: tt.return
  %c = arith.constant 1.0 : f32
  %s = tt.splat %c : f32 -> tensor<8xf32>
  %e = tt.expand_dims %s {axis = 0 : i32} : tensor<8xf32> -> tensor<1x8xf32>
  %b = tt.broadcast %e : tensor<1x8xf32> -> tensor<4x8xf32>
  tt.return %b : tensor<4x8xf32>
}

// -----
// CHECK-LABEL: @chains
tt.func @chains(%x: tensor<4x8xf32>, %p: !tt.ptr<f32>) -> (tensor<4x8xf32>, !tt.ptr<f32>) {
  // CHECK-NEXT: tt.return %{{.*}}, %{{.*}}
  %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %u = tt.trans %t {order = array<i32: 1, 0>} : tensor<8x4xf32> -> tensor<4x8xf32>
  %r = tt.reshape %u : tensor<4x8xf32> -> tensor<32xf32>
  %v = tt.reshape %r : tensor<32xf32> -> tensor<4x8xf32>
  %zero = arith.constant 0 : i32
  %q = tt.addptr %p, %zero : !tt.ptr<f32>, i32
  tt.return %v, %q : tensor<4x8xf32>, !tt.ptr<f32>
}
