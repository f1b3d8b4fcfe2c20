// RUN: nereid-opt %s --split-input-file --verify-diagnostics --nvidia-promote-loads=num-warps=8 | FileCheck %s
// Two warp groups load through TMA for one or two dots, not for more.

// A tile that is read transposed and as it lies in memory has one buffer.
// CHECK-LABEL: tt.func public @both_ways
// CHECK: %[[T:.*]] = ttng.tile_load
// CHECK: %[[S:.*]] = tt.trans %[[T]]
// CHECK: tt.dot %{{.*}}, %[[S]], %{{.*}} : tensor<128x64xf16> * tensor<64x32xf16>
// CHECK: tt.dot %{{.*}}, %[[T]], %{{.*}} : tensor<128x32xf16> * tensor<32x64xf16>
// CHECK-NOT: tt.trans
// CHECK: tt.return
tt.func public @both_ways(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<128x64xf32> {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %none = arith.constant dense<0.0> : tensor<128x32xf32>
  %a = arith.constant dense<1.0> : tensor<128x64xf16>
  %pitch = arith.constant dense<64> : tensor<1x32xi32>
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %j = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %j1 = tt.expand_dims %j {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tt.broadcast %j1 : tensor<64x1xi32> -> tensor<64x32xi32>
  %bases = tt.splat %p : !tt.ptr<f16> -> tensor<1x32x!tt.ptr<f16>>
  %r = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %ks = tt.splat %k : i32 -> tensor<32xi32>
    %is = arith.addi %ks, %i : tensor<32xi32>
    %i0 = tt.expand_dims %is {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %rows = arith.muli %i0, %pitch : tensor<1x32xi32>
    %ptrs = tt.addptr %bases, %rows : tensor<1x32x!tt.ptr<f16>>, tensor<1x32xi32>
    %all = tt.broadcast %ptrs : tensor<1x32x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
    %at = tt.addptr %all, %columns : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %b = tt.load %at : tensor<64x32x!tt.ptr<f16>>
    %s = tt.dot %a, %b, %none : tensor<128x64xf16> * tensor<64x32xf16> -> tensor<128x32xf32>
    %left = arith.truncf %s : tensor<128x32xf32> to tensor<128x32xf16>
    %t = tt.trans %b {order = array<i32: 1, 0>} : tensor<64x32xf16> -> tensor<32x64xf16>
    %d = tt.dot %left, %t, %acc : tensor<128x32xf16> * tensor<32x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  tt.return %r : tensor<128x64xf32>
}

// -----

// CHECK-LABEL: tt.func public @three
// CHECK-NOT: ttng.tile_load
// CHECK: tt.return
tt.func public @three(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<128x64xf32> {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %a = arith.constant dense<1.0> : tensor<128x32xf16>
  %pitch = arith.constant dense<64> : tensor<32x1xi32>
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %j = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %columns = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<32x64xi32>
  %bases = tt.splat %p : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
  %r = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %ks = tt.splat %k : i32 -> tensor<32xi32>
    %is = arith.addi %ks, %i : tensor<32xi32>
    %i1 = tt.expand_dims %is {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %rows = arith.muli %i1, %pitch : tensor<32x1xi32>
    %ptrs = tt.addptr %bases, %rows : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
    %all = tt.broadcast %ptrs : tensor<32x1x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<f16>>
    %at = tt.addptr %all, %columns : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    // expected-remark @+1 {{threads load this operand of a dot, not TMA: its loop has more than two dots}}
    %b = tt.load %at : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %a, %b, %acc : tensor<128x32xf16> * tensor<32x64xf16> -> tensor<128x64xf32>
    %e = tt.dot %a, %b, %d : tensor<128x32xf16> * tensor<32x64xf16> -> tensor<128x64xf32>
    %f = tt.dot %a, %b, %e : tensor<128x32xf16> * tensor<32x64xf16> -> tensor<128x64xf32>
    scf.yield %f : tensor<128x64xf32>
  }
  tt.return %r : tensor<128x64xf32>
}
