// RUN: nereid-opt %s --split-input-file --verify-diagnostics
// Violations of the rules of AMD's accumulators.

// expected-error @+1 {{mfma of version 5 is not known; versions 1 to 4 are}}
#mma = #ttg.amd_mfma<{version = 5, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>

// -----

// expected-error @+1 {{instrShape of mfma is [8, 8, 4]; it is [16, 16, K] or, with elements of 32 bits, [32, 32, K]}}
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [8, 8, 4], isTransposed = true}>

// -----

// expected-error @+1 {{instrShape of mfma is [32, 32, 4]}}
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 4], isTransposed = true, elementBitWidth = 64}>

// -----

// expected-error @+1 {{elementBitWidth is 16; it is 32 or 64}}
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 4], isTransposed = true, elementBitWidth = 16}>

// -----

// expected-error @+1 {{extent 3 of warpsPerCTA is not a power of two}}
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [3, 1], instrShape = [16, 16, 16], isTransposed = true}>

// -----

// expected-error @+1 {{tilesPerWarp has 3 dimensions, warpsPerCTA 2}}
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 16], isTransposed = true, tilesPerWarp = [1, 2, 2]}>

// -----

// expected-error @+1 {{`waves` is not known here; the parts are version, warpsPerCTA}}
#mma = #ttg.amd_mfma<{version = 3, waves = [4, 1], instrShape = [16, 16, 16], isTransposed = true}>

// -----

// expected-error @+1 {{CGALayout splits a tile over a cluster}}
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 16], isTransposed = true, CGALayout = [[1, 0]]}>

// -----

// expected-error @+1 {{wmma of version 3 is not known; versions 1 (gfx11) and 2 (gfx12) are}}
#wmma = #ttg.amd_wmma<{version = 3, isTranspose = true, ctaLayout = {warp = [[0, 1], [1, 0]]}}>

// -----

// expected-error @+1 {{the bases of ctaLayout differ in length}}
#wmma = #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = [[0, 1], [1, 0, 0]]}}>

// -----

// expected-error @+1 {{a warp basis of ctaLayout holds 3, which is not a power of two}}
#wmma = #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = [[0, 3]]}}>

// -----

// expected-error @+1 {{instrShape of wmma is [16, 16, 32]; versions 1 and 2 have [16, 16, 16]}}
#wmma = #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = [[0, 1]]}, instrShape = [16, 16, 32]}>
