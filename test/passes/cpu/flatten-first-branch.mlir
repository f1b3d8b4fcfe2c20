// A branch that sets tiles for a loop's first iteration becomes a choice; one that stores, or whose first values cost
// much, stays.
// RUN: nereid-opt %s --cpu-flatten-first-branch | FileCheck %s

// CHECK-LABEL: @running_mean
// CHECK: scf.for %[[I:.*]] = %[[LOWER:.*]] to
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[LOWER]], %[[I]]
// CHECK-NOT: scf.if
// CHECK: %[[LATER:.*]] = arith.divf
// CHECK: %[[NEXT:.*]] = arith.select %[[FIRST]], %{{.*}}, %[[LATER]]
// CHECK: scf.yield %[[NEXT]]
tt.func @running_mean(%x: tensor<64xf32>, %lower: i32, %n: i32) -> tensor<64xf32> {
  %c1 = arith.constant 1 : i32
  %acc = scf.for %i = %lower to %n step %c1 iter_args(%a = %x) -> (tensor<64xf32>) : i32 {
    %first = arith.cmpi eq, %lower, %i : i32
    %next = scf.if %first -> tensor<64xf32> {
      scf.yield %x : tensor<64xf32>
    } else {
      %mean = arith.divf %a, %x : tensor<64xf32>
      scf.yield %mean : tensor<64xf32>
    }
    scf.yield %next : tensor<64xf32>
  }
  tt.return %acc : tensor<64xf32>
}

// CHECK-LABEL: @all_but_the_first
// CHECK: %[[LATER:.*]] = arith.mulf
// CHECK: arith.select %{{.*}}, %[[LATER]], %{{.*}} : tensor<64xf32>
tt.func @all_but_the_first(%x: tensor<64xf32>, %n: i32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %acc = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<64xf32>) : i32 {
    %later = arith.cmpi ne, %i, %c0 : i32
    %next = scf.if %later -> tensor<64xf32> {
      %product = arith.mulf %a, %x : tensor<64xf32>
      scf.yield %product : tensor<64xf32>
    } else {
      scf.yield %x : tensor<64xf32>
    }
    scf.yield %next : tensor<64xf32>
  }
  tt.return %acc : tensor<64xf32>
}

// CHECK-LABEL: @kept
// CHECK-COUNT-3: scf.if
tt.func @kept(%x: tensor<64xf32>, %p: !tt.ptr<i32>, %n: i32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %acc = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<64xf32>) : i32 {
    %first = arith.cmpi eq, %i, %c0 : i32
    %second = arith.cmpi eq, %i, %c1 : i32
    %stores = scf.if %first -> tensor<64xf32> {
      tt.store %p, %n : !tt.ptr<i32>
      scf.yield %x : tensor<64xf32>
    } else {
      scf.yield %a : tensor<64xf32>
    }
    %divides = scf.if %first -> tensor<64xf32> {
      %quotient = arith.divf %x, %stores : tensor<64xf32>
      scf.yield %quotient : tensor<64xf32>
    } else {
      scf.yield %stores : tensor<64xf32>
    }
    %other = scf.if %second -> tensor<64xf32> {
      scf.yield %x : tensor<64xf32>
    } else {
      scf.yield %divides : tensor<64xf32>
    }
    scf.yield %other : tensor<64xf32>
  }
  tt.return %acc : tensor<64xf32>
}
