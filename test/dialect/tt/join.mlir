// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// join, split and cat round-trip.

// CHECK-LABEL: tt.func public @joins
tt.func public @joins(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %r: tensor<16xi1>) {
  // CHECK: %[[J:.*]] = tt.join %{{.*}}, %{{.*}} : tensor<8x4xf32> -> tensor<8x4x2xf32>
  %j = tt.join %a, %b : tensor<8x4xf32> -> tensor<8x4x2xf32>
  // CHECK: %{{.*}}, %{{.*}} = tt.split %[[J]] : tensor<8x4x2xf32> -> tensor<8x4xf32>
  %l, %h = tt.split %j : tensor<8x4x2xf32> -> tensor<8x4xf32>
  // CHECK: tt.cat %{{.*}}, %{{.*}} : tensor<16xi1> -> tensor<32xi1>
  %c = tt.cat %r, %r : tensor<16xi1> -> tensor<32xi1>
  tt.return
}
