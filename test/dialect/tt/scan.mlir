// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Scans print in the generic form that other producers use.

// CHECK-LABEL: tt.func public @scan
tt.func public @scan(%x: tensor<8x4xf32>, %i: tensor<8x4xi64>) {
  // CHECK: "tt.scan"(%{{.*}}) <{axis = 1 : i32, reverse = false}> ({
  // CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[B]] : f32
  // CHECK: tt.scan.return %[[SUM]] : f32
  // CHECK: }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %sums = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.scan.return %s : f32
  }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: "tt.scan"(%{{.*}}, %{{.*}}) <{axis = 0 : i32, reverse = true}> ({
  // CHECK: tt.scan.return %{{.*}}, %{{.*}} : f32, i64
  %two:2 = "tt.scan"(%x, %i) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a: f32, %b: i64, %c: f32, %d: i64):
    tt.scan.return %c, %d : f32, i64
  }) : (tensor<8x4xf32>, tensor<8x4xi64>) -> (tensor<8x4xf32>, tensor<8x4xi64>)
  tt.return
}
