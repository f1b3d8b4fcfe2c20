// RUN: nereid-opt %s --split-input-file --verify-diagnostics --nvidia-lower-descriptors-to-tma | FileCheck %s
// Tiles that a dot reads or writes go through shared memory; tiles that threads only copy do not.

// CHECK-LABEL: tt.func public @copied
// CHECK-NOT: ttng
tt.func public @copied(%d: !tt.tensordesc<16x64xf16>, %e: !tt.tensordesc<64xf16>, %n: i32 {tt.divisibility = 16 : i32}) {
  %x = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<16x64xf16> -> tensor<16x64xf16>
  %y = arith.addf %x, %x : tensor<16x64xf16>
  tt.descriptor_store %d[%n, %n], %y : !tt.tensordesc<16x64xf16>, tensor<16x64xf16>
  tt.return
}

// -----

// Through a conversion, a transposition and a loop.
// CHECK-LABEL: tt.func public @operands
// CHECK: ttng.tile_load {{.*}} -> tensor<16x32xf16>
// CHECK: scf.for
// CHECK: ttng.tile_load {{.*}} -> tensor<64x32xi8>
// CHECK: ttng.tile_store {{.*}}, tensor<16x64xf16>
tt.func public @operands(%a: !tt.tensordesc<16x32xf16>, %b: !tt.tensordesc<64x32xi8>, %o: !tt.tensordesc<16x64xf16>, %n: i32 {tt.divisibility = 16 : i32}) {
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %x = tt.descriptor_load %a[%n, %n] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
  %sum:2 = scf.for %i = %c1 to %n step %c1 iter_args(%acc = %zero, %left = %x) -> (tensor<16x64xf32>, tensor<16x32xf16>) : i32 {
    %y = tt.descriptor_load %b[%i, %n] : !tt.tensordesc<64x32xi8> -> tensor<64x32xi8>
    %f = arith.sitofp %y : tensor<64x32xi8> to tensor<64x32xf16>
    %t = tt.trans %f {order = array<i32: 1, 0>} : tensor<64x32xf16> -> tensor<32x64xf16>
    %d = tt.dot %left, %t, %acc : tensor<16x32xf16> * tensor<32x64xf16> -> tensor<16x64xf32>
    scf.yield %d, %left : tensor<16x64xf32>, tensor<16x32xf16>
  }
  %r = arith.truncf %sum#0 : tensor<16x64xf32> to tensor<16x64xf16>
  tt.descriptor_store %o[%n, %n], %r : !tt.tensordesc<16x64xf16>, tensor<16x64xf16>
  tt.return
}

// -----

// Through a while loop, whose yield feeds its first region, and from its results.
// CHECK-LABEL: tt.func public @while
// CHECK: ttng.tile_load {{.*}} -> tensor<16x32xf16>
// CHECK: ttng.tile_store {{.*}}, tensor<16x64xf16>
tt.func public @while(%a: !tt.tensordesc<16x32xf16>, %o: !tt.tensordesc<16x64xf16>, %y: tensor<32x64xf16>, %n: i32 {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %x = tt.descriptor_load %a[%n, %n] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
  %r = scf.while (%left = %x, %i = %n, %acc = %zero) : (tensor<16x32xf16>, i32, tensor<16x64xf32>) -> tensor<16x64xf32> {
    %more = arith.cmpi sgt, %i, %n : i32
    %d = tt.dot %left, %y, %acc : tensor<16x32xf16> * tensor<32x64xf16> -> tensor<16x64xf32>
    scf.condition(%more) %d : tensor<16x64xf32>
  } do {
  ^bb0(%d: tensor<16x64xf32>):
    scf.yield %x, %n, %d : tensor<16x32xf16>, i32, tensor<16x64xf32>
  }
  %s = arith.truncf %r : tensor<16x64xf32> to tensor<16x64xf16>
  tt.descriptor_store %o[%n, %n], %s : !tt.tensordesc<16x64xf16>, tensor<16x64xf16>
  tt.return
}

// -----

// The reason is reported only where TMA would pay off.
// CHECK-LABEL: tt.func public @line
// CHECK-NOT: ttng
tt.func public @line(%d: !tt.tensordesc<64xf16>, %n: i32) {
  %x = tt.descriptor_load %d[%n] : !tt.tensordesc<64xf16> -> tensor<64xf16>
  tt.descriptor_store %d[%n], %x : !tt.tensordesc<64xf16>, tensor<64xf16>
  tt.return
}

// -----

tt.func public @refused(%d: !tt.tensordesc<16x16xf16>, %o: !tt.ptr<f32>, %n: i32) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-remark @+1 {{the last index is not known to be a multiple of 16 bytes}}
  %x = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<16x16xf16> -> tensor<16x16xf16>
  %y = tt.dot %x, %x, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  tt.return %y : tensor<16x16xf32>
}
