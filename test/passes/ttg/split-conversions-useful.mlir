// RUN: nereid-opt %s --ttg-split-conversions=max-bytes=65536 --ttg-allocate-shared | FileCheck %s
// Buffers alone need more than there is: conversions beside them stay whole where two steps would save nothing.

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 8], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func public @before
  tt.func public @before(%x: tensor<64x64xf32, #rows>, %v: tensor<256x128xf32, #rows>) -> (tensor<64x64xf32, #columns>, tensor<256x128xf32, #rows>) {
    // CHECK-COUNT-1: ttg.convert_layout
    // CHECK-NOT: ttg.convert_layout
    %y = ttg.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    %buffer = ttg.local_alloc %v : (tensor<256x128xf32, #rows>) -> !ttg.memdesc<256x128xf32, #shared, #smem>
    %w = ttg.local_load %buffer : !ttg.memdesc<256x128xf32, #shared, #smem> -> tensor<256x128xf32, #rows>
    tt.return %y, %w : tensor<64x64xf32, #columns>, tensor<256x128xf32, #rows>
  }
}
