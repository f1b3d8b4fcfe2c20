// RUN: nereid-opt %s --split-input-file --verify-diagnostics
// Violations of the rules of tensor maps and of accesses through them.

tt.func @extents(%p: !tt.ptr<f16>, %n: i64, %no: i1) {
  // C1
  // expected-error @+1 {{has 1 extents and 2 strides for blocks of 2 dimensions}}
  %m = ttng.make_tensor_map %p, [%n], [%n, %n] nan %no tf32 %no {block = array<i64: 16, 64>} : <f16> -> <i8>
  tt.return
}

// -----

tt.func @one_dimension(%p: !tt.ptr<f16>, %n: i64, %no: i1) {
  // C2
  // expected-error @+1 {{has blocks of 1 dimensions; they have 2 to 5}}
  %m = ttng.make_tensor_map %p, [%n], [%n] nan %no tf32 %no {block = array<i64: 64>} : <f16> -> <i8>
  tt.return
}

// -----

tt.func @long_box(%p: !tt.ptr<f16>, %n: i64, %no: i1) {
  // C2
  // expected-error @+1 {{has blocks of extent 512; the largest is 256}}
  %m = ttng.make_tensor_map %p, [%n, %n], [%n, %n] nan %no tf32 %no {block = array<i64: 512, 64>} : <f16> -> <i8>
  tt.return
}

// -----

tt.func @short_rows(%p: !tt.ptr<f16>, %n: i64, %no: i1) {
  // C3
  // expected-error @+1 {{has blocks with rows of 8 bytes; they have 16 at least}}
  %m = ttng.make_tensor_map %p, [%n, %n], [%n, %n] nan %no tf32 %no {block = array<i64: 64, 4>} : <f16> -> <i8>
  tt.return
}

// -----

tt.func @indices(%m: !tt.ptr<i8>, %i: i32) {
  // C1
  // expected-error @+1 {{has 1 indices for 2 dimensions}}
  %x = ttng.tile_load %m[%i] {block = array<i64: 16, 64>} : <i8> -> tensor<16x64xf16>
  tt.return
}

// -----

tt.func @rows_of_a_tile(%m: !tt.ptr<i8>, %i: i32, %x: tensor<16x64xf16>) {
  // C2
  // expected-error @+1 {{accesses blocks of 8x64 elements as a tile of another shape}}
  ttng.tile_store %m[%i, %i, %i], %x {block = array<i64: 2, 4, 64>} : <i8>, tensor<16x64xf16>
  tt.return
}

// -----

#narrow = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @encoding(%m: !tt.ptr<i8>, %i: i32, %to: !ttg.memdesc<16x64xf16, #narrow, #smem, mutable>, %b: !ttg.memdesc<1xi64, #flat, #smem, mutable>, %yes: i1) {
  // C1
  // expected-error @+1 {{copies blocks of 'tensor<16x64xf16>' in the encoding #ttg.nvmma_shared<{swizzlingByteWidth = 32}}
  ttng.async_tma_copy_global_to_local %m[%i, %i] %to, %b, %yes {block = array<i64: 16, 64>} : !tt.ptr<i8>, !ttg.memdesc<1xi64, #flat, #smem, mutable> -> !ttg.memdesc<16x64xf16, #narrow, #smem, mutable>
  tt.return
}

// -----

#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @loaded_indices(%m: !tt.ptr<i8>, %i: i32, %to: !ttg.memdesc<16x64xf16, #wide, #smem, mutable>, %b: !ttg.memdesc<1xi64, #flat, #smem, mutable>, %yes: i1) {
  // C2
  // expected-error @+1 {{has 1 indices for 2 dimensions}}
  ttng.async_tma_copy_global_to_local %m[%i] %to, %b, %yes {block = array<i64: 16, 64>} : !tt.ptr<i8>, !ttg.memdesc<1xi64, #flat, #smem, mutable> -> !ttg.memdesc<16x64xf16, #wide, #smem, mutable>
  tt.return
}

// -----

#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @stored_indices(%m: !tt.ptr<i8>, %i: i32, %from: !ttg.memdesc<16x64xf16, #wide, #smem>) {
  // C2
  // expected-error @+1 {{has 3 indices for 2 dimensions}}
  ttng.async_tma_copy_local_to_global %m[%i, %i, %i] %from {block = array<i64: 16, 64>} : !tt.ptr<i8>, !ttg.memdesc<16x64xf16, #wide, #smem>
  tt.return
}

// -----

#narrow = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @stored_encoding(%m: !tt.ptr<i8>, %i: i32, %from: !ttg.memdesc<16x64xf16, #narrow, #smem>) {
  // C1
  // expected-error @+1 {{copies blocks of 'tensor<16x64xf16>}}
  ttng.async_tma_copy_local_to_global %m[%i, %i] %from {block = array<i64: 16, 64>} : !tt.ptr<i8>, !ttg.memdesc<16x64xf16, #narrow, #smem>
  tt.return
}

