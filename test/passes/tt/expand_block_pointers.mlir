// RUN: nereid-opt %s --tt-expand-block-pointers --split-input-file --verify-diagnostics | FileCheck %s
// A block pointer passes through loops, branches and calls as base, shape, strides and offsets.

// CHECK-LABEL: tt.func public @loop
// CHECK-SAME: %[[P:.*]]: !tt.ptr<f32>, %[[N:.*]]: i64
tt.func public @loop(%p: !tt.ptr<f32>, %n: i64, %count: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant 1 : i64
  %a = tt.make_tensor_ptr %p, [%n], [%one], [%c0] {order = array<i32: 0>} : <tensor<8xf32>>
  // CHECK: scf.for {{.*}} iter_args(%[[BASE:.*]] = %[[P]], %[[SIZE:.*]] = %[[N]], %{{.*}}, %[[AT:.*]] = %{{.*}}) -> (!tt.ptr<f32>, i64, i64, i32)
  %end = scf.for %i = %c0 to %count step %c1 iter_args(%b = %a) -> (!tt.ptr<tensor<8xf32>>) : i32 {
    // CHECK: %[[WIDE:.*]] = arith.extsi %[[AT]] : i32 to i64
    // CHECK: %[[LIMIT:.*]] = tt.splat %[[SIZE]] : i64 -> tensor<8xi64>
    // CHECK: arith.cmpi slt, %{{.*}}, %[[LIMIT]] : tensor<8xi64>
    // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
    // CHECK: tt.load %{{.*}}, %{{.*}}, %[[ZERO]] {cachePolicy = {{.*}}} : tensor<8x!tt.ptr<f32>>
    %x = tt.load %b cacheModifier = cg {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<8xf32>>
    // CHECK: tt.store %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<f32>>
    tt.store %b, %x : !tt.ptr<tensor<8xf32>>
    // CHECK: arith.addi %[[AT]], %{{.*}} : i32
    %c = tt.advance %b, [%c1] : <tensor<8xf32>>
    scf.yield %c : !tt.ptr<tensor<8xf32>>
  }
  tt.return
}

// -----
// CHECK-LABEL: tt.func public @ways
tt.func public @ways(%p: !tt.ptr<f32>, %n: i64, %i: i32, %which: i1) {
  %one = arith.constant 1 : i64
  %a = tt.make_tensor_ptr %p, [%n], [%one], [%i] {order = array<i32: 0>} : <tensor<8xf32>>
  // CHECK: scf.if %{{.*}} -> (!tt.ptr<f32>, i64, i64, i32)
  %b = scf.if %which -> (!tt.ptr<tensor<8xf32>>) {
    // CHECK: tt.call @moved(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!tt.ptr<f32>, i64, i64, i32) -> (!tt.ptr<f32>, i64, i64, i32)
    %c = tt.call @moved(%a) : (!tt.ptr<tensor<8xf32>>) -> !tt.ptr<tensor<8xf32>>
    scf.yield %c : !tt.ptr<tensor<8xf32>>
  } else {
    %c = ub.poison : !tt.ptr<tensor<8xf32>>
    scf.yield %c : !tt.ptr<tensor<8xf32>>
  }
  // CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
  %c = arith.select %which, %a, %b : !tt.ptr<tensor<8xf32>>
  // CHECK: tt.load %{{.*}} : tensor<8x!tt.ptr<f32>>
  %x = tt.load %c : !tt.ptr<tensor<8xf32>>
  tt.return
}
// CHECK: tt.func private @moved(%{{.*}}: !tt.ptr<f32>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i32) -> (!tt.ptr<f32>, i64, i64, i32)
tt.func private @moved(%a: !tt.ptr<tensor<8xf32>>) -> !tt.ptr<tensor<8xf32>> {
  %c1 = arith.constant 1 : i32
  %b = tt.advance %a, [%c1] : <tensor<8xf32>>
  tt.return %b : !tt.ptr<tensor<8xf32>>
}

// -----
tt.func public @no_such_dimension(%p: !tt.ptr<tensor<8xf32>>) {
  // expected-error @+2 {{`boundaryCheck` names dimension 1 of a tile of 1}}
  // expected-error @+1 {{failed to legalize}}
  %x = tt.load %p {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<8xf32>>
  tt.return
}
