// RUN: nereid-opt %s --split-input-file --verify-diagnostics --nvidia-promote-loads=num-warps=4 | FileCheck %s

// A column of the mask that is no offset: the launcher checks that the bound is at the array's end, or before it, and no
// greater than 2^31 - 1.
// CHECK-LABEL: tt.func public @sum_that_may_wrap
// CHECK: ttng.tile_load
tt.func public @sum_that_may_wrap(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %depth: i32, %q: !tt.ptr<f32>) {
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
    %dones = tt.splat %done : i32 -> tensor<1x32xi32>
    %index = arith.addi %j0, %dones : tensor<1x32xi32>
    %depths = tt.splat %depth : i32 -> tensor<1x32xi32>
    %inside = arith.cmpi slt, %index, %depths : tensor<1x32xi32>
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

// The bound depends on the iteration.
// CHECK-LABEL: tt.func public @sum_beside_a_sum
// CHECK: tt.load
tt.func public @sum_beside_a_sum(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %depth: i32, %m: i32, %q: !tt.ptr<f32>) {
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
    %ms = tt.splat %m : i32 -> tensor<1x32xi32>
    %index = arith.addi %j0, %ms : tensor<1x32xi32>
    %inside = arith.cmpi slt, %index, %lefts : tensor<1x32xi32>
    %mask = tt.broadcast %inside : tensor<1x32xi1> -> tensor<64x32xi1>
    // expected-remark @+1 {{threads load this operand of a dot, not TMA: an index that the mask compares may wrap around}}
    %a = tt.load %ptr, %mask : tensor<64x32x!tt.ptr<f16>>
    %d = tt.dot %a, %b, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %next = tt.addptr %ptr, %step : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    scf.yield %d, %next : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>
  }
  %out = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  tt.store %out, %r#0 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
