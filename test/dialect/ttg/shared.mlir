// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Encodings of shared memory, views of buffers and accesses by indices round-trip.

// CHECK-DAG: #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = {{\[\[}}1, 0]]}>
#split = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[1, 0]]}>
// CHECK-DAG: #ttg.shared_linear<{offset = {{\[\[}}0, 1], [0, 2], [1, 0], [2, 2]]}, alignment = 32>
#linear = #ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0], [2, 2]]}, alignment = 32>
// CHECK-DAG: #ttg.shared_linear<{offset = {{\[\[}}0, 1], [1, 0]], block = {{\[\[}}0, 2]]}, alignment = 16>
#cluster = #ttg.shared_linear<{offset = [[0, 1], [1, 0]], block = [[0, 2]]}, alignment = 16>
// CHECK-DAG: #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16, rank = 1}>
#row = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16, rank = 1}>
// CHECK-DAG: #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 8, fp4Padded = true}>
#fp4 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 8, fp4Padded = true}>
// CHECK-DAG: #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, CGALayout = {{\[\[}}0, 1]]}>
#halves = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, CGALayout = [[0, 1]]}>
#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#flat = #ttg.shared_linear<{offset = [[1], [2], [4], [8], [16], [32], [64], [128]]}, alignment = 16>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory

// CHECK-LABEL: tt.func @encodings
tt.func @encodings(%a: !ttg.memdesc<8x4xf16, #split, #smem>, %b: !ttg.memdesc<4x4xf16, #linear, #smem>, %c: !ttg.memdesc<2x4xf16, #cluster, #smem>,
                   %d: !ttg.memdesc<64xf16, #row, #smem>, %e: !ttg.memdesc<64x16xi8, #fp4, #smem>, %f: !ttg.memdesc<8x64xf16, #halves, #smem>) {
  tt.return
}

// CHECK-LABEL: tt.func @views
tt.func @views(%b: !ttg.memdesc<3x2x8x16xf32, #rows, #smem, mutable>, %whole: !ttg.memdesc<8x16xf32, #rows, #smem, mutable>, %i: i32) {
  // CHECK: ttg.memdesc_subslice %{{.*}}[1, 0, 0, 0]
  %0 = ttg.memdesc_subslice %b[1, 0, 0, 0] : !ttg.memdesc<3x2x8x16xf32, #rows, #smem, mutable> -> !ttg.memdesc<2x2x8x16xf32, #rows, #smem, mutable, 3x2x8x16>
  // CHECK: ttg.memdesc_index %{{.*}}[%{{.*}}]
  %1 = ttg.memdesc_index %0[%i] : !ttg.memdesc<2x2x8x16xf32, #rows, #smem, mutable, 3x2x8x16> -> !ttg.memdesc<2x8x16xf32, #rows, #smem, mutable>
  %2 = ttg.memdesc_index %1[%i] : !ttg.memdesc<2x8x16xf32, #rows, #smem, mutable> -> !ttg.memdesc<8x16xf32, #rows, #smem, mutable>
  // CHECK: ttg.memdesc_trans
  %3 = ttg.memdesc_trans %2 {order = array<i32: 1, 0>} : !ttg.memdesc<8x16xf32, #rows, #smem, mutable> -> !ttg.memdesc<16x8xf32, #columns, #smem, mutable>
  // CHECK: ttg.memdesc_reshape %{{.*}} : !ttg.memdesc<8x16xf32, #{{.*}}, #smem, mutable> -> !ttg.memdesc<128xf32, #{{.*}}, #smem, mutable>
  %4 = ttg.memdesc_reshape %whole : !ttg.memdesc<8x16xf32, #rows, #smem, mutable> -> !ttg.memdesc<128xf32, #one, #smem, mutable>
  // CHECK: ttg.memdesc_reinterpret %{{.*}} : !ttg.memdesc<8x16xf32, #{{.*}}, #smem, mutable> -> !ttg.memdesc<256xf16, #{{.*}}, #smem, mutable>
  %5 = ttg.memdesc_reinterpret %whole : !ttg.memdesc<8x16xf32, #rows, #smem, mutable> -> !ttg.memdesc<256xf16, #flat, #smem, mutable>
  tt.return
}

// CHECK-LABEL: tt.func @by_index
tt.func @by_index(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x16xi16, #blocked>, %x: tensor<4x16xi32, #blocked>, %m: tensor<4x16xi1, #blocked>) {
  // CHECK: ttg.local_gather %{{.*}}[%{{.*}}] {axis = 0 : i32} : !ttg.memdesc<8x16xi32, #{{.*}}, #smem, mutable>, tensor<4x16xi16, #{{.*}}> -> tensor<4x16xi32, #{{.*}}>
  %0 = ttg.local_gather %b[%i] {axis = 0 : i32} : !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x16xi16, #blocked> -> tensor<4x16xi32, #blocked>
  // CHECK: ttg.local_scatter %{{.*}}[%{{.*}}], %{{.*}} {axis = 0 : i32} :
  ttg.local_scatter %b[%i], %x {axis = 0 : i32} : !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x16xi16, #blocked>, tensor<4x16xi32, #blocked>
  // CHECK: ttg.local_atomic_scatter_rmw add, %{{.*}}[%{{.*}}], %{{.*}}, %{{.*}} {axis = 0 : i32} :
  %1 = ttg.local_atomic_scatter_rmw add, %b[%i], %x, %m {axis = 0 : i32} : (!ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x16xi32, #blocked>, tensor<4x16xi16, #blocked>, tensor<4x16xi1, #blocked>) -> tensor<4x16xi32, #blocked>
  tt.return
}

// A view need not be mutable.
// CHECK-LABEL: tt.func @read_only_view
tt.func @read_only_view(%b: !ttg.memdesc<8x16xf32, #rows, #smem, mutable>) {
  // CHECK: ttg.memdesc_trans %{{.*}} -> !ttg.memdesc<16x8xf32, #{{.*}}, #smem>
  %0 = ttg.memdesc_trans %b {order = array<i32: 1, 0>} : !ttg.memdesc<8x16xf32, #rows, #smem, mutable> -> !ttg.memdesc<16x8xf32, #columns, #smem>
  tt.return
}
