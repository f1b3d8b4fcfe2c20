// RUN: nereid-opt %s --split-input-file --verify-diagnostics --nvidia-promote-loads=num-warps=4 | FileCheck %s
// Loads that dots read become tile loads where their addresses are those of a strided array.

// The mask gives the extent of the columns, `%n` the pitch, and the program its rows.
// CHECK-LABEL: tt.func public @rows
// CHECK-SAME: %[[M:[a-z0-9]+]]: !tt.ptr<i8> {ttng.recipe = [array<i64: 1, 0, 0, 0, 0, 2, 4, 2>, array<i64: 0, 1, 1, 2, 4>, array<i64: 0, 2147483648>, array<i64: 0, 1, 1, 1, 4, 0, 2, 4>], ttng.tensor_map = tensor<64x32xf16>}
// CHECK: %[[P:.*]] = tt.get_program_id x
// CHECK-NOT: tt.addptr
// CHECK: scf.for %[[I:.*]] = %{{.*}} to {{.*}} -> (tensor<64x64xf32>)
// CHECK: %[[ROW:.*]] = arith.muli %[[P]], %c64
// CHECK: %[[COLUMN:.*]] = arith.muli %[[I]], %c32
// CHECK: ttng.tile_load %[[M]][%[[ROW]], %[[COLUMN]]] {block = array<i64: 64, 32>}
// CHECK-NOT: tt.load
tt.func public @rows(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %depth: i32, %q: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %b = arith.constant dense<1.0> : tensor<32x64xf16>
  %step = arith.constant dense<32> : tensor<64x32xi32>
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c64 : i32
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %firsts = tt.splat %first : i32 -> tensor<64xi32>
  %is = arith.addi %firsts, %i : tensor<64xi32>
  %j = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %i1 = tt.expand_dims %is {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %pitch = tt.splat %n : i32 -> tensor<64x1xi32>
  %row = arith.muli %i1, %pitch : tensor<64x1xi32>
  %rows = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x32xi32>
  %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %columns = tt.broadcast %j0 : tensor<1x32xi32> -> tensor<64x32xi32>
  %at = arith.addi %rows, %columns : tensor<64x32xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %start = tt.addptr %ps, %at : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  %r:2 = scf.for %k = %c0 to %depth step %c1 iter_args(%acc = %zero, %ptr = %start) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>) : i32 {
    %done = arith.muli %k, %c32 : i32
    %left = arith.subi %depth, %done : i32
    %lefts = tt.splat %left : i32 -> tensor<1x32xi32>
    %inside = arith.cmpi slt, %j0, %lefts : tensor<1x32xi32>
    %mask = tt.broadcast %inside : tensor<1x32xi1> -> tensor<64x32xi1>
    %a = tt.load %ptr, %mask : tensor<64x32x!tt.ptr<f16>>
    %d = tt.dot %a, %b, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %next = tt.addptr %ptr, %step : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    scf.yield %d, %next : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>
  }
  %out = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  tt.store %out, %r#0 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// A program's slice is a dimension of its own; a tile whose first dimension is contiguous is loaded transposed. Nothing
// bounds it, and the product in 64 bits is not computed.
// CHECK-LABEL: tt.func public @slices
// CHECK-SAME: %[[M:[a-z0-9]+]]: !tt.ptr<i8> {ttng.recipe = [{{.*}}, array<i64: 0, 2147483648>, array<i64: 0, 2147483648>, array<i64: 0, 2147483648>, array<i64: 0, 32, 0, 2, 4>, array<i64: 0, 32, 1, 1, 4, 0, 2, 4>], ttng.tensor_map = tensor<1x64x32xf16>}
// CHECK: %[[P:.*]] = tt.get_program_id x
// CHECK: scf.for %[[I:.*]] = %{{.*}} to
// CHECK: %[[T:.*]] = ttng.tile_load %[[M]][%[[P]], %[[I]], %{{.*}}] {block = array<i64: 1, 64, 32>}
// CHECK: tt.trans %[[T]]
tt.func public @slices(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %q: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c32 = arith.constant 32 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = arith.constant dense<1.0> : tensor<64x32xf16>
  %pitch = arith.constant dense<32> : tensor<1x64xi32>
  %pid = tt.get_program_id x : i32
  %pid64 = arith.extsi %pid : i32 to i64
  %n64 = arith.extsi %n : i32 to i64
  %slice = arith.muli %pid64, %n64 : i64
  %offset = arith.muli %slice, %c32 : i64
  %base = tt.addptr %p, %offset : !tt.ptr<f16>, i64
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %j = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %j1 = tt.expand_dims %j {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %columns = tt.broadcast %j1 : tensor<32x1xi32> -> tensor<32x64xi32>
  %bases = tt.splat %base : !tt.ptr<f16> -> tensor<1x64x!tt.ptr<f16>>
  %r = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %ks = tt.splat %k : i32 -> tensor<64xi32>
    %is = arith.addi %ks, %i : tensor<64xi32>
    %i0 = tt.expand_dims %is {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %rows = arith.muli %i0, %pitch : tensor<1x64xi32>
    %ptrs = tt.addptr %bases, %rows : tensor<1x64x!tt.ptr<f16>>, tensor<1x64xi32>
    %all = tt.broadcast %ptrs : tensor<1x64x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<f16>>
    %at = tt.addptr %all, %columns : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    %b = tt.load %at : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %a, %b, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %out = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  tt.store %out, %r : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// An index that may be negative reads what precedes the array; TMA would read zeros.
// CHECK-LABEL: tt.func public @before
// CHECK: tt.load
tt.func public @before(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %q: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %pid = tt.get_program_id x : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %b = arith.constant dense<1.0> : tensor<32x64xf16>
  %pitch = arith.constant dense<32> : tensor<64x1xi32>
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %j = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %columns = tt.broadcast %j0 : tensor<1x32xi32> -> tensor<64x32xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %r = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %earlier = arith.subi %k, %pid : i32
    %ks = tt.splat %earlier : i32 -> tensor<64xi32>
    %is = arith.addi %ks, %i : tensor<64xi32>
    %i1 = tt.expand_dims %is {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %row = arith.muli %i1, %pitch : tensor<64x1xi32>
    %rows = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x32xi32>
    %at = arith.addi %rows, %columns : tensor<64x32xi32>
    %ptrs = tt.addptr %ps, %at : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    // expected-remark @+1 {{threads load this operand of a dot, not TMA: an index may be negative}}
    %a = tt.load %ptrs : tensor<64x32x!tt.ptr<f16>>
    %d = tt.dot %a, %b, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %out = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  tt.store %out, %r : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
