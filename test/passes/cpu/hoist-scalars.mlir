// Scalars that need nothing of a loop with dots are computed before it; divisions, which may trap, stay.
// RUN: nereid-opt %s --cpu-hoist-scalars | FileCheck %s

// CHECK-LABEL: @after_dots
// CHECK: %[[N:.*]] = arith.muli %arg3, %arg3
// CHECK: %[[NEXT:.*]] = arith.addi %[[N]], %arg3
// CHECK: %[[ACC:.*]]:2 = scf.for
// CHECK: arith.addi %[[ACC]]#1, %[[NEXT]]
// CHECK: arith.divsi
tt.func @after_dots(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %out: !tt.ptr<i32>, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %acc:2 = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero, %s = %c0) -> (tensor<16x16xf32>, i32) : i32 {
    %d = tt.dot %a, %b, %c : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    %t = arith.addi %s, %i : i32
    scf.yield %d, %t : tensor<16x16xf32>, i32
  }
  %square = arith.muli %n, %n : i32
  %next = arith.addi %square, %n : i32
  %sum = arith.addi %acc#1, %next : i32
  %quotient = arith.divsi %square, %n : i32
  tt.store %out, %sum : !tt.ptr<i32>
  tt.store %out, %quotient : !tt.ptr<i32>
  tt.return
}

// CHECK-LABEL: @without_dots
// CHECK: scf.for
// CHECK: arith.muli
tt.func @without_dots(%out: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {
    %t = arith.addi %s, %i : i32
    scf.yield %t : i32
  }
  %square = arith.muli %n, %n : i32
  %both = arith.addi %square, %sum : i32
  tt.store %out, %both : !tt.ptr<i32>
  tt.return
}
