// RUN: nereid-opt %s --split-input-file --verify-diagnostics --nvidia-lower-descriptors-to-tma='where-possible=true' | FileCheck %s
// Descriptors of blocks that TMA can copy become tensor maps; others stay, and a remark gives the reason.

// CHECK-LABEL: tt.func public @made
// CHECK: %[[M:.*]] = ttng.make_tensor_map %{{.*}} {block = array<i64: 16, 64>} : <f16> -> <i8>
// CHECK: %[[X:.*]] = ttng.tile_load %[[M]][%{{.*}}, %{{.*}}] {block = array<i64: 16, 64>} : <i8> -> tensor<16x64xf16>
// CHECK: ttng.tile_store %[[M]][%{{.*}}, %{{.*}}], %[[X]]
// CHECK-NOT: tensordesc
tt.func public @made(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %pitch: i64 {tt.divisibility = 16 : i32}) {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%pitch, %one] : <f16>, <16x64xf16>
  %x = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<16x64xf16> -> tensor<16x64xf16>
  tt.descriptor_store %d[%n, %n], %x : !tt.tensordesc<16x64xf16>, tensor<16x64xf16>
  tt.return
}

// -----

// All dimensions of a block but the last one form its rows.
// CHECK-LABEL: tt.func public @rows
// CHECK: %[[X:.*]] = ttng.tile_load {{.*}} {block = array<i64: 2, 8, 64>} : <i8> -> tensor<16x64xf16>
// CHECK: tt.reshape %[[X]] : tensor<16x64xf16> -> tensor<2x8x64xf16>
tt.func public @rows(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %pitch: i64 {tt.divisibility = 16 : i32}) -> tensor<2x8x64xf16> {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%n, %n, %n], [%pitch, %pitch, %one] : <f16>, <2x8x64xf16>
  %x = tt.descriptor_load %d[%n, %n, %n] : !tt.tensordesc<2x8x64xf16> -> tensor<2x8x64xf16>
  tt.return %x : tensor<2x8x64xf16>
}

// -----

// A host descriptor is passed as its parts.
// CHECK-LABEL: tt.func public @taken
// CHECK-SAME: (%{{.*}}: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64 {tt.divisibility = 8 : i32}, %{{.*}}: i64, %{{.*}}: i1, %{{.*}}: i1, %{{.*}}: i32 {tt.divisibility = 16 : i32})
// CHECK: ttng.make_tensor_map
tt.func public @taken(%d: !tt.tensordesc<16x64xf16>, %n: i32 {tt.divisibility = 16 : i32}) -> tensor<16x64xf16> {
  %x = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<16x64xf16> -> tensor<16x64xf16>
  tt.return %x : tensor<16x64xf16>
}

// -----

// Carried by a loop and chosen by a branch.
// CHECK-LABEL: tt.func public @carried
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (!tt.ptr<i8>)
// CHECK: scf.if {{.*}} -> (!tt.ptr<i8>)
// CHECK-NOT: tensordesc
tt.func public @carried(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %is: i1, %pitch: i64 {tt.divisibility = 16 : i32}) {
  %one = arith.constant 1 : i64
  %step = arith.constant 16 : i32
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%pitch, %one] : <f16>, <16x64xf16>
  %e = tt.make_tensor_descriptor %q, [%n, %n], [%pitch, %one] : <f16>, <16x64xf16>
  %last = scf.for %i = %n to %n step %step iter_args(%now = %d) -> (!tt.tensordesc<16x64xf16>) : i32 {
    %x = tt.descriptor_load %now[%i, %i] : !tt.tensordesc<16x64xf16> -> tensor<16x64xf16>
    %next = scf.if %is -> (!tt.tensordesc<16x64xf16>) {
      scf.yield %now : !tt.tensordesc<16x64xf16>
    } else {
      scf.yield %e : !tt.tensordesc<16x64xf16>
    }
    scf.yield %next : !tt.tensordesc<16x64xf16>
  }
  tt.return
}

// -----

// CHECK-LABEL: tt.func public @stride
// CHECK-NOT: ttng
tt.func public @stride(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %pitch: i64 {tt.divisibility = 4 : i32}) {
  %one = arith.constant 1 : i64
  // expected-remark @+1 {{blocks are accessed through pointers, not by TMA: a stride is not known to be a multiple of 16 bytes}}
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%pitch, %one] : <f16>, <16x64xf16>
  tt.return
}

// -----

tt.func public @base(%p: !tt.ptr<f16> {tt.divisibility = 8 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %pitch: i64 {tt.divisibility = 16 : i32}) {
  %one = arith.constant 1 : i64
  // expected-remark @+1 {{the base is not known to be a multiple of 16 bytes}}
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%pitch, %one] : <f16>, <16x64xf16>
  tt.return
}

// -----

// expected-remark @+1 {{blocks of 1 dimension}}
tt.func public @line(%d: !tt.tensordesc<64xf16>) {
  tt.return
}

// -----

// expected-remark @+1 {{rows of 8 bytes}}
tt.func public @short_rows(%d: !tt.tensordesc<16x4xf16>) {
  tt.return
}

// -----

// expected-remark @+1 {{an extent of 512}}
tt.func public @long_box(%d: !tt.tensordesc<512x16xf16>) {
  tt.return
}

// -----

// expected-remark @+1 {{blocks of 131072 bytes}}
tt.func public @large(%d: !tt.tensordesc<256x256xf16>) {
  tt.return
}

// -----

// Row accesses become accesses to blocks of one row.
tt.func public @gathered(%d: !tt.tensordesc<1x64xf16>, %rows: tensor<8xi32>, %n: i32 {tt.divisibility = 16 : i32}) -> tensor<8x64xf16> {
  // expected-remark @+1 {{blocks of fewer than 8 rows}}
  %x = tt.descriptor_gather %d[%rows, %n] : (!tt.tensordesc<1x64xf16>, tensor<8xi32>, i32) -> tensor<8x64xf16>
  tt.return %x : tensor<8x64xf16>
}

// -----

tt.func public @combined(%d: !tt.tensordesc<16x64xf32>, %x: tensor<16x64xf32>, %n: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark @+1 {{TMA has no such reduction of these elements}}
  tt.descriptor_reduce min, %d[%n, %n], %x : !tt.tensordesc<16x64xf32>, tensor<16x64xf32>
  tt.return
}

// -----

tt.func public @between(%d: !tt.tensordesc<16x64xf16>, %n: i32 {tt.divisibility = 16 : i32}, %at: i32 {tt.divisibility = 4 : i32}) -> tensor<16x64xf16> {
  // expected-remark @+1 {{the last index is not known to be a multiple of 16 bytes}}
  %x = tt.descriptor_load %d[%n, %at] : !tt.tensordesc<16x64xf16> -> tensor<16x64xf16>
  tt.return %x : tensor<16x64xf16>
}
