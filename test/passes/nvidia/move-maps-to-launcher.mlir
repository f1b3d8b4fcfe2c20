// RUN: nereid-opt %s --split-input-file --nvidia-move-maps-to-launcher | FileCheck %s
// Tensor maps that depend on a kernel's arguments alone become arguments with a recipe.

// Flags that the host passes must be off; stored rows must end at multiples of 16 bytes.
// CHECK-LABEL: tt.func public @matrix
// CHECK-SAME: %[[M:[a-z0-9]+]]: !tt.ptr<i8> {ttng.recipe = [array<i64: 1, 0>, array<i64: 1, 2>, array<i64: 1, 1>, array<i64: 1, 3, 0, 2, 4>], ttng.tensor_map = tensor<16x64xf16>}
// CHECK-SAME: ttng.launch_conditions = [array<i64: 0, 0, 1, 4, 1, 4, 4, 3>, array<i64: 0, 0, 1, 2, 0, 2, 4, 0, 16, 6, 3>]
// CHECK-NOT: make_tensor_map
// CHECK: ttng.tile_store %[[M]]
tt.func public @matrix(%p: !tt.ptr<f16>, %rows: i32, %columns: i32, %pitch: i64, %nan: i1) {
  %one = arith.constant 1 : i64
  %off = arith.constant false
  %c0 = arith.constant 0 : i32
  %x = arith.constant dense<1.0> : tensor<16x64xf16>
  %r = arith.extsi %rows : i32 to i64
  %c = arith.extsi %columns : i32 to i64
  %m = ttng.make_tensor_map %p, [%r, %c], [%pitch, %one] nan %nan tf32 %off {block = array<i64: 16, 64>} : <f16> -> <i8>
  %row = tt.get_program_id x : i32
  ttng.tile_store %m[%row, %c0], %x {block = array<i64: 16, 64>} : <i8>, tensor<16x64xf16>
  tt.return
}

// -----

// A stored box may begin before the array: threads then store it, which need what follows a map that the kernel makes.
// CHECK-LABEL: tt.func public @before
// CHECK: ttng.make_tensor_map
tt.func public @before(%p: !tt.ptr<f16>, %rows: i64, %pitch: i64, %n: i32) {
  %one = arith.constant 1 : i64
  %off = arith.constant false
  %c0 = arith.constant 0 : i32
  %x = arith.constant dense<1.0> : tensor<16x64xf16>
  %m = ttng.make_tensor_map %p, [%rows, %pitch], [%pitch, %one] nan %off tf32 %off {block = array<i64: 16, 64>} : <f16> -> <i8>
  %i = tt.get_program_id x : i32
  %row = arith.subi %i, %n : i32
  ttng.tile_store %m[%row, %c0], %x {block = array<i64: 16, 64>} : <i8>, tensor<16x64xf16>
  tt.return
}

// -----

// What a program computes, and arrays that are read and written, keep their maps in the kernel.
// CHECK-LABEL: tt.func public @both
// CHECK-COUNT-2: ttng.make_tensor_map
tt.func public @both(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %rows: i64, %pitch: i64) {
  %one = arith.constant 1 : i64
  %off = arith.constant false
  %c0 = arith.constant 0 : i32
  %i = tt.get_program_id x : i32
  %first = tt.addptr %q, %i : !tt.ptr<f16>, i32
  %m = ttng.make_tensor_map %p, [%rows, %pitch], [%pitch, %one] nan %off tf32 %off {block = array<i64: 16, 64>} : <f16> -> <i8>
  %n = ttng.make_tensor_map %first, [%rows, %pitch], [%pitch, %one] nan %off tf32 %off {block = array<i64: 16, 64>} : <f16> -> <i8>
  %x = ttng.tile_load %m[%c0, %c0] {block = array<i64: 16, 64>} : <i8> -> tensor<16x64xf16>
  %y = ttng.tile_load %n[%c0, %c0] {block = array<i64: 16, 64>} : <i8> -> tensor<16x64xf16>
  %s = arith.addf %x, %y : tensor<16x64xf16>
  ttng.tile_store %m[%i, %c0], %s {block = array<i64: 16, 64>} : <i8>, tensor<16x64xf16>
  tt.return
}
