// RUN: nereid-opt %s --split-input-file | nereid-opt --split-input-file | FileCheck %s
// Round trips of the accumulators of AMD's matrix instructions.

// CHECK: #[[M0:.*]] = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>
// CHECK: #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true, tilesPerWarp = [2, 2]}>
#tiles = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], tilesPerWarp = [2, 2], instrShape = [32, 32, 8], isTransposed = true, CGALayout = []}>
// CHECK: #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 4], isTransposed = true, elementBitWidth = 64}>
#double = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 4], isTransposed = true, elementBitWidth = 64}>
// CHECK: #ttg.amd_mfma<{version = 2, warpsPerCTA = [2, 2], instrShape = [32, 32], isTransposed = false}>
#short = #ttg.amd_mfma<{version = 2, warpsPerCTA = [2, 2], instrShape = [32, 32], isTransposed = false}>
tt.func @mfma(%a: tensor<128x64xf32, #mma>, %b: tensor<256x64xf32, #tiles>, %c: tensor<64x16xf64, #double>, %d: tensor<64x64xf32, #short>) {
  tt.return
}

// -----

// CHECK: #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = {{\[\[}}0, 1], [1, 0]]}}>
#wmma = #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = [[0, 1], [1, 0]]}}>
// CHECK: #ttg.amd_wmma<{version = 1, isTranspose = false, ctaLayout = {register = {{\[\[}}1, 0]], warp = {{\[\[}}0, 1], [2, 0]]}}>
#tiles = #ttg.amd_wmma<{version = 1, isTranspose = false, ctaLayout = {register = [[1, 0]], warp = [[0, 1], [2, 0]]}}>
// CHECK: #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {}}>
#one = #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {}, instrShape = [16, 16, 16]}>
tt.func @wmma(%a: tensor<64x64xf32, #wmma>, %b: tensor<64x64xf32, #tiles>, %c: tensor<16x16xf32, #one>) {
  tt.return
}

// -----

/// The older spelling: the last dimension of the waves runs fastest.
// CHECK: #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = {{\[\[}}0, 1], [1, 0], [2, 0]]}}>
#wmma = #ttg.amd_wmma<{version = 2, isTranspose = true, warpsPerCTA = [4, 2]}>
tt.func @warps(%a: tensor<64x64xf32, #wmma>) {
  tt.return
}
