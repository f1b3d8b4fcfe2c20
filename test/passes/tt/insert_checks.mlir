// RUN: nereid-opt %s --tt-insert-checks=kinds=bounds --split-input-file | FileCheck %s --check-prefix=BOUNDS
// RUN: nereid-opt %s --tt-insert-checks=kinds=overflow --split-input-file | FileCheck %s --check-prefix=OVERFLOW
// RUN: nereid-opt %s --tt-insert-checks=kinds=uninit --split-input-file | FileCheck %s --check-prefix=UNINIT
// RUN: nereid-opt %s --tt-insert-checks=kinds=nan --split-input-file | FileCheck %s --check-prefix=NAN
// Checks are inserted beside accesses and arithmetic, but not where they are not needed.

// BOUNDS-LABEL: @masked_load
// OVERFLOW-LABEL: @masked_load
// UNINIT-LABEL: @masked_load
// NAN-LABEL: @masked_load
tt.func public @masked_load(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %s = tt.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %r, %s : tensor<8xi32>
  // OVERFLOW: %[[SUM:.+]] = arith.addi
  %o = arith.addi %r, %s : tensor<8xi32>
  // OVERFLOW-NEXT: check.values overflow "+"(%{{.+}}, %{{.+}}) : tensor<8xi32>, tensor<8xi32>
  // OVERFLOW: %[[WRAPS:.+]] = arith.cmpi slt
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %o : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // BOUNDS: check.values bounds "read"(%{{.+}}, %{{.+}}) {argument = 0 : i32, hasMask}
  // BOUNDS-NEXT: tt.load
  // OVERFLOW: check.values wrapped ""(%[[WRAPS]], %{{.+}}) {hasMask}
  // OVERFLOW-NEXT: tt.load
  // UNINIT: check.values unwritten "read"
  // UNINIT-NEXT: tt.load
  %v = tt.load %xp, %m : tensor<8x!tt.ptr<f32>>
  // UNINIT: %[[OUT:.+]] = arith.xori
  // NAN: %[[OUT:.+]] = arith.xori
  // NAN: arith.addf
  %w = arith.addf %v, %v : tensor<8xf32>
  // NAN: %[[COUNTS:.+]] = arith.xori %[[OUT]]
  // NAN-NEXT: check.values nan "+"(%{{.+}}, %{{.+}}, %{{.+}}, %[[COUNTS]]) {hasMask}
  // NAN-NOT: check.values
  %a = math.absf %w : tensor<8xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // BOUNDS: check.values bounds "written"(%{{.+}}) {argument = 1 : i32}
  // BOUNDS-NEXT: tt.store
  // UNINIT: check.values undefined "the value"(%[[OUT]])
  // UNINIT-NEXT: check.values written "written"
  // UNINIT-NEXT: tt.store
  tt.store %yp, %a : tensor<8x!tt.ptr<f32>>
  tt.return
}

// -----

// BOUNDS-LABEL: @one_of_two
tt.func public @one_of_two(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %c: i1) -> f32 {
  %p = arith.select %c, %x, %y : !tt.ptr<f32>
  // BOUNDS: check.values bounds "read"(%{{.+}}) : !tt.ptr<f32>
  %v = tt.load %p : !tt.ptr<f32>
  tt.return %v : f32
}

// -----

// BOUNDS-LABEL: @pointer_of_an_integer
// BOUNDS-NOT: check.values
tt.func public @pointer_of_an_integer(%i: i64) -> f32 {
  %p = tt.int_to_ptr %i : i64 -> !tt.ptr<f32>
  %v = tt.load %p : !tt.ptr<f32>
  tt.return %v : f32
}

// -----

// Through the loop that carries the pointer; values that are stored may wrap.
// BOUNDS-LABEL: @carried
// OVERFLOW-LABEL: @carried
tt.func public @carried(%x: !tt.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // OVERFLOW-NOT: check.values
  %end = scf.for %i = %zero to %n step %one iter_args(%p = %x) -> !tt.ptr<i32> : i32 {
    %square = arith.muli %i, %i : i32
    // BOUNDS: check.values bounds "written"(%{{.+}}) {argument = 0 : i32}
    tt.store %p, %square : !tt.ptr<i32>
    %next = tt.addptr %p, %one : !tt.ptr<i32>, i32
    scf.yield %next : !tt.ptr<i32>
  }
  tt.return
}
