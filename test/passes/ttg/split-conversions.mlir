// RUN: nereid-opt %s --ttg-split-conversions=max-bytes=32768 --ttg-allocate-shared | FileCheck %s
// RUN: nereid-opt %s --ttg-split-conversions | FileCheck %s --check-prefix=FITS
// Two conversions replace one that needs too much shared memory.

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 8], order = [0, 1]}>

// CHECK: ttg.shared = {{16384|32768}} : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func public @transpose
  // FITS-LABEL: tt.func public @transpose
  tt.func public @transpose(%x: tensor<128x128xf32, #rows>) -> tensor<128x128xf32, #columns> {
    // CHECK: %[[M:.*]] = ttg.convert_layout %{{.*}} -> tensor<128x128xf32, #[[B:.*]]>
    // CHECK: ttg.convert_layout %[[M]] {{.*}} : tensor<128x128xf32, #[[B]]> -> tensor<128x128xf32
    // FITS-COUNT-1: ttg.convert_layout
    // FITS-NOT: ttg.convert_layout
    %y = ttg.convert_layout %x : tensor<128x128xf32, #rows> -> tensor<128x128xf32, #columns>
    // CHECK-NOT: ttg.convert_layout
    tt.return %y : tensor<128x128xf32, #columns>
  }
}
