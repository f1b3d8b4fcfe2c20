// RUN: nereid-opt %s --ttg-branch-divisions | FileCheck %s

// CHECK-LABEL: @by_usual_group_size
tt.func @by_usual_group_size(%a: i32, %left: i32) -> (i32, i32) {
  // CHECK: %[[N:.*]] = arith.minsi
  // CHECK: %[[FULL:.*]] = arith.cmpi eq, %[[N]], %[[C8:.*]] : i32
  // CHECK: %[[BOTH:.*]]:2 = scf.if %[[FULL]]
  // CHECK-DAG: arith.remsi %arg0, %[[C8]]
  // CHECK-DAG: arith.divsi %arg0, %[[C8]]
  // CHECK: else
  // CHECK-DAG: arith.remsi %arg0, %[[N]]
  // CHECK-DAG: arith.divsi %arg0, %[[N]]
  // CHECK: tt.return %[[BOTH]]#0, %[[BOTH]]#1
  %c8 = arith.constant 8 : i32
  %n = arith.minsi %left, %c8 : i32
  %r = arith.remsi %a, %n : i32
  %q = arith.divsi %a, %n : i32
  tt.return %r, %q : i32, i32
}

// CHECK-LABEL: @wraps
tt.func @wraps(%a: i32, %n: i32) -> i32 {
  // CHECK-DAG: %[[BELOW:.*]] = arith.cmpi ult, %arg0, %arg1
  // CHECK-DAG: %[[POSITIVE:.*]] = arith.cmpi sgt, %arg1
  // CHECK: %[[FITS:.*]] = arith.andi %[[BELOW]], %[[POSITIVE]]
  // CHECK: scf.if %[[FITS]]
  // CHECK-NEXT: scf.yield %arg0
  // CHECK: arith.remsi %arg0, %arg1
  %r = arith.remsi %a, %n : i32
  tt.return %r : i32
}

// CHECK-LABEL: @quotient_is_needed
tt.func @quotient_is_needed(%a: i32, %n: i32) -> (i32, i32) {
  // CHECK-NOT: scf.if
  %r = arith.remsi %a, %n : i32
  %q = arith.divsi %a, %n : i32
  tt.return %r, %q : i32, i32
}

// CHECK-LABEL: @no_power_of_two
tt.func @no_power_of_two(%a: i32, %left: i32) -> i32 {
  // CHECK-NOT: scf.if
  %c6 = arith.constant 6 : i32
  %n = arith.minsi %left, %c6 : i32
  %q = arith.divsi %a, %n : i32
  tt.return %q : i32
}

// CHECK-LABEL: @in_a_loop
tt.func @in_a_loop(%a: i32, %n: i32) -> i32 {
  // CHECK-NOT: scf.if
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %last = scf.for %i = %c0 to %a step %c1 iter_args(%x = %c0) -> i32 : i32 {
    %r = arith.remsi %i, %n : i32
    scf.yield %r : i32
  }
  tt.return %last : i32
}
