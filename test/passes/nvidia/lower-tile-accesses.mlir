// RUN: nereid-opt %s --nvidia-lower-tile-accesses | FileCheck %s
// Tiles are copied in place: a buffer, a barrier that counts its bytes, a wait. Tensor maps get scratch offsets.

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#buffer = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>

// CHECK: module attributes {{.*}}ttg.global_scratch_memory_alignment = 128 : i32, ttg.global_scratch_memory_size = 2048 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func public @copy
  // CHECK: %[[S:.*]] = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<16xi64
  // CHECK: ttng.make_tensor_map {{.*}} scratch %[[S]] {{.*}} scratchOffset = 0 : i32
  // CHECK: ttng.make_tensor_map {{.*}} scratchOffset = 256 : i32
  // CHECK: %[[T:.*]] = ttg.local_alloc : () -> !ttg.memdesc<32x64xf16, #shared{{.*}}, #smem, mutable>
  // CHECK: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1x1xi64
  // CHECK: ttng.init_barrier %[[B]], 1
  // CHECK: %[[ONE:.*]] = ttg.memdesc_index %[[B]]
  // CHECK: ttng.barrier_expect %[[ONE]], 4096, %{{.*}}
  // CHECK: ttng.async_tma_copy_global_to_local %{{.*}}[%{{.*}}, %{{.*}}] %[[T]], %[[ONE]]
  // CHECK: ttng.wait_barrier %[[ONE]]
  // CHECK: ttng.inval_barrier %[[B]]
  // CHECK: ttg.local_load %[[T]] {{.*}} -> tensor<32x64xf16, #blocked>
  // CHECK: %[[F:.*]] = ttg.local_alloc %{{.*}} : (tensor<32x64xf16, #blocked>)
  // CHECK: ttng.fence_async_shared
  // CHECK: ttng.async_tma_copy_local_to_global %{{.*}}[%{{.*}}, %{{.*}}] %[[F]]
  // CHECK: ttng.async_tma_store_wait %[[F]] : {{.*}} {pendings = 0 : i32, read_only}
  tt.func public @copy(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %n: i64, %one: i64, %no: i1, %i: i32) {
    %from = ttng.make_tensor_map %p, [%n, %n], [%n, %one] nan %no tf32 %no {block = array<i64: 32, 64>} : <f16> -> <i8>
    %to = ttng.make_tensor_map %q, [%n, %n], [%n, %one] nan %no tf32 %no {block = array<i64: 32, 64>} : <f16> -> <i8>
    %x = ttng.tile_load %from[%i, %i] {block = array<i64: 32, 64>} : <i8> -> tensor<32x64xf16, #rows>
    ttng.tile_store %to[%i, %i], %x {block = array<i64: 32, 64>} : <i8>, tensor<32x64xf16, #rows>
    tt.return
  }

  // Data that is read again must be complete first; each user reads the tile in its own layout.
  // CHECK-LABEL: tt.func public @in_place
  // CHECK: ttng.inval_barrier
  // CHECK: ttg.local_load %{{.*}} -> tensor<32x64xf16, #blocked>
  // CHECK: ttg.local_load %{{.*}} -> tensor<32x64xf16, #blocked1>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: ttng.async_tma_store_wait
  // CHECK-NOT: read_only
  // CHECK: tt.return
  tt.func public @in_place(%p: !tt.ptr<f16>, %n: i64, %one: i64, %no: i1, %i: i32) -> tensor<32x64xf16, #other> {
    %map = ttng.make_tensor_map %p, [%n, %n], [%n, %one] nan %no tf32 %no {block = array<i64: 32, 64>} : <f16> -> <i8>
    %x = ttng.tile_load %map[%i, %i] {block = array<i64: 32, 64>} : <i8> -> tensor<32x64xf16, #rows>
    %y = ttg.convert_layout %x : tensor<32x64xf16, #rows> -> tensor<32x64xf16, #other>
    ttng.tile_store %map[%i, %i], %x {block = array<i64: 32, 64>} : <i8>, tensor<32x64xf16, #rows>
    tt.return %y : tensor<32x64xf16, #other>
  }

  // Whatever the effects of an op do not exclude may read, be it in a loop or a call.
  // CHECK-LABEL: tt.func public @effects
  // CHECK: ttng.async_tma_store_wait
  // CHECK-NOT: read_only
  // CHECK: tt.return
  tt.func public @effects(%p: !tt.ptr<f16>, %n: i64, %one: i64, %no: i1, %i: i32, %x: tensor<32x64xf16, #rows>) {
    %map = ttng.make_tensor_map %p, [%n, %n], [%n, %one] nan %no tf32 %no {block = array<i64: 32, 64>} : <f16> -> <i8>
    ttng.tile_store %map[%i, %i], %x {block = array<i64: 32, 64>} : <i8>, tensor<32x64xf16, #rows>
    %y = tt.elementwise_inline_asm "ld.global.b32 $0, [$1];" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %i : i32 -> i32
    tt.return
  }

  // CHECK-LABEL: tt.func public @other_pointer
  // CHECK: ttng.async_tma_store_wait %{{.*}} : {{.*}} {pendings = 0 : i32, read_only}
  tt.func public @other_pointer(%p: !tt.ptr<f16>, %q: !tt.ptr<f32>, %n: i64, %one: i64, %no: i1, %i: i32, %x: tensor<32x64xf16, #rows>) {
    %map = ttng.make_tensor_map %p, [%n, %n], [%n, %one] nan %no tf32 %no {block = array<i64: 32, 64>} : <f16> -> <i8>
    scf.if %no {
      ttng.tile_store %map[%i, %i], %x {block = array<i64: 32, 64>} : <i8>, tensor<32x64xf16, #rows>
      %v = tt.load %q : !tt.ptr<f32>
      tt.store %q, %v : !tt.ptr<f32>
    }
    tt.return
  }

  // CHECK-LABEL: tt.func public @same_pointer
  // CHECK: ttng.async_tma_store_wait
  // CHECK-NOT: read_only
  // CHECK: tt.return
  tt.func public @same_pointer(%p: !tt.ptr<f16>, %n: i64, %one: i64, %no: i1, %i: i32, %x: tensor<32x64xf16, #rows>) {
    %map = ttng.make_tensor_map %p, [%n, %n], [%n, %one] nan %no tf32 %no {block = array<i64: 32, 64>} : <f16> -> <i8>
    scf.if %no {
      ttng.tile_store %map[%i, %i], %x {block = array<i64: 32, 64>} : <i8>, tensor<32x64xf16, #rows>
      %v = tt.load %p : !tt.ptr<f16>
      tt.store %p, %v : !tt.ptr<f16>
    }
    tt.return
  }

  // An atomic access may tell others that the tile is written.
  // CHECK-LABEL: tt.func public @signal
  // CHECK: ttng.async_tma_store_wait
  // CHECK-NOT: read_only
  // CHECK: tt.return
  tt.func public @signal(%p: !tt.ptr<f16>, %flag: !tt.ptr<i32>, %n: i64, %one: i64, %no: i1, %i: i32, %x: tensor<32x64xf16, #rows>) {
    %map = ttng.make_tensor_map %p, [%n, %n], [%n, %one] nan %no tf32 %no {block = array<i64: 32, 64>} : <f16> -> <i8>
    ttng.tile_store %map[%i, %i], %x {block = array<i64: 32, 64>} : <i8>, tensor<32x64xf16, #rows>
    %old = tt.atomic_rmw exch, acq_rel, gpu, %flag, %i : (!tt.ptr<i32>, i32) -> i32
    tt.return
  }

  // A wait for dots that read the buffer forwards it with its type.
  // CHECK-LABEL: tt.func public @waited
  // CHECK: %[[T:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared{{.*}}, #smem, mutable>
  // CHECK: ttng.warp_group_dot %[[T]], %[[T]], {{.*}}isAsync = true
  // CHECK: ttng.warp_group_dot_wait %{{.*}}, %[[T]] {{.*}} !ttg.memdesc<64x64xf16, #shared{{.*}}, #smem, mutable>
  tt.func public @waited(%p: !tt.ptr<f16>, %n: i64, %one: i64, %no: i1, %i: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %map = ttng.make_tensor_map %p, [%n, %n], [%n, %one] nan %no tf32 %no {block = array<i64: 64, 64>} : <f16> -> <i8>
    %x = ttng.tile_load %map[%i, %i] {block = array<i64: 64, 64>} : <i8> -> tensor<64x64xf16, #rows>
    %b = ttg.local_alloc %x : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #buffer, #smem>
    %d = ttng.warp_group_dot %b, %b, %zero {isAsync = true} : !ttg.memdesc<64x64xf16, #buffer, #smem> * !ttg.memdesc<64x64xf16, #buffer, #smem> -> tensor<64x64xf32, #mma>
    %r:2 = ttng.warp_group_dot_wait %d, %b {pendings = 0 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #buffer, #smem>
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}
