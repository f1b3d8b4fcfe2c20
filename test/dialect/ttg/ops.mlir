// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Layouts, buffers and the ops on them round-trip.

// CHECK-DAG: #[[B:.*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[C:.*]] = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
// CHECK-DAG: #[[L:.*]] = #ttg.linear<{register = {{\[\[}}0, 16], [8, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [1, 0]], warp = {{\[\[}}2, 0], [4, 0]], block = []}>
#linear = #ttg.linear<{register = [[0, 16], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0]], warp = [[2, 0], [4, 0]], block = []}>
// CHECK-DAG: #[[S:.*]] = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-DAG: #shared{{[0-9]*}} = #ttg.padded_shared<[32:+4, 64:+8] {offset = {{\[}}[0, 1], [0, 2], [4, 0], [1, 0], [2, 0]{{\]}}, block = []}>
// CHECK-DAG: #shared{{[0-9]*}} = #ttg.padded_shared<[16:+4] {order = [1, 0], shape = [4, 4]}>

// CHECK-LABEL: tt.func @layouts
  tt.func @layouts(%x: tensor<16x32xf32, #blocked>, %row: tensor<32xf32, #ttg.slice<{dim = 0, parent = #blocked}>>) {
    // CHECK: ttg.convert_layout %{{.*}} : tensor<16x32xf32, #[[B]]> -> tensor<16x32xf32, #[[C]]>
    %c = ttg.convert_layout %x : tensor<16x32xf32, #blocked> -> tensor<16x32xf32, #columns>
    // CHECK: ttg.convert_layout %{{.*}} : tensor<16x32xf32, #[[C]]> -> tensor<16x32xf32, #[[L]]>
    %l = ttg.convert_layout %c : tensor<16x32xf32, #columns> -> tensor<16x32xf32, #linear>
    // CHECK: tt.expand_dims %{{.*}} {axis = 0 : i32} : tensor<32xf32, #ttg.slice<{dim = 0, parent = #[[B]]}>> -> tensor<1x32xf32, #[[B]]>
    %e = tt.expand_dims %row {axis = 0 : i32} : tensor<32xf32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xf32, #blocked>
    tt.return
  }

  // CHECK-LABEL: tt.func @buffers
  tt.func @buffers(%x: tensor<16x32xf32, #blocked>) {
    // CHECK: ttg.local_alloc %{{.*}} : (tensor<16x32xf32, #[[B]]>) -> !ttg.memdesc<16x32xf32, #[[S]], #smem>
    %filled = ttg.local_alloc %x : (tensor<16x32xf32, #blocked>) -> !ttg.memdesc<16x32xf32, #shared, #smem>
    // CHECK: ttg.local_alloc : () -> !ttg.memdesc<16x32xf32, #[[S]], #smem, mutable>
    %buffer = ttg.local_alloc : () -> !ttg.memdesc<16x32xf32, #shared, #smem, mutable>
    // CHECK: ttg.local_store %{{.*}}, %{{.*}} : tensor<16x32xf32, #[[B]]> -> <16x32xf32, #[[S]], #smem, mutable>
    ttg.local_store %x, %buffer : tensor<16x32xf32, #blocked> -> !ttg.memdesc<16x32xf32, #shared, #smem, mutable>
    // CHECK: ttg.barrier local
    ttg.barrier local
    // CHECK: ttg.local_load %{{.*}} : <16x32xf32, #[[S]], #smem, mutable> -> tensor<16x32xf32, #[[C]]>
    %y = ttg.local_load %buffer : !ttg.memdesc<16x32xf32, #shared, #smem, mutable> -> tensor<16x32xf32, #columns>
    // CHECK: ttg.local_dealloc %{{.*}} : <16x32xf32, #[[S]], #smem, mutable>
    ttg.local_dealloc %buffer : !ttg.memdesc<16x32xf32, #shared, #smem, mutable>
    tt.return
  }

  // CHECK-LABEL: tt.func @copies
  tt.func @copies(%p: tensor<16x32x!tt.ptr<f32>, #blocked>, %m: tensor<16x32xi1, #blocked>, %o: tensor<16x32xf32, #blocked>, %i: i32) {
    %buffers = ttg.local_alloc : () -> !ttg.memdesc<2x16x32xf32, #shared, #smem, mutable>
    // CHECK: ttg.memdesc_index %{{.*}}[%{{.*}}] : !ttg.memdesc<2x16x32xf32, #[[S]], #smem, mutable> -> !ttg.memdesc<16x32xf32, #[[S]], #smem, mutable>
    %stage = ttg.memdesc_index %buffers[%i] : !ttg.memdesc<2x16x32xf32, #shared, #smem, mutable> -> !ttg.memdesc<16x32xf32, #shared, #smem, mutable>
    // CHECK: ttg.async_copy_global_to_local %{{.*}}, %{{[^ ]*}} mask %{{.*}} other %{{.*}} {evict = 2 : i32} : tensor<16x32x!tt.ptr<f32>, #[[B]]> -> <16x32xf32, #[[S]], #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %stage mask %m other %o {evict = 2 : i32} : tensor<16x32x!tt.ptr<f32>, #blocked> -> !ttg.memdesc<16x32xf32, #shared, #smem, mutable>
    // CHECK: ttg.async_commit_group tokens %{{.*}}
    %g = ttg.async_commit_group tokens %t
    // CHECK: ttg.async_wait %{{.*}} {num = 0 : i32}
    %w = ttg.async_wait %g {num = 0 : i32}
    // CHECK: ttg.local_load %{{.*}} token %{{.*}} : <16x32xf32
    %y = ttg.local_load %stage token %w : !ttg.memdesc<16x32xf32, #shared, #smem, mutable> -> tensor<16x32xf32, #columns>
    tt.return
  }
}

#rows16 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK-LABEL: tt.func @part_of_a_buffer
tt.func @part_of_a_buffer(%b: !ttg.memdesc<64x64xf16, #rows16, #ttg.shared_memory, mutable>) {
  // CHECK: ttg.memdesc_subslice %{{.*}}[0, 16] : !ttg.memdesc<64x64xf16, #{{.*}}, #smem, mutable> -> !ttg.memdesc<32x16xf16, #{{.*}}, #smem, mutable, 64x64>
  %0 = ttg.memdesc_subslice %b[0, 16] : !ttg.memdesc<64x64xf16, #rows16, #ttg.shared_memory, mutable> -> !ttg.memdesc<32x16xf16, #rows16, #ttg.shared_memory, mutable, 64x64>
  tt.return
}

#padded = #ttg.padded_shared<[32:+4, 64:+8] {offset = [[0, 1], [0, 2], [4, 0], [1, 0], [2, 0]], block = []}>
#identity = #ttg.padded_shared<[16:+4] {order = [1, 0], shape = [4, 4]}>
// CHECK-LABEL: tt.func @padded
tt.func @padded(%a: !ttg.memdesc<8x4xf16, #padded, #ttg.shared_memory>, %b: !ttg.memdesc<4x4xf16, #identity, #ttg.shared_memory>) {
  tt.return
}
