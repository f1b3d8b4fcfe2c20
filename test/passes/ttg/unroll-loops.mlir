// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-unroll-loops))' 2>&1 | FileCheck %s
// Iterations are unrolled while values are still tiles; remaining iterations run in a loop of their own.

// CHECK: remark: this loop is not unrolled by 4: its step is not a constant
// CHECK: remark: this loop is not unrolled by 4: so many steps are beyond the index's type

// CHECK-LABEL: tt.func @any_iterations
// CHECK-DAG: %[[STEP:.*]] = arith.constant 6 : i32
// CHECK: %[[GROUPS:.*]] = arith.divui %{{.*}}, %[[STEP]] : i32
// CHECK: %[[DONE:.*]] = arith.muli %[[GROUPS]], %[[STEP]] : i32
// CHECK: %[[MID:.*]] = arith.addi %{{.*}}, %[[DONE]] : i32
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %{{.*}} to %[[MID]] step %[[STEP]]
// CHECK-COUNT-2: tt.load
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %[[MID]] to %{{.*}} iter_args(%{{.*}} = %[[SUM]])
// CHECK-COUNT-1: tt.load
// CHECK-NOT: tt.load
// CHECK: tt.num_stages = 1 : i32
// CHECK-NOT: loop_unroll_factor
tt.func @any_iterations(%x: !tt.ptr<i32>, %from: i32, %to: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %r = scf.for %i = %from to %to step %c3 iter_args(%sum = %c0) -> (i32) : i32 {
    %p = tt.addptr %x, %i : !tt.ptr<i32>, i32
    %v = tt.load %p : !tt.ptr<i32>
    %s = arith.addi %sum, %v : i32
    scf.yield %s : i32
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return %r : i32
}

// A constant trip count leaves no remaining iterations.
// CHECK-LABEL: tt.func @known_iterations
// CHECK: scf.for
// CHECK-COUNT-2: tt.load
// CHECK-NOT: tt.load
// CHECK-NOT: scf.for
tt.func @known_iterations(%x: !tt.ptr<i32>) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%sum = %c0) -> (i32) : i32 {
    %p = tt.addptr %x, %i : !tt.ptr<i32>, i32
    %v = tt.load %p : !tt.ptr<i32>
    %s = arith.addi %sum, %v : i32
    scf.yield %s : i32
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return %r : i32
}

// CHECK-LABEL: tt.func @all_iterations
// CHECK-NOT: scf.for
// CHECK-COUNT-2: tt.load
tt.func @all_iterations(%x: !tt.ptr<i32>) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%sum = %c0) -> (i32) : i32 {
    %p = tt.addptr %x, %i : !tt.ptr<i32>, i32
    %v = tt.load %p : !tt.ptr<i32>
    %s = arith.addi %sum, %v : i32
    scf.yield %s : i32
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return %r : i32
}

// CHECK-LABEL: tt.func @not_known
// CHECK-COUNT-2: scf.for
tt.func @not_known(%x: !tt.ptr<i32>, %n: i32, %step: i32) {
  %c0 = arith.constant 0 : i32
  %large = arith.constant 1073741824 : i32
  scf.for %i = %c0 to %n step %step : i32 {
    tt.store %x, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 4 : i32}
  scf.for %i = %c0 to %n step %large : i32 {
    tt.store %x, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 4 : i32}
  tt.return
}
