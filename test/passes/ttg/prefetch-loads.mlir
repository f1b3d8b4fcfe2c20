// RUN: nereid-opt %s --ttg-assign-layouts=target=cuda:90 --ttg-prefetch-loads | FileCheck %s
// RUN: nereid-opt %s --ttg-assign-layouts=target=cuda:90 --ttg-prefetch-loads=kernel-stages=4 2>&1 | FileCheck %s --check-prefix=REMARK
// Loads of a loop with its own num_stages are prefetched one iteration ahead; the kernel's num_stages does not apply.

// REMARK-COUNT-1: remark: num_stages=4 of the kernel changes nothing in this loop, which has no dot; write tl.range(..., num_stages=4) to prefetch its loads
// REMARK-NOT: remark:

// CHECK-LABEL: tt.func public @ahead
tt.func public @ahead(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %step = arith.constant dense<256> : tensor<256xi32>
  %init = arith.constant dense<0.0> : tensor<256xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  // CHECK: arith.cmpi slt
  // CHECK: %[[FIRST:.*]] = tt.load
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[NOW:.*]] = %[[FIRST]])
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %init) -> (tensor<256xf32>) : i32 {
    %at = tt.splat %i : i32 -> tensor<256xi32>
    %row = arith.muli %at, %step : tensor<256xi32>
    %index = arith.addi %row, %r : tensor<256xi32>
    %xp = tt.addptr %xs, %index : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    // CHECK: arith.cmpi ugt
    // CHECK: %[[NEXT:.*]] = tt.load
    %v = tt.load %xp : tensor<256x!tt.ptr<f32>>
    // CHECK: arith.addf %{{.*}}, %[[NOW]]
    %new = arith.addf %acc, %v : tensor<256xf32>
    // CHECK: scf.yield %{{.*}}, %[[NEXT]]
    scf.yield %new : tensor<256xf32>
  } {tt.num_stages = 3 : i32}
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %op = tt.addptr %os, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  tt.store %op, %sum : tensor<256x!tt.ptr<f32>>
  tt.return
}

// A store through the pointer that the loop loads by may write what a later iteration loads.
// CHECK-LABEL: tt.func public @in_place
tt.func public @in_place(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %step = arith.constant dense<256> : tensor<256xi32>
  %init = arith.constant dense<0.0> : tensor<256xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  // CHECK-NOT: tt.load
  // CHECK: scf.for
  scf.for %i = %zero to %n step %one : i32 {
    %at = tt.splat %i : i32 -> tensor<256xi32>
    %row = arith.muli %at, %step : tensor<256xi32>
    %index = arith.addi %row, %r : tensor<256xi32>
    %xp = tt.addptr %xs, %index : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    // CHECK: tt.load
    %v = tt.load %xp : tensor<256x!tt.ptr<f32>>
    // CHECK-NOT: tt.load
    // CHECK: tt.store
    tt.store %xp, %v : tensor<256x!tt.ptr<f32>>
  } {tt.num_stages = 3 : i32}
  tt.return
}

// CHECK-LABEL: tt.func public @stays
tt.func public @stays(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %step = arith.constant dense<256> : tensor<256xi32>
  %init = arith.constant dense<0.0> : tensor<256xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  // CHECK-NOT: tt.load
  // CHECK: scf.for
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %init) -> (tensor<256xf32>) : i32 {
    %at = tt.splat %i : i32 -> tensor<256xi32>
    %row = arith.muli %at, %step : tensor<256xi32>
    %index = arith.addi %row, %r : tensor<256xi32>
    %xp = tt.addptr %xs, %index : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %v = tt.load %xp : tensor<256x!tt.ptr<f32>>
    %new = arith.addf %acc, %v : tensor<256xf32>
    scf.yield %new : tensor<256xf32>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %op = tt.addptr %os, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  tt.store %op, %sum : tensor<256x!tt.ptr<f32>>
  tt.return
}
