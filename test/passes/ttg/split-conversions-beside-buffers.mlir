// RUN: nereid-opt %s --ttg-split-conversions=max-bytes=65536 --ttg-allocate-shared | FileCheck %s
// The larger of two conversions would fit alone, but not beside a buffer that is live: it takes two steps.

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 8], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

// CHECK: ttg.shared = {{[1-5][0-9][0-9][0-9][0-9]}} : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func public @two
  tt.func public @two(%x: tensor<128x128xf32, #rows>, %v: tensor<64x64xf32, #rows>) -> (tensor<128x128xf32, #columns>, tensor<64x64xf32, #columns>) {
    %buffer = ttg.local_alloc %v : (tensor<64x64xf32, #rows>) -> !ttg.memdesc<64x64xf32, #shared, #smem>
    // CHECK: %[[M:.*]] = ttg.convert_layout %{{.*}} -> tensor<128x128xf32, #[[B:.*]]>
    // CHECK: ttg.convert_layout %[[M]] {{.*}} : tensor<128x128xf32, #[[B]]> -> tensor<128x128xf32
    // CHECK-NOT: ttg.convert_layout
    // CHECK: ttg.local_load
    %y = ttg.convert_layout %x : tensor<128x128xf32, #rows> -> tensor<128x128xf32, #columns>
    %w = ttg.local_load %buffer : !ttg.memdesc<64x64xf32, #shared, #smem> -> tensor<64x64xf32, #rows>
    // CHECK-COUNT-1: ttg.convert_layout
    // CHECK-NOT: ttg.convert_layout
    %z = ttg.convert_layout %w : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    tt.return %y, %z : tensor<128x128xf32, #columns>, tensor<64x64xf32, #columns>
  }
}
