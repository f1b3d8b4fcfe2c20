// RUN: nereid-opt %s --split-input-file --verify-diagnostics
// Violations of the rules of `ttng` and of the layouts of its operands.

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @no_matrix_result(%a: !ttg.memdesc<64x16xf16, #rows, #smem>, %b: !ttg.memdesc<16x16xf16, #rows, #smem>, %c: tensor<64x16xf32, #blocked>) {
  // C1
  // expected-error @+1 {{the result has no encoding of matrix instructions of version 3}}
  %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x16xf16, #rows, #smem> * !ttg.memdesc<16x16xf16, #rows, #smem> -> tensor<64x16xf32, #blocked>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @shapes(%a: !ttg.memdesc<64x16xf16, #rows, #smem>, %b: !ttg.memdesc<32x16xf16, #rows, #smem>, %c: tensor<64x16xf32, #mma>) {
  // C2
  // expected-error @+1 {{shapes do not fit}}
  %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x16xf16, #rows, #smem> * !ttg.memdesc<32x16xf16, #rows, #smem> -> tensor<64x16xf32, #mma>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @elements(%a: !ttg.memdesc<64x16xf16, #rows, #smem>, %b: !ttg.memdesc<16x16xbf16, #rows, #smem>, %c: tensor<64x16xf32, #mma>) {
  // C3
  // expected-error @+1 {{there is no instruction for 'f16' * 'bf16' -> 'f32'}}
  %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x16xf16, #rows, #smem> * !ttg.memdesc<16x16xbf16, #rows, #smem> -> tensor<64x16xf32, #mma>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 32]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 8}>
#smem = #ttg.shared_memory
tt.func @bytes_along_n(%a: !ttg.memdesc<64x32xi8, #rows, #smem>, %b: !ttg.memdesc<32x32xi8, #rows, #smem>, %c: tensor<64x32xi32, #mma>) {
  // C4
  // expected-error @+1 {{rows of `b` run along N, but elements of 8 bits are read along K}}
  %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x32xi8, #rows, #smem> * !ttg.memdesc<32x32xi8, #rows, #smem> -> tensor<64x32xi32, #mma>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#swizzled = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
tt.func @no_matrix_buffer(%a: !ttg.memdesc<64x16xf16, #swizzled, #smem>, %b: !ttg.memdesc<16x16xf16, #rows, #smem>, %c: tensor<64x16xf32, #mma>) {
  // C4
  // expected-error @+1 {{`a` has no encoding of a matrix in shared memory}}
  %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x16xf16, #swizzled, #smem> * !ttg.memdesc<16x16xf16, #rows, #smem> -> tensor<64x16xf32, #mma>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @tile_of_another_layout(%a: tensor<64x16xf16, #mma>, %b: !ttg.memdesc<16x16xf16, #rows, #smem>, %c: tensor<64x16xf32, #mma>) {
  // C5
  // expected-error @+1 {{`a` is no operand of the result}}
  %d = ttng.warp_group_dot %a, %b, %c : tensor<64x16xf16, #mma> * !ttg.memdesc<16x16xf16, #rows, #smem> -> tensor<64x16xf32, #mma>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 16, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @too_few_rows(%a: !ttg.memdesc<64x16xf16, #rows, #smem>, %b: !ttg.memdesc<16x16xf16, #rows, #smem>, %c: tensor<64x16xf32, #mma>) {
  // C6
  // expected-error @+1 {{the result is [64, 16], but the warps multiply [128, 16] at a time}}
  %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x16xf16, #rows, #smem> * !ttg.memdesc<16x16xf16, #rows, #smem> -> tensor<64x16xf32, #mma>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 8]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @depth(%a: !ttg.memdesc<64x16xf16, #rows, #smem>, %b: !ttg.memdesc<16x16xf16, #rows, #smem>, %c: tensor<64x16xf32, #mma>) {
  // C6
  // expected-error @+1 {{K is 16 and instrShape's depth 8; the instruction takes 16 at a time}}
  %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x16xf16, #rows, #smem> * !ttg.memdesc<16x16xf16, #rows, #smem> -> tensor<64x16xf32, #mma>
  tt.return
}

// -----

tt.func @wait_for_nothing() {
  // C1
  // expected-error @+1 {{waits for nothing}}
  "ttng.warp_group_dot_wait"() {pendings = 0 : i32} : () -> ()
  tt.return
}

// -----

#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func @trans_of_another_layout(%a: !ttg.memdesc<64x16xf16, #rows, #smem>) {
  // C2
  // expected-error @+1 {{the encoding of the result puts elements elsewhere}}
  %t = ttg.memdesc_trans %a {order = array<i32: 1, 0>} : !ttg.memdesc<64x16xf16, #rows, #smem> -> !ttg.memdesc<16x64xf16, #rows, #smem>
  tt.return
}

// -----

// expected-error @+1 {{swizzlingByteWidth is 48; it is 0, 32, 64 or 128}}
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 48, transposed = false, elementBitWidth = 16}>

// -----

#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
// expected-error @+1 {{dimension 1 of the buffer has 64 bytes; a panel has 128}}
tt.func @short_rows(%a: !ttg.memdesc<64x32xf16, #rows, #smem>) {
  tt.return
}

// -----

// expected-error @+1 {{instrShape of version 3 is [16, N, K]}}
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>

// -----

// expected-error @+1 {{warpsPerCTA of version 3 has two dimensions, and warps in groups of 4}}
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [2, 1], instrShape = [16, 8, 16]}>

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8, 16]}>
// expected-error @+1 {{operand 1 of wgmma is in shared memory}}
#right = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
