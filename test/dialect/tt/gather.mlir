// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Ops with computed indices round-trip.

// CHECK-LABEL: tt.func public @indices
tt.func public @indices(%x: tensor<16x4xf32>, %i: tensor<8x4xi32>, %v: tensor<512xi32>, %m: tensor<512xi1>) {
  // CHECK: tt.gather %{{.*}}[%{{.*}}] {axis = 0 : i32} : (tensor<16x4xf32>, tensor<8x4xi32>) -> tensor<8x4xf32>
  %g = tt.gather %x[%i] {axis = 0 : i32} : (tensor<16x4xf32>, tensor<8x4xi32>) -> tensor<8x4xf32>
  // CHECK: tt.gather %{{.*}}[%{{.*}}] {axis = 0 : i32, efficient_layout}
  %e = tt.gather %x[%i] {axis = 0 : i32, efficient_layout} : (tensor<16x4xf32>, tensor<8x4xi32>) -> tensor<8x4xf32>
  // CHECK: tt.scatter_add %{{.*}}[%{{.*}}] : (tensor<512xi32>, tensor<512xi32>) -> tensor<16xi32>
  %s = tt.scatter_add %v[%v] : (tensor<512xi32>, tensor<512xi32>) -> tensor<16xi32>
  // CHECK: tt.scatter_add %{{.*}}[%{{.*}}], %{{.*}} : (tensor<512xi32>, tensor<512xi32>, tensor<512xi1>) -> tensor<16xi32>
  %t = tt.scatter_add %v[%v], %m : (tensor<512xi32>, tensor<512xi32>, tensor<512xi1>) -> tensor<16xi32>
  // CHECK: tt.histogram %{{.*}} : tensor<512xi32> -> tensor<16xi32>
  %h = tt.histogram %v : tensor<512xi32> -> tensor<16xi32>
  // CHECK: tt.histogram %{{.*}}, %{{.*}} : tensor<512xi32> -> tensor<16xi32>
  %k = tt.histogram %v, %m : tensor<512xi32> -> tensor<16xi32>
  tt.return
}
