// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Accesses through tensor maps, and the barriers and copies that they are lowered to, round-trip.

// CHECK: #[[R:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128
#tile = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @tiles
  tt.func @tiles(%p: !tt.ptr<f16>, %m: i64, %n: i64, %pitch: i64, %one: i64, %no: i1, %i: i32, %j: i32) {
    // CHECK: %[[M:.*]] = ttng.make_tensor_map %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] nan %{{.*}} tf32 %{{.*}} {block = array<i64: 64, 128>} : <f16> -> <i8>
    %map = ttng.make_tensor_map %p, [%m, %n], [%pitch, %one] nan %no tf32 %no {block = array<i64: 64, 128>} : <f16> -> <i8>
    // CHECK: %[[X:.*]] = ttng.tile_load %[[M]][%{{.*}}, %{{.*}}] {block = array<i64: 64, 128>} : <i8> -> tensor<64x128xf16, #blocked>
    %x = ttng.tile_load %map[%i, %j] {block = array<i64: 64, 128>} : <i8> -> tensor<64x128xf16, #tile>
    // CHECK: ttng.tile_load {{.*}} evict = 2 : i32
    %y = ttng.tile_load %map[%i, %j] {block = array<i64: 64, 128>, evict = 2 : i32} : <i8> -> tensor<64x128xf16, #tile>
    // CHECK: ttng.tile_store %[[M]][%{{.*}}, %{{.*}}], %[[X]] {block = array<i64: 64, 128>} : <i8>, tensor<64x128xf16, #blocked>
    ttng.tile_store %map[%i, %j], %x {block = array<i64: 64, 128>} : <i8>, tensor<64x128xf16, #tile>
    // CHECK: ttng.tile_store {{.*}} kind = 1 : i32
    ttng.tile_store %map[%i, %j], %x {block = array<i64: 64, 128>, kind = 1 : i32} : <i8>, tensor<64x128xf16, #tile>
    tt.return
  }

  // CHECK-LABEL: tt.func @copies
  tt.func @copies(%p: !tt.ptr<f16>, %m: i64, %one: i64, %yes: i1, %i: i32) {
    %space = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<16xi64, #flat, #smem, mutable>
    // CHECK: ttng.make_tensor_map {{.*}} scratch %{{.*}} : !ttg.memdesc<16xi64, #{{.*}}, #smem, mutable> {block = array<i64: 64, 64>, isUnsigned, scratchOffset = 128 : i32} : <f16> -> <i8>
    %map = ttng.make_tensor_map %p, [%m, %m], [%m, %one] nan %yes tf32 %yes scratch %space : !ttg.memdesc<16xi64, #flat, #smem, mutable> {block = array<i64: 64, 64>, scratchOffset = 128 : i32, isUnsigned} : <f16> -> <i8>
    %barriers = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #flat, #smem, mutable>
    // CHECK: ttng.init_barrier %[[ALL:.*]], 1 : !ttg.memdesc<2x1xi64
    ttng.init_barrier %barriers, 1 : !ttg.memdesc<2x1xi64, #flat, #smem, mutable>
    %barrier = ttg.memdesc_index %barriers[%i] : !ttg.memdesc<2x1xi64, #flat, #smem, mutable> -> !ttg.memdesc<1xi64, #flat, #smem, mutable>
    %tile = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    // CHECK: ttng.barrier_expect %[[ONE:.*]], 8192, %{{.*}} : !ttg.memdesc<1xi64
    ttng.barrier_expect %barrier, 8192, %yes : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    // CHECK: ttng.async_tma_copy_global_to_local %{{.*}}[%{{.*}}, %{{.*}}] %[[T:.*]], %[[ONE]], %{{.*}} {block = array<i64: 64, 64>} : !tt.ptr<i8>, !ttg.memdesc<1xi64, #{{.*}}, #smem, mutable> -> !ttg.memdesc<64x64xf16, #[[R]], #smem, mutable>
    ttng.async_tma_copy_global_to_local %map[%i, %i] %tile, %barrier, %yes {block = array<i64: 64, 64>} : !tt.ptr<i8>, !ttg.memdesc<1xi64, #flat, #smem, mutable> -> !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    // CHECK: ttng.wait_barrier %[[ONE]], %{{.*}} : !ttg.memdesc<1xi64
    ttng.wait_barrier %barrier, %i : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    // CHECK: ttng.inval_barrier %[[ALL]] : !ttg.memdesc<2x1xi64
    ttng.inval_barrier %barriers : !ttg.memdesc<2x1xi64, #flat, #smem, mutable>
    // CHECK: ttng.async_tma_copy_local_to_global %{{.*}}[%{{.*}}, %{{.*}}] %[[T]] {block = array<i64: 64, 64>, kind = 1 : i32} : !tt.ptr<i8>, !ttg.memdesc<64x64xf16
    ttng.async_tma_copy_local_to_global %map[%i, %i] %tile {block = array<i64: 64, 64>, kind = 1 : i32} : !tt.ptr<i8>, !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
    // CHECK: ttng.async_tma_store_wait %[[T]] : !ttg.memdesc<64x64xf16{{.*}} {pendings = 0 : i32, read_only}
    ttng.async_tma_store_wait %tile : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> {pendings = 0 : i32, read_only}
    tt.return
  }
}
