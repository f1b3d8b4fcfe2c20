// RUN: nereid-opt %s --split-input-file --verify-diagnostics
// Violations of the rules of buffers in shared memory, of their encodings and views, and of accesses by indices.

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @alloc_bits() {
  // C4
  // expected-error @+1 {{take no whole bytes}}
  %b = ttg.local_alloc : () -> !ttg.memdesc<8x16xi1, #rows, #smem, mutable>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @used_after_it_is_freed(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: i32) {
  %x = ttg.local_load %b : !ttg.memdesc<8x16xi32, #rows, #smem, mutable> -> tensor<8x16xi32, #blocked>
  // C1
  // expected-error @+4 {{shared memory is used after it is freed}}
  ttg.local_dealloc %b : !ttg.memdesc<8x16xi32, #rows, #smem, mutable>
  // expected-note @-1 {{freed here; free it after the last use, or not at all}}
  %t = ttg.memdesc_trans %b {order = array<i32: 1, 0>} : !ttg.memdesc<8x16xi32, #rows, #smem, mutable> -> !ttg.memdesc<16x8xi32, #columns, #smem, mutable>
  %y = ttg.local_load %t : !ttg.memdesc<16x8xi32, #columns, #smem, mutable> -> tensor<16x8xi32, #blocked>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @index_of_a_tile(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: i32) {
  // C1
  // expected-error @+1 {{is not one of the buffers of}}
  %x = ttg.memdesc_index %b[%i] : !ttg.memdesc<8x16xi32, #rows, #smem, mutable> -> !ttg.memdesc<8xi32, #one, #smem, mutable>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @trans_of_many(%b: !ttg.memdesc<2x8x16xi32, #rows, #smem, mutable>) {
  // C1
  // expected-error @+1 {{the encoding lays out 2 of 3 dimensions; take one of the buffers by its index first}}
  %t = ttg.memdesc_trans %b {order = array<i32: 0, 2, 1>} : !ttg.memdesc<2x8x16xi32, #rows, #smem, mutable> -> !ttg.memdesc<2x16x8xi32, #columns, #smem, mutable>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @trans_to_elsewhere(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>) {
  // C2
  // expected-error @+1 {{the encoding of the result puts elements elsewhere}}
  %t = ttg.memdesc_trans %b {order = array<i32: 1, 0>} : !ttg.memdesc<8x16xi32, #rows, #smem, mutable> -> !ttg.memdesc<16x8xi32, #rows, #smem, mutable>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @reshape_to_more(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>) {
  // C1
  // expected-error @+1 {{shape [256] has 256 elements, the buffer [8, 16] has 128}}
  %t = ttg.memdesc_reshape %b : !ttg.memdesc<8x16xi32, #rows, #smem, mutable> -> !ttg.memdesc<256xi32, #one, #smem, mutable>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @reshape_of_a_part(%b: !ttg.memdesc<8x8xi32, #rows, #smem, mutable, 8x16>) {
  // C2
  // expected-error @+1 {{has no other shape; reshape the whole buffer first}}
  %t = ttg.memdesc_reshape %b : !ttg.memdesc<8x8xi32, #rows, #smem, mutable, 8x16> -> !ttg.memdesc<64xi32, #one, #smem, mutable>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @reshape_to_elsewhere(%b: !ttg.memdesc<8x16xi32, #columns, #smem, mutable>) {
  // C3
  // expected-error @+1 {{the encoding of the result puts elements elsewhere}}
  %t = ttg.memdesc_reshape %b : !ttg.memdesc<8x16xi32, #columns, #smem, mutable> -> !ttg.memdesc<128xi32, #one, #smem, mutable>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @reinterpreted_as_a_part(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>) {
  // C1
  // expected-error @+1 {{is no whole buffer of the memory of}}
  %t = ttg.memdesc_reinterpret %b : !ttg.memdesc<8x16xi32, #rows, #smem, mutable> -> !ttg.memdesc<4x16xi32, #rows, #smem, mutable, 8x16>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @reinterpreted_as_more(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>) {
  // C2
  // expected-error @+1 {{takes 1024 bytes, the source has 512}}
  %t = ttg.memdesc_reinterpret %b : !ttg.memdesc<8x16xi32, #rows, #smem, mutable> -> !ttg.memdesc<512xi16, #one, #smem, mutable>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @reinterpreted_apart(%b: !ttg.memdesc<8x8xi32, #rows, #smem, mutable, 8x16>) {
  // C2
  // expected-error @+1 {{takes 64 bytes, the source has 32 adjacent ones}}
  %t = ttg.memdesc_reinterpret %b : !ttg.memdesc<8x8xi32, #rows, #smem, mutable, 8x16> -> !ttg.memdesc<16xi32, #one, #smem, mutable>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @reinterpreted_without_gaps(%b: !ttg.memdesc<8x16xi32, #padded, #smem, mutable>) {
  // C3
  // expected-error @+1 {{differ in their gaps}}
  %t = ttg.memdesc_reinterpret %b : !ttg.memdesc<8x16xi32, #padded, #smem, mutable> -> !ttg.memdesc<8x16xi32, #rows, #smem, mutable>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @gather_12(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x16xf32, #blocked>, %x: tensor<4x16xi32, #blocked>) {
  // C1
  // expected-error @+1 {{indices are 'f32', no integers}}
  %r = ttg.local_gather %b[%i] {axis = 0 : i32} : !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x16xf32, #blocked> -> tensor<4x16xi32, #blocked>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @scatter_12(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x16xf32, #blocked>, %x: tensor<4x16xi32, #blocked>) {
  // C1
  // expected-error @+1 {{indices are 'f32', no integers}}
  ttg.local_scatter %b[%i], %x {axis = 0 : i32} : !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x16xf32, #blocked>, tensor<4x16xi32, #blocked>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @atomic_12(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x16xf32, #blocked>, %x: tensor<4x16xi32, #blocked>) {
  // C1
  // expected-error @+1 {{indices are 'f32', no integers}}
  %r = ttg.local_atomic_scatter_rmw add, %b[%i], %x {axis = 0 : i32} : (!ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x16xi32, #blocked>, tensor<4x16xf32, #blocked>) -> tensor<4x16xi32, #blocked>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @gather_15(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>, %x: tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>) {
  // C1
  // expected-error @+1 {{indices have 1 dimensions, the buffer 2}}
  %r = ttg.local_gather %b[%i] {axis = 0 : i32} : !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @scatter_15(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>, %x: tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>) {
  // C1
  // expected-error @+1 {{indices have 1 dimensions, the buffer 2}}
  ttg.local_scatter %b[%i], %x {axis = 0 : i32} : !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>, tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @atomic_15(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>, %x: tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>) {
  // C1
  // expected-error @+1 {{indices have 1 dimensions, the buffer 2}}
  %r = ttg.local_atomic_scatter_rmw add, %b[%i], %x {axis = 0 : i32} : (!ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>, tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>) -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @gather_18(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x32xi32, #blocked>, %x: tensor<4x32xi32, #blocked>) {
  // C1
  // expected-error @+1 {{indices have extent 32 in dimension 1, the buffer has 16}}
  %r = ttg.local_gather %b[%i] {axis = 0 : i32} : !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x32xi32, #blocked> -> tensor<4x32xi32, #blocked>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @scatter_18(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x32xi32, #blocked>, %x: tensor<4x32xi32, #blocked>) {
  // C1
  // expected-error @+1 {{indices have extent 32 in dimension 1, the buffer has 16}}
  ttg.local_scatter %b[%i], %x {axis = 0 : i32} : !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x32xi32, #blocked>, tensor<4x32xi32, #blocked>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @atomic_18(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x32xi32, #blocked>, %x: tensor<4x32xi32, #blocked>) {
  // C1
  // expected-error @+1 {{indices have extent 32 in dimension 1, the buffer has 16}}
  %r = ttg.local_atomic_scatter_rmw add, %b[%i], %x {axis = 0 : i32} : (!ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x32xi32, #blocked>, tensor<4x32xi32, #blocked>) -> tensor<4x32xi32, #blocked>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @gather_21(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x16xi32, #blocked>, %x: tensor<4x16xi32, #other>) {
  // C2
  // expected-error @+1 {{differ in shape or encoding from indices}}
  %r = ttg.local_gather %b[%i] {axis = 0 : i32} : !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x16xi32, #blocked> -> tensor<4x16xi32, #other>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @scatter_21(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x16xi32, #blocked>, %x: tensor<4x16xi32, #other>) {
  // C2
  // expected-error @+1 {{differ in shape or encoding from indices}}
  ttg.local_scatter %b[%i], %x {axis = 0 : i32} : !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x16xi32, #blocked>, tensor<4x16xi32, #other>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @atomic_21(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x16xi32, #blocked>, %x: tensor<4x16xi32, #other>) {
  // C2
  // expected-error @+1 {{differ in shape or encoding from indices}}
  %r = ttg.local_atomic_scatter_rmw add, %b[%i], %x {axis = 0 : i32} : (!ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x16xi32, #other>, tensor<4x16xi32, #blocked>) -> tensor<4x16xi32, #other>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @gather_24(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x16xi32, #blocked>, %x: tensor<4x16xf32, #blocked>) {
  // C2
  // expected-error @+1 {{elements are}}
  %r = ttg.local_gather %b[%i] {axis = 0 : i32} : !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x16xi32, #blocked> -> tensor<4x16xf32, #blocked>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @scatter_24(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x16xi32, #blocked>, %x: tensor<4x16xf32, #blocked>) {
  // C2
  // expected-error @+1 {{elements are}}
  ttg.local_scatter %b[%i], %x {axis = 0 : i32} : !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x16xi32, #blocked>, tensor<4x16xf32, #blocked>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @atomic_24(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x16xi32, #blocked>, %x: tensor<4x16xf32, #blocked>) {
  // C2
  // expected-error @+1 {{elements are}}
  %r = ttg.local_atomic_scatter_rmw add, %b[%i], %x {axis = 0 : i32} : (!ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x16xf32, #blocked>, tensor<4x16xi32, #blocked>) -> tensor<4x16xf32, #blocked>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @gather_27(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x16xi32, #blocked>, %x: tensor<4x16xi32, #blocked>) {
  // C3
  // expected-error @+1 {{axis 2 is no dimension of a buffer of 2}}
  %r = ttg.local_gather %b[%i] {axis = 2 : i32} : !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x16xi32, #blocked> -> tensor<4x16xi32, #blocked>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @scatter_27(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x16xi32, #blocked>, %x: tensor<4x16xi32, #blocked>) {
  // C3
  // expected-error @+1 {{axis 2 is no dimension of a buffer of 2}}
  ttg.local_scatter %b[%i], %x {axis = 2 : i32} : !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x16xi32, #blocked>, tensor<4x16xi32, #blocked>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @atomic_27(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x16xi32, #blocked>, %x: tensor<4x16xi32, #blocked>) {
  // C3
  // expected-error @+1 {{axis 2 is no dimension of a buffer of 2}}
  %r = ttg.local_atomic_scatter_rmw add, %b[%i], %x {axis = 2 : i32} : (!ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x16xi32, #blocked>, tensor<4x16xi32, #blocked>) -> tensor<4x16xi32, #blocked>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @scatter_30(%b: !ttg.memdesc<8x16xi32, #rows, #smem>, %i: tensor<4x16xi32, #blocked>, %x: tensor<4x16xi32, #blocked>) {
  // C4
  // expected-error @+1 {{writes to a buffer that is not mutable}}
  ttg.local_scatter %b[%i], %x {axis = 0 : i32} : !ttg.memdesc<8x16xi32, #rows, #smem>, tensor<4x16xi32, #blocked>, tensor<4x16xi32, #blocked>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @atomic_30(%b: !ttg.memdesc<8x16xi32, #rows, #smem>, %i: tensor<4x16xi32, #blocked>, %x: tensor<4x16xi32, #blocked>) {
  // C4
  // expected-error @+1 {{writes to a buffer that is not mutable}}
  %r = ttg.local_atomic_scatter_rmw add, %b[%i], %x {axis = 0 : i32} : (!ttg.memdesc<8x16xi32, #rows, #smem>, tensor<4x16xi32, #blocked>, tensor<4x16xi32, #blocked>) -> tensor<4x16xi32, #blocked>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @atomic_32(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x16xi32, #blocked>, %x: tensor<4x16xi32, #blocked>, %m: tensor<4x16xi32, #blocked>) {
  // C2
  // expected-error @+1 {{does not fit values}}
  %r = ttg.local_atomic_scatter_rmw add, %b[%i], %x, %m {axis = 0 : i32} : (!ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x16xi32, #blocked>, tensor<4x16xi32, #blocked>, tensor<4x16xi32, #blocked>) -> tensor<4x16xi32, #blocked>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @atomic_33(%b: !ttg.memdesc<8x16xi32, #rows, #smem, mutable>, %i: tensor<4x16xi32, #blocked>, %x: tensor<4x16xi32, #blocked>) {
  // C5
  // expected-error @+1 {{fadd does not combine elements of type}}
  %r = ttg.local_atomic_scatter_rmw fadd, %b[%i], %x {axis = 0 : i32} : (!ttg.memdesc<8x16xi32, #rows, #smem, mutable>, tensor<4x16xi32, #blocked>, tensor<4x16xi32, #blocked>) -> tensor<4x16xi32, #blocked>
  tt.return
}

// -----

// expected-error @+1 {{intervals and paddings must be powers of two; 24:+4 is not}}
#e = #ttg.padded_shared<[24:+4] {order = [1, 0], shape = [8, 16]}>

// -----

// expected-error @+1 {{interval 32 is given twice}}
#e = #ttg.padded_shared<[32:+4, 32:+8] {order = [1, 0], shape = [8, 16]}>

// -----

// expected-error @+1 {{basis 1 of offset is not a power of two along one dimension}}
#e = #ttg.padded_shared<[32:+4] {offset = [[0, 1], [1, 2], [1, 0]], block = []}>

// -----

// expected-error @+1 {{extent 12 is not a power of two}}
#e = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [12, 16]}>

// -----

// expected-error @+1 {{alignment is 24, which is no power of two}}
#e = #ttg.shared_linear<{offset = [[0, 1], [1, 0]]}, alignment = 24>

// -----

// expected-error @+1 {{the bases do not reach every element}}
#e = #ttg.shared_linear<{offset = [[0, 1], [2, 0]]}, alignment = 16>

// -----

// expected-error @+1 {{two offsets hold the same element}}
#e = #ttg.shared_linear<{offset = [[0, 1], [1, 0], [1, 1]]}, alignment = 16>

// -----

// expected-error @+1 {{bases differ in length or are empty}}
#e = #ttg.shared_linear<{offset = [[0, 1], [1]]}, alignment = 16>

// -----

// expected-error @+1 {{rank is 1, but swizzlingByteWidth is 64}}
#e = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, rank = 1}>

// -----

// expected-error @+1 {{fp4Padded with swizzlingByteWidth 64 and elementBitWidth 8; it needs 128 and 8}}
#e = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8, fp4Padded = true}>

// -----

// expected-error @+1 {{unknown key `swizzle`}}
#e = #ttg.nvmma_shared<{swizzle = 64}>

// -----

// expected-error @+1 {{CGALayout holds 3, which is not a power of two}}
#e = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[3, 0]]}>

// -----

#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 16]}>
// expected-error @+1 {{the encoding lays out a tile of [8, 16], but the buffer has [16, 16]}}
tt.func @padded_of_another_shape(%b: !ttg.memdesc<16x16xf16, #padded, #ttg.shared_memory>) {
  tt.return
}

// -----

#matrix = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// expected-error @+1 {{dimension 1 of the buffer has 32 bytes; a panel has 128; a swizzlingByteWidth of 32 or a larger extent fits}}
tt.func @narrow_matrix(%b: !ttg.memdesc<8x16xf16, #matrix, #ttg.shared_memory>) {
  tt.return
}

// -----

#padded = #ttg.padded_shared<[1:+1073741824] {order = [1, 0], shape = [8, 16]}>
// expected-error @+1 {{elements, gaps included, is larger than any shared memory}}
tt.func @wide_gaps(%b: !ttg.memdesc<8x16xf16, #padded, #ttg.shared_memory>) {
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[0, 1]]}>
#smem = #ttg.shared_memory
tt.func @of_another_cta(%b: !ttg.memdesc<16x32xf32, #columns, #smem, mutable>, %i: tensor<16x32xi32, #blocked>) {
  // expected-error @+1 {{are split over the cluster in different ways; give them the same CGALayout}}
  %x = ttg.local_load %b : !ttg.memdesc<16x32xf32, #columns, #smem, mutable> -> tensor<16x32xf32, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[0, 1]]}>
#smem = #ttg.shared_memory
tt.func @index_in_another_cta(%b: !ttg.memdesc<16x32xf32, #columns, #smem, mutable>, %i: tensor<16x32xi32, #blocked>) {
  %x = ttg.local_load %b : !ttg.memdesc<16x32xf32, #columns, #smem, mutable> -> tensor<16x32xf32, #blocked>
  // expected-error @+1 {{the CTAs of the cluster hold different parts of dimension 1}}
  %y = ttg.local_gather %b[%i] {axis = 1 : i32} : !ttg.memdesc<16x32xf32, #columns, #smem, mutable>, tensor<16x32xi32, #blocked> -> tensor<16x32xf32, #blocked>
  tt.return
}
