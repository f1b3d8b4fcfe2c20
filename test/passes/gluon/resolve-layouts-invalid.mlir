// Tiles whose layout cannot be found are errors.
// SPDX-License-Identifier: MIT
// RUN: nereid-opt %s --split-input-file --verify-diagnostics --gluon-resolve-layouts

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @two_layouts(%a: tensor<256x!tt.ptr<i32>, #blocked>, %b: tensor<256x!tt.ptr<i32>, #blocked1>) {
    // expected-error @+1 {{is used in two layouts}}
    %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #gluon.auto_encoding>
    %first = gluon.set_auto_layout %range : tensor<256xi32, #gluon.auto_encoding> -> tensor<256xi32, #blocked>
    %second = gluon.set_auto_layout %range : tensor<256xi32, #gluon.auto_encoding> -> tensor<256xi32, #blocked1>
    tt.store %a, %first : tensor<256x!tt.ptr<i32>, #blocked>
    tt.store %b, %second : tensor<256x!tt.ptr<i32>, #blocked1>
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @no_layout(%out: !tt.ptr<i32>) {
    // expected-error @+1 {{nothing says which layout}}
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #gluon.auto_encoding>
    %base = tt.splat %out : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #gluon.auto_encoding>
    %to = tt.addptr %base, %range : tensor<64x!tt.ptr<i32>, #gluon.auto_encoding>, tensor<64xi32, #gluon.auto_encoding>
    tt.store %to, %range : tensor<64x!tt.ptr<i32>, #gluon.auto_encoding>
    tt.return
  }
}
