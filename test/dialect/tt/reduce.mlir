// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Reductions print in the generic form that other producers use.

// CHECK-LABEL: tt.func public @reduce
tt.func public @reduce(%x: tensor<8x4xf32>) {
  // CHECK: "tt.reduce"(%{{.*}}) <{axis = 1 : i32}> ({
  // CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[B]] : f32
  // CHECK: tt.reduce.return %[[SUM]] : f32
  // CHECK: }) : (tensor<8x4xf32>) -> tensor<8xf32>
  %rows = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<8x4xf32>) -> tensor<8xf32>
  // CHECK: (tensor<8xf32>) -> f32
  %all = "tt.reduce"(%rows) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.maxnumf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<8xf32>) -> f32
  tt.return
}
