// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// RUN: nereid-opt %s --canonicalize | FileCheck %s --check-prefix=SIMPLE
// A map prints in generic form; without control flow it becomes ops on tiles (on parts of tiles where `pack` is > 1).

// CHECK-LABEL: tt.func public @map
// SIMPLE-LABEL: tt.func public @map
tt.func public @map(%x: tensor<8xi32>, %p: !tt.ptr<f32>, %out: tensor<8x!tt.ptr<f32>>) {
  // CHECK: "tt.map_elementwise"(%{{.*}}) <{pack = 1 : i32}> ({
  // CHECK: ^bb0(%[[A:.*]]: i32):
  // CHECK: tt.map_elementwise.return %{{.*}} : f32
  // CHECK: }) : (tensor<8xi32>) -> tensor<8xf32>
  // SIMPLE-NOT: map_elementwise
  // SIMPLE: %[[F:.*]] = arith.sitofp %{{.*}} : tensor<8xi32> to tensor<8xf32>
  // SIMPLE: %[[S:.*]] = arith.addf %[[F]], %{{.*}} : tensor<8xf32>
  // SIMPLE: tt.store %{{.*}}, %[[S]]
  %f = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: i32):
    %one = arith.constant 1.0 : f32
    %b = arith.sitofp %a : i32 to f32
    %c = arith.addf %b, %one : f32
    tt.map_elementwise.return %c : f32
  }) : (tensor<8xi32>) -> tensor<8xf32>
  tt.store %out, %f : tensor<8x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: tt.func public @packed
// SIMPLE-LABEL: tt.func public @packed
tt.func public @packed(%x: tensor<4x2xi32>, %out: tensor<4x2x!tt.ptr<i32>>) {
  // CHECK: <{pack = 2 : i32}>
  // CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: i32):
  // SIMPLE: %[[A:.*]], %[[B:.*]] = tt.split %{{.*}} : tensor<4x2xi32> -> tensor<4xi32>
  // SIMPLE: %[[J:.*]] = tt.join %[[B]], %[[A]] : tensor<4xi32> -> tensor<4x2xi32>
  // SIMPLE: tt.store %{{.*}}, %[[J]]
  %r = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    tt.map_elementwise.return %b, %a : i32, i32
  }) : (tensor<4x2xi32>) -> tensor<4x2xi32>
  tt.store %out, %r : tensor<4x2x!tt.ptr<i32>>
  tt.return
}
