// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Ops that create and rearrange tiles round-trip.

// CHECK-LABEL: tt.func public @shapes
tt.func public @shapes(%x: f32, %t: tensor<4x8xf32>) attributes {noinline = false} {
  // CHECK: tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // CHECK: tt.splat %{{.*}} : f32 -> tensor<16xf32>
  %s = tt.splat %x : f32 -> tensor<16xf32>
  // CHECK: tt.expand_dims %{{.*}} {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
  %e = tt.expand_dims %s {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
  // CHECK: tt.broadcast %{{.*}} : tensor<16x1xf32> -> tensor<16x4xf32>
  %b = tt.broadcast %e : tensor<16x1xf32> -> tensor<16x4xf32>
  // CHECK: tt.reshape %{{.*}} : tensor<16x4xf32> -> tensor<64xf32>
  %f = tt.reshape %b : tensor<16x4xf32> -> tensor<64xf32>
  // CHECK: tt.reshape %{{.*}} allow_reorder : tensor<64xf32> -> tensor<8x8xf32>
  %g = tt.reshape %f allow_reorder : tensor<64xf32> -> tensor<8x8xf32>
  // CHECK: tt.trans %{{.*}} {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %p = tt.trans %t {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  // CHECK: tt.splat %{{.*}} : f32 -> tensor<1xf32>
  %one = tt.splat %x : f32 -> tensor<1xf32>
  // CHECK: tt.unsplat %{{.*}} : tensor<1xf32>
  %u = tt.unsplat %one : tensor<1xf32>
  // CHECK: tt.return
  tt.return
}
