// RUN: nereid-opt %s --ttg-assign-layouts="num-warps=2 target=cuda:90" | FileCheck %s
// Accesses get layouts whose threads hold 16 adjacent bytes; a conversion is inserted where two layouts meet.

// CHECK-DAG: #[[ROW:.*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>
// CHECK: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32}
module {
  // CHECK-LABEL: tt.func public @copy
  tt.func public @copy(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    // CHECK: tt.make_range {{.*}} : tensor<256xi32, #[[ROW]]>
    %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    // CHECK: tt.load {{.*}} : tensor<256x!tt.ptr<f32>, #[[ROW]]>
    // CHECK-NOT: ttg.convert_layout
    %v = tt.load %xp : tensor<256x!tt.ptr<f32>>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %op = tt.addptr %os, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    // CHECK: tt.store {{.*}} : tensor<256x!tt.ptr<f32>, #[[ROW]]>
    tt.store %op, %v : tensor<256x!tt.ptr<f32>>
    tt.return
  }

  // CHECK-LABEL: tt.func public @transpose
  tt.func public @transpose(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %size = arith.constant dense<64> : tensor<64x1xi32>
    %starts = arith.muli %rows, %size : tensor<64x1xi32>
    %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %a = tt.broadcast %starts : tensor<64x1xi32> -> tensor<64x64xi32>
    %b = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
    %at = arith.addi %a, %b : tensor<64x64xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %at : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    // CHECK: %[[V:.*]] = tt.load
    %v = tt.load %xp : tensor<64x64x!tt.ptr<f32>>
    // One layout conversion, of the data and not of the addresses.
    // CHECK: %[[T:.*]] = tt.trans %[[V]]
    // CHECK: ttg.convert_layout %[[T]] : tensor<64x64xf32
    // CHECK-NOT: ttg.convert_layout
    %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %op = tt.addptr %os, %at : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    // CHECK: tt.store
    tt.store %op, %t : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }

  // What the accesses prefer reaches the split and the join through the reshapes.
  // CHECK-LABEL: tt.func public @rotate_pairs
  // CHECK: tt.load
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @rotate_pairs(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %r : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %v = tt.load %xp : tensor<512x!tt.ptr<f32>>
    %pairs = tt.reshape %v : tensor<512xf32> -> tensor<256x2xf32>
    %a, %b = tt.split %pairs : tensor<256x2xf32> -> tensor<256xf32>
    %d = arith.subf %a, %b : tensor<256xf32>
    %s = arith.addf %a, %b : tensor<256xf32>
    %j = tt.join %d, %s : tensor<256xf32> -> tensor<256x2xf32>
    %y = tt.reshape %j : tensor<256x2xf32> -> tensor<512xf32>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %op = tt.addptr %os, %r : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    tt.store %op, %y : tensor<512x!tt.ptr<f32>>
    tt.return
  }

  // The factors' load takes two vectors of 8 bytes, so that no element of the pairs moves.
  // CHECK-LABEL: tt.func public @scale_pairs
  // CHECK: tt.load
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @scale_pairs(%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %f: !tt.ptr<bf16> {tt.divisibility = 16 : i32},
                              %o: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %h = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
    %xp = tt.addptr %xs, %r : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
    %v = tt.load %xp : tensor<1024x!tt.ptr<bf16>>
    %w = arith.extf %v : tensor<1024xbf16> to tensor<1024xf32>
    %fs = tt.splat %f : !tt.ptr<bf16> -> tensor<512x!tt.ptr<bf16>>
    %fp = tt.addptr %fs, %h : tensor<512x!tt.ptr<bf16>>, tensor<512xi32>
    %g = tt.load %fp : tensor<512x!tt.ptr<bf16>>
    %e = arith.extf %g : tensor<512xbf16> to tensor<512xf32>
    %pairs = tt.reshape %w : tensor<1024xf32> -> tensor<512x2xf32>
    %a, %b = tt.split %pairs : tensor<512x2xf32> -> tensor<512xf32>
    %d = arith.mulf %a, %e : tensor<512xf32>
    %s = arith.mulf %b, %e : tensor<512xf32>
    %j = tt.join %d, %s : tensor<512xf32> -> tensor<512x2xf32>
    %y = tt.reshape %j : tensor<512x2xf32> -> tensor<1024xf32>
    %n = arith.truncf %y : tensor<1024xf32> to tensor<1024xbf16>
    %os = tt.splat %o : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
    %op = tt.addptr %os, %r : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
    tt.store %op, %n : tensor<1024x!tt.ptr<bf16>>
    tt.return
  }
}
