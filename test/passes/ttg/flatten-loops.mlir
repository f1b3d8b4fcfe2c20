// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-flatten-loops))' 2>&1 | FileCheck %s
// A loop over tiles and its inner loop become one, with the end of one tile and the begin of the next in branches.

// CHECK: remark: this loop and the one in it do not become one: the inner one's bounds change with the outer one's iterations
// CHECK: remark: this loop and the one in it do not become one: `tt.load` before the inner one has an effect or reads memory
// CHECK: remark: this loop and the one in it do not become one: there are several loops in it
// CHECK: remark: this loop and the one in it do not become one: there is no loop directly in it

// CHECK-LABEL: tt.func @sums
// CHECK: %[[ALL:.*]] = arith.muli {{.*}} : i64
// CHECK: %[[RUNS:.*]] = arith.cmpi ne, %[[ALL]]
// CHECK: scf.if %[[RUNS]] {
// CHECK: scf.for unsigned %{{.*}} = %{{.*}} to %[[ALL]]
// CHECK-NOT: scf.for
// CHECK: tt.load
// CHECK: %[[SUM:.*]] = arith.addi
// CHECK: scf.if
// CHECK: tt.store %{{.*}}, %[[SUM]]
// CHECK: scf.if
// CHECK: arith.muli
// CHECK: } else {
// CHECK: scf.yield %[[SUM]]
// CHECK: tt.num_stages = 5 : i32
// Without inner iterations the outer ones store their initial values.
// CHECK: } else {
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.store
tt.func @sums(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>, %tiles: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %t = %c0 to %tiles step %c1 : i32 {
    %start = arith.muli %t, %k : i32
    %r = scf.for %i = %c0 to %k step %c1 iter_args(%sum = %start) -> (i32) : i32 {
      %p = tt.addptr %x, %i : !tt.ptr<i32>, i32
      %v = tt.load %p : !tt.ptr<i32>
      %s = arith.addi %sum, %v : i32
      scf.yield %s : i32
    } {tt.num_stages = 5 : i32}
    %q = tt.addptr %o, %t : !tt.ptr<i32>, i32
    tt.store %q, %r : !tt.ptr<i32>
  } {tt.flatten}
  tt.return
}

// CHECK-LABEL: tt.func @changing_bounds
// CHECK-COUNT-2: scf.for
tt.func @changing_bounds(%o: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %t = %c0 to %n step %c1 : i32 {
    scf.for %i = %c0 to %t step %c1 : i32 {
      tt.store %o, %i : !tt.ptr<i32>
    }
  } {tt.flatten}
  tt.return
}

// CHECK-LABEL: tt.func @reads_before
// CHECK-COUNT-2: scf.for
tt.func @reads_before(%o: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %t = %c0 to %n step %c1 : i32 {
    %v = tt.load %o : !tt.ptr<i32>
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.store %o, %v : !tt.ptr<i32>
    }
  } {tt.flatten}
  tt.return
}

// CHECK-LABEL: tt.func @other_numbers_of_loops
// CHECK-COUNT-4: scf.for
tt.func @other_numbers_of_loops(%o: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %t = %c0 to %n step %c1 : i32 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.store %o, %i : !tt.ptr<i32>
    }
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.store %o, %i : !tt.ptr<i32>
    }
  } {tt.flatten}
  scf.for %t = %c0 to %n step %c1 : i32 {
    tt.store %o, %t : !tt.ptr<i32>
  } {tt.flatten}
  tt.return
}
