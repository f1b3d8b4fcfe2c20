// RUN: nereid-opt %s --split-input-file --verify-diagnostics
// Violations of the rules of `ttg`.

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @no_encoding(%x: tensor<128xf32>) {
  // C1
  // expected-error @+1 {{has no encoding}}
  %y = ttg.convert_layout %x : tensor<128xf32> -> tensor<128xf32, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @constant_buffer(%x: tensor<128xf32, #blocked>) {
  %b = ttg.local_alloc %x : (tensor<128xf32, #blocked>) -> !ttg.memdesc<128xf32, #shared, #smem>
  // C2
  // expected-error @+1 {{writes to a buffer that is not mutable}}
  ttg.local_store %x, %b : tensor<128xf32, #blocked> -> !ttg.memdesc<128xf32, #shared, #smem>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @empty_constant_buffer() {
  // C1
  // expected-error @+1 {{a buffer that is given no tile must be mutable}}
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #shared, #smem>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @other_shape(%b: !ttg.memdesc<128xf32, #shared, #smem>) {
  // C1
  // expected-error @+1 {{differs from buffer}}
  %y = ttg.local_load %b : !ttg.memdesc<128xf32, #shared, #smem> -> tensor<64xf32, #blocked>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @not_one_of_them(%b: !ttg.memdesc<2x128xf32, #shared, #smem, mutable>, %i: i32) {
  // C1
  // expected-error @+1 {{is not one of the buffers of}}
  %s = ttg.memdesc_index %b[%i] : !ttg.memdesc<2x128xf32, #shared, #smem, mutable> -> !ttg.memdesc<64xf32, #shared, #smem, mutable>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @copy_to_constant(%p: tensor<128x!tt.ptr<f32>, #blocked>, %b: !ttg.memdesc<128xf32, #shared, #smem>) {
  // C1
  // expected-error @+1 {{writes to a buffer that is not mutable}}
  %t = ttg.async_copy_global_to_local %p, %b : tensor<128x!tt.ptr<f32>, #blocked> -> !ttg.memdesc<128xf32, #shared, #smem>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @copy_of_other_shape(%p: tensor<128x!tt.ptr<f32>, #blocked>, %b: !ttg.memdesc<64xf32, #shared, #smem, mutable>) {
  // C1
  // expected-error @+1 {{differs from buffer}}
  %t = ttg.async_copy_global_to_local %p, %b : tensor<128x!tt.ptr<f32>, #blocked> -> !ttg.memdesc<64xf32, #shared, #smem, mutable>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @expand_encoding(%x: tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>) {
  // C3
  // expected-error @+1 {{result has encoding}}
  %e = tt.expand_dims %x {axis = 0 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<1x128xf32, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @trans_encoding(%x: tensor<32x64xf32, #blocked>) {
  // C3
  // expected-error @+1 {{result has encoding}}
  %e = tt.trans %x {order = array<i32: 1, 0>} : tensor<32x64xf32, #blocked> -> tensor<64x32xf32, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @reshape_encoding(%x: tensor<32x64xf32, #blocked>) {
  // C2
  // expected-error @+1 {{result has encoding}}
  %e = tt.reshape %x : tensor<32x64xf32, #blocked> -> tensor<64x32xf32, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @copy_mask(%p: tensor<128x!tt.ptr<f32>, #blocked>, %m: tensor<64xi1, #blocked>, %b: !ttg.memdesc<128xf32, #shared, #smem, mutable>) {
  // C2
  // expected-error @+1 {{failed to verify that mask has the pointers' shape}}
  %t = "ttg.async_copy_global_to_local"(%p, %b, %m) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<128x!tt.ptr<f32>, #blocked>, !ttg.memdesc<128xf32, #shared, #smem, mutable>, tensor<64xi1, #blocked>) -> !ttg.async.token
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @filled_with_another_tile(%x: tensor<64xf32, #blocked>) {
  // C2
  // expected-error @+1 {{differs from buffer}}
  %b = ttg.local_alloc %x : (tensor<64xf32, #blocked>) -> !ttg.memdesc<128xf32, #shared, #smem>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @allocated_view() {
  // C3
  // expected-error @+1 {{a view cannot be allocated}}
  %b = ttg.local_alloc : () -> !ttg.memdesc<64xf32, #shared, #smem, mutable, 2x64>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @stored_in_another_shape(%x: tensor<64xf32, #blocked>, %b: !ttg.memdesc<128xf32, #shared, #smem, mutable>) {
  // C1
  // expected-error @+1 {{differs from buffer}}
  ttg.local_store %x, %b : tensor<64xf32, #blocked> -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
  tt.return
}

// -----

#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @trans_order_of_buffer(%a: !ttg.memdesc<64x16xf16, #rows, #smem>) {
  // C1
  // expected-error @+1 {{order is not a permutation of 2 dimensions}}
  %t = ttg.memdesc_trans %a {order = array<i32: 0, 0>} : !ttg.memdesc<64x16xf16, #rows, #smem> -> !ttg.memdesc<16x64xf16, #rows, #smem>
  tt.return
}

// -----

#half = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#pairs = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @join_across_threads(%x: tensor<256xf32, #half>) {
  // C2
  // expected-error @+1 {{each thread must hold the same elements of each half and of both}}
  %j = tt.join %x, %x : tensor<256xf32, #half> -> tensor<256x2xf32, #pairs>
  tt.return
}

// -----

#half = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @join_without_encoding(%x: tensor<256xf32, #half>) {
  // C2
  // expected-error @+1 {{has an encoding on one of operand and result only}}
  %j = tt.join %x, %x : tensor<256xf32, #half> -> tensor<256x2xf32>
  tt.return
}

// -----

#half = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#pairs = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @split_of_other_rows(%x: tensor<256x2xf32, #pairs>) {
  // C3
  // expected-error @+1 {{each thread must hold the same elements of each half and of both}}
  %a, %b = tt.split %x : tensor<256x2xf32, #pairs> -> tensor<256xf32, #half>
  tt.return
}

// -----

#few = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @cat_across_threads(%x: tensor<64xf32, #few>) {
  // C2
  // expected-error @+1 {{each thread must hold the same elements of each half and of both}}
  %c = tt.cat %x, %x : tensor<64xf32, #few> -> tensor<128xf32, #few>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @packed_map(%x: tensor<256xi32, #blocked>) {
  // C3
  // expected-error @+1 {{packs 2 elements of tiles with an encoding}}
  %y = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    tt.map_elementwise.return %b, %a : i32, i32
  }) : (tensor<256xi32, #blocked>) -> tensor<256xi32, #blocked>
  tt.return
}

