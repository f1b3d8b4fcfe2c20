// RUN: nereid-opt %s --split-input-file | nereid-opt --split-input-file | FileCheck %s
// Regions for different warps round-trip.

#wide = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}>
#narrow = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, "ttg.total-num-warps" = 13 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func public @three_regions
  tt.func public @three_regions(%n: i32) {
    // CHECK: ttg.warp_specialize default {
    ttg.warp_specialize default {
      // CHECK-NEXT: tt.make_range {{.*}} : tensor<256xi32
      %x = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #wide>
      // CHECK-NEXT: ttg.warp_yield
      ttg.warp_yield
    // CHECK-NEXT: } partition0 num_warps(4) {
    } partition0 num_warps(4) {
      %y = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #narrow>
      // CHECK: ttg.warp_return
      ttg.warp_return
    // CHECK-NEXT: } partition1 num_warps(1) {
    } partition1 num_warps(1) {
      ttg.warp_return
    }
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, "ttg.total-num-warps" = 12 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func public @registers
  tt.func public @registers() {
    // CHECK: ttg.warp_specialize attributes {actualRegisters = array<i32: 232, 40>} default {
    ttg.warp_specialize attributes {actualRegisters = array<i32: 232, 40>} default {
      ttg.warp_yield
    } partition0 num_warps(4) {
      ttg.warp_return
    }
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func public @values
  tt.func public @values(%n: i32) {
    // CHECK: %{{.*}} = ttg.warp_specialize(%{{.*}}) attributes {requestedRegisters = array<i32: 24>} default {
    %r = ttg.warp_specialize(%n) attributes {requestedRegisters = array<i32: 24>} default {
      // CHECK: ttg.warp_yield %{{.*}} : i32
      ttg.warp_yield %n : i32
    // CHECK: } partition0(%{{.*}}: i32) num_warps(2) {
    } partition0(%m: i32) num_warps(2) {
      ttg.warp_return
    // CHECK: } : (i32) -> i32
    } : (i32) -> i32
    tt.return
  }
}