// -----

tt.func @loaded_rows(%m: !tt.ptr<i8>, %i: i32) {
  // C2
  // expected-error @+1 {{accesses blocks of 16x64 elements as a tile of another shape}}
  %x = ttng.tile_load %m[%i, %i] {block = array<i64: 16, 64>} : <i8> -> tensor<8x64xf16>
  tt.return
}

// -----

tt.func @stored_indices_of_a_tile(%m: !tt.ptr<i8>, %i: i32, %x: tensor<16x64xf16>) {
  // C1
  // expected-error @+1 {{has 1 indices for 2 dimensions}}
  ttng.tile_store %m[%i], %x {block = array<i64: 16, 64>} : <i8>, tensor<16x64xf16>
  tt.return
}

// -----

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @expected_bytes(%b: !ttg.memdesc<2x1xi64, #flat, #smem, mutable>, %i: i32, %p: i1) {
  // C1
  // expected-error @+1 {{has `ofThreads`, but a `barrier_expect` waits for TMA there}}
  ttng.init_barrier %b, 1 {ofThreads} : !ttg.memdesc<2x1xi64, #flat, #smem, mutable>
  %one = ttg.memdesc_index %b[%i] : !ttg.memdesc<2x1xi64, #flat, #smem, mutable> -> !ttg.memdesc<1xi64, #flat, #smem, mutable>
  ttng.barrier_expect %one, 128, %p : !ttg.memdesc<1xi64, #flat, #smem, mutable>
  tt.return
}

// -----

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @barriers_of_i32(%b: !ttg.memdesc<2xi32, #flat, #smem, mutable>) {
  // C2
  // expected-error @+1 {{they are 64-bit integers (i64)}}
  ttng.init_barrier %b, 1 : !ttg.memdesc<2xi32, #flat, #smem, mutable>
  tt.return
}

// -----

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @no_arrivals(%b: !ttg.memdesc<1xi64, #flat, #smem, mutable>) {
  // C2
  // expected-error @+1 {{counts 0 arrivals; a barrier counts from 1 to 1048575}}
  ttng.init_barrier %b, 0 : !ttg.memdesc<1xi64, #flat, #smem, mutable>
  tt.return
}

// -----

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @fewer_bytes(%b: !ttg.memdesc<1xi64, #flat, #smem, mutable>, %p: i1) {
  // C1
  // expected-error @+1 {{expects -8 bytes}}
  ttng.barrier_expect %b, -8, %p : !ttg.memdesc<1xi64, #flat, #smem, mutable>
  tt.return
}

// -----

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @wait_for_two(%b: !ttg.memdesc<2x1xi64, #flat, #smem, mutable>, %i: i32) {
  // C1
  // expected-error @+1 {{`memdesc_index` selects one of several}}
  ttng.wait_barrier %b, %i : !ttg.memdesc<2x1xi64, #flat, #smem, mutable>
  tt.return
}

// -----

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @twice_by_warps(%b: !ttg.memdesc<1xi64, #flat, #smem, mutable>) {
  // C1
  // expected-error @+1 {{arrives 2 times by each warp; with `byWarp` it is once}}
  ttng.arrive_barrier %b, 2 {byWarp} : !ttg.memdesc<1xi64, #flat, #smem, mutable>
  tt.return
}

// -----

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @copies_at_two(%b: !ttg.memdesc<2x1xi64, #flat, #smem, mutable>) {
  // C1
  // expected-error @+1 {{`memdesc_index` selects one of several}}
  ttng.async_copy_mbarrier_arrive %b : !ttg.memdesc<2x1xi64, #flat, #smem, mutable>
  tt.return
}

// -----

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#narrow = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @reduction_from_another_layout(%d: !tt.tensordesc<64x64xf16, #shared>, %i: i32, %b: !ttg.memdesc<64x64xf16, #narrow, #smem, mutable>) {
  // C1
  // expected-error @+1 {{the layouts of descriptor and buffer are the same}}
  ttng.async_tma_reduce add, %d[%i, %i] %b : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<64x64xf16, #narrow, #smem, mutable>
  tt.return
}

// -----

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @reduction_at_one_index(%d: !tt.tensordesc<64x64xf16, #shared>, %i: i32, %b: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) {
  // C2
  // expected-error @+1 {{has 1 indices for 2 dimensions}}
  ttng.async_tma_reduce add, %d[%i] %b : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  tt.return
}

// -----

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @reduction_that_tma_lacks(%d: !tt.tensordesc<64x64xf16, #shared>, %i: i32, %b: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) {
  // C3
  // expected-error @+1 {{TMA has no `xor` of 'f16'}}
  ttng.async_tma_reduce xor, %d[%i, %i] %b : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  tt.return
}