// -----

module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @plain_tile() {
    // expected-error @+1 {{a tile has no encoding in a module with ttg.num-warps: 'tensor<8xf32>'}}
    %x = arith.constant dense<1.0> : tensor<8xf32>
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32} {
  // expected-error @+1 {{a tile has no encoding in a module with ttg.num-warps: 'tensor<8xf32>'}}
  tt.func @plain_argument(%x: tensor<8xf32>) {
    tt.return
  }
}

// -----

#rows = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @part_of_another_type(%b: !ttg.memdesc<64x64xf16, #rows, #smem>) {
  // C1
  // expected-error @+1 {{is not a part of}}
  %0 = ttg.memdesc_subslice %b[0, 16] : !ttg.memdesc<64x64xf16, #rows, #smem> -> !ttg.memdesc<64x16xf32, #rows, #smem, 64x64>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @part_at_an_odd_offset(%b: !ttg.memdesc<64x64xf16, #rows, #smem>) {
  // C2
  // expected-error @+1 {{offset 8 of an extent of 16 is not a multiple of it within 64}}
  %0 = ttg.memdesc_subslice %b[0, 8] : !ttg.memdesc<64x64xf16, #rows, #smem> -> !ttg.memdesc<64x16xf16, #rows, #smem, 64x64>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @part_without_an_offset(%b: !ttg.memdesc<64x64xf16, #rows, #smem>) {
  // C2
  // expected-error @+1 {{has 1 offsets, the buffers 2 and 2 dimensions}}
  %0 = ttg.memdesc_subslice %b[16] : !ttg.memdesc<64x64xf16, #rows, #smem> -> !ttg.memdesc<64x16xf16, #rows, #smem, 64x64>
  tt.return
}

// -----

// expected-error @+1 {{the bases of a padded encoding give each element one offset}}
#padded = #ttg.padded_shared<[32:+4] {offset = [[0, 1], [0, 1], [1, 0]], block = []}>

// -----

// expected-error @+1 {{a padded encoding has intervals, and a padding for each}}
#padded = #ttg.padded_shared<[] {offset = [[0, 1], [1, 0]], block = []}>

// -----

// expected-error @+1 {{bases differ in length}}
#padded = #ttg.padded_shared<[32:+4] {offset = [[0, 1], [1]], block = []}>
