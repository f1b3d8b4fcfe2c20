// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Warp-group dots, waits and fences round-trip.

// CHECK-DAG: #[[M:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
// CHECK-DAG: #[[R:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
// CHECK-DAG: #[[C:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
#columns = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
// CHECK-DAG: #[[S:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 8, rank = 3}>
#slices = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 8, rank = 3}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @dots
  tt.func @dots(%c: tensor<64x32xf32, #mma>, %adds: i1,
                    %x: tensor<64x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x32xbf16, #rows, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<32x32xbf16, #columns, #smem, mutable>
    // CHECK: ttng.fence_async_shared {bCluster = false}
    ttng.fence_async_shared {bCluster = false}
    // CHECK: ttng.warp_group_dot %{{.*}}, %{{.*}}, %{{.*}} : !ttg.memdesc<64x32xbf16, #[[R]], #smem, mutable> * !ttg.memdesc<32x32xbf16, #[[C]], #smem, mutable> -> tensor<64x32xf32, #[[M]]>
    %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xbf16, #rows, #smem, mutable> * !ttg.memdesc<32x32xbf16, #columns, #smem, mutable> -> tensor<64x32xf32, #mma>
    // CHECK: %[[D:.*]] = ttng.warp_group_dot %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {inputPrecision = 0 : i32, isAsync = true} : tensor<64x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #[[M]], kWidth = 2}>> * !ttg.memdesc
    %e = ttng.warp_group_dot %x, %b, %d, %adds {inputPrecision = 0 : i32, isAsync = true} : tensor<64x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<32x32xbf16, #columns, #smem, mutable> -> tensor<64x32xf32, #mma>
    // CHECK: ttng.warp_group_dot_wait %[[D]], %{{.*}} {pendings = 0 : i32} : tensor<64x32xf32, #[[M]]>, !ttg.memdesc<32x32xbf16, #[[C]], #smem, mutable>
    %f:2 = ttng.warp_group_dot_wait %e, %b {pendings = 0 : i32} : tensor<64x32xf32, #mma>, !ttg.memdesc<32x32xbf16, #columns, #smem, mutable>
    tt.return
  }

  // CHECK-LABEL: tt.func @views
  tt.func @views(%a: !ttg.memdesc<64x32xf16, #rows, #smem>, %s: !ttg.memdesc<2x8x16xi8, #slices, #smem>) {
    // CHECK: ttg.memdesc_trans %{{.*}} {order = array<i32: 1, 0>} : !ttg.memdesc<64x32xf16, #[[R]], #smem> -> !ttg.memdesc<32x64xf16, #[[C]], #smem>
    %t = ttg.memdesc_trans %a {order = array<i32: 1, 0>} : !ttg.memdesc<64x32xf16, #rows, #smem> -> !ttg.memdesc<32x64xf16, #columns, #smem>
    tt.return
  }
}
