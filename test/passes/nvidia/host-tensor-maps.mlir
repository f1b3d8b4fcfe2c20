// RUN: nereid-opt %s --split-input-file --verify-diagnostics --nvidia-lower-descriptors-to-tma=host-tensor-maps | FileCheck %s
// Descriptors that the host passes as tensor maps are used directly, or rejected.

// CHECK-LABEL: tt.func public @taken
// CHECK-SAME: (%[[M:.*]]: !tt.ptr<i8> {ttng.tensor_map = tensor<16x64xf16>}, %{{.*}}: i32, %{{.*}}: i32 {tt.divisibility = 16 : i32}, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-NOT: make_tensor_map
// CHECK: %[[X:.*]] = ttng.tile_load %[[M]][%{{.*}}, %{{.*}}] {block = array<i64: 16, 64>} : <i8> -> tensor<16x64xf16>
// CHECK: ttng.tile_store %[[M]][%{{.*}}, %{{.*}}], %[[X]]
tt.func public @taken(%d: !tt.tensordesc<16x64xf16>, %rows: i32, %columns: i32 {tt.divisibility = 16 : i32}, %pitch: i64, %one: i64) {
  %x = tt.descriptor_load %d[%rows, %columns] : !tt.tensordesc<16x64xf16> -> tensor<16x64xf16>
  tt.descriptor_store %d[%columns, %columns], %x : !tt.tensordesc<16x64xf16>, tensor<16x64xf16>
  tt.return
}

// -----

// The map keeps the signedness of the array's elements.
// CHECK-LABEL: tt.func public @unsigned
// CHECK-SAME: {ttng.tensor_map = tensor<8x32xui16>}
tt.func public @unsigned(%d: !tt.tensordesc<8x32xui16>, %n: i32 {tt.divisibility = 16 : i32}) -> tensor<8x32xi16> {
  %x = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<8x32xui16> -> tensor<8x32xi16>
  tt.return %x : tensor<8x32xi16>
}

// -----

// Descriptors created in the kernel are lowered as usual.
// CHECK-LABEL: tt.func public @both
// CHECK: ttng.make_tensor_map
// CHECK: ttng.tile_load %{{.*}} : <i8> -> tensor<16x64xf16>
tt.func public @both(%d: !tt.tensordesc<16x64xf16>, %p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %pitch: i64 {tt.divisibility = 16 : i32}) {
  %one = arith.constant 1 : i64
  %e = tt.make_tensor_descriptor %p, [%n, %n], [%pitch, %one] : <f16>, <16x64xf16>
  %x = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<16x64xf16> -> tensor<16x64xf16>
  tt.descriptor_store %e[%n, %n], %x : !tt.tensordesc<16x64xf16>, tensor<16x64xf16>
  tt.return
}

// -----

// expected-error @+1 {{the host passes this descriptor as a tensor map, which cannot serve it: rows of 8 bytes; pass the array, and make the descriptor in the kernel}}
tt.func public @narrow(%d: !tt.tensordesc<16x4xf16>, %n: i32 {tt.divisibility = 16 : i32}) -> tensor<16x4xf16> {
  // expected-remark @+1 {{blocks are accessed through pointers, not by TMA: rows of 8 bytes}}
  %x = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<16x4xf16> -> tensor<16x4xf16>
  tt.return %x : tensor<16x4xf16>
}

// -----

// expected-error @+1 {{cannot serve it: the last index is not known to be a multiple of 16 bytes}}
tt.func public @anywhere(%d: !tt.tensordesc<16x64xf16>, %n: i32) -> tensor<16x64xf16> {
  // expected-remark @+1 {{the last index is not known to be a multiple of 16 bytes}}
  %x = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<16x64xf16> -> tensor<16x64xf16>
  tt.return %x : tensor<16x64xf16>
}
