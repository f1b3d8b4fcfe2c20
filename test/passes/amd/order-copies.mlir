// A load whose tile only goes to a buffer gets the layout of the buffer's offsets: vectors over lanes, then over waves.
// RUN: nereid-opt %s --amd-order-copies | FileCheck %s
#l = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "hip:gfx950"} {

// Lanes 0 to 3 have a row's vectors, which rows from the third on permute; registers beyond a vector come last.
// CHECK: #[[ORDER:.+]] = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2], [0, 4], [64, 0]], lane = {{\[\[}}0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0]], warp = {{\[\[}}16, 0], [32, 0]], block = []}>
// CHECK-LABEL: @ordered
// CHECK: tt.make_range {{.*}} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #[[ORDER]]}>>
// CHECK: scf.for
// CHECK: %[[MASK:.+]] = arith.cmpi slt, {{.*}} : tensor<128x32xi32, #[[ORDER]]>
// CHECK: tt.load %{{.+}}, %[[MASK]] {ttg.bounded_offset} : tensor<128x32x!tt.ptr<f16>, #[[ORDER]]>
// CHECK: ttg.local_alloc {{.*}} : (tensor<128x32xf16, #[[ORDER]]>)
tt.func public @ordered(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zeros = arith.constant dense<0.0> : tensor<128x32xf16, #l>
  %columns = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #l}>>
  %row = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #l}>> -> tensor<1x32xi32, #l>
  %offset = tt.broadcast %row : tensor<1x32xi32, #l> -> tensor<128x32xi32, #l>
  scf.for %k = %c0 to %n step %c32 : i32 {
    %base = tt.addptr %p, %k : !tt.ptr<f16>, i32
    %tile = tt.splat %base : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>, #l>
    %at = tt.addptr %tile, %offset : tensor<128x32x!tt.ptr<f16>, #l>, tensor<128x32xi32, #l>
    %rest = arith.subi %n, %k : i32
    %limit = tt.splat %rest : i32 -> tensor<128x32xi32, #l>
    %mask = arith.cmpi slt, %offset, %limit : tensor<128x32xi32, #l>
    %x = tt.load %at, %mask, %zeros {ttg.bounded_offset} : tensor<128x32x!tt.ptr<f16>, #l>
    %b = ttg.local_alloc %x : (tensor<128x32xf16, #l>) -> !ttg.memdesc<128x32xf16, #shared, #smem>
    ttg.local_dealloc %b : !ttg.memdesc<128x32xf16, #shared, #smem>
  }
  tt.return
}

// Addresses that are not known to be multiples of 16 bytes: vectors would be shorter.
// CHECK-LABEL: @unaligned
// CHECK-NOT: #[[ORDER]]
tt.func public @unaligned(%p: !tt.ptr<f16>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %columns = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #l}>>
  %row = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #l}>> -> tensor<1x32xi32, #l>
  %offset = tt.broadcast %row : tensor<1x32xi32, #l> -> tensor<128x32xi32, #l>
  scf.for %k = %c0 to %n step %c32 : i32 {
    %tile = tt.splat %p : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>, #l>
    %at = tt.addptr %tile, %offset : tensor<128x32x!tt.ptr<f16>, #l>, tensor<128x32xi32, #l>
    %x = tt.load %at {ttg.bounded_offset} : tensor<128x32x!tt.ptr<f16>, #l>
    %b = ttg.local_alloc %x : (tensor<128x32xf16, #l>) -> !ttg.memdesc<128x32xf16, #shared, #smem>
    ttg.local_dealloc %b : !ttg.memdesc<128x32xf16, #shared, #smem>
  }
  tt.return
}

// Another value than zero where the mask is false, a pointer without a bound, a tile that is used otherwise, too.
// CHECK-LABEL: @kept
// CHECK-NOT: #[[ORDER]]
tt.func public @kept(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %columns = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #l}>>
  %row = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #l}>> -> tensor<1x32xi32, #l>
  %offset = tt.broadcast %row : tensor<1x32xi32, #l> -> tensor<128x32xi32, #l>
  %m = arith.constant dense<true> : tensor<128x32xi1, #l>
  %ones = arith.constant dense<1.0> : tensor<128x32xf16, #l>
  %tile = tt.splat %p : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>, #l>
  %at = tt.addptr %tile, %offset : tensor<128x32x!tt.ptr<f16>, #l>, tensor<128x32xi32, #l>
  scf.for %k = %c0 to %n step %c32 : i32 {
    %x = tt.load %at, %m, %ones {ttg.bounded_offset} : tensor<128x32x!tt.ptr<f16>, #l>
    %b = ttg.local_alloc %x : (tensor<128x32xf16, #l>) -> !ttg.memdesc<128x32xf16, #shared, #smem>
    %y = tt.load %at, %m : tensor<128x32x!tt.ptr<f16>, #l>
    %c = ttg.local_alloc %y : (tensor<128x32xf16, #l>) -> !ttg.memdesc<128x32xf16, #shared, #smem>
    %z = tt.load %at, %m {ttg.bounded_offset} : tensor<128x32x!tt.ptr<f16>, #l>
    %d = ttg.local_alloc %z : (tensor<128x32xf16, #l>) -> !ttg.memdesc<128x32xf16, #shared, #smem>
    tt.store %at, %z : tensor<128x32x!tt.ptr<f16>, #l>
  }
  tt.return
}
}
