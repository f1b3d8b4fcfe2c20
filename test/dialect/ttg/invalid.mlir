// RUN: nereid-opt %s --split-input-file --verify-diagnostics
// What the rules of `ttg` refuse.

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @no_encoding(%x: tensor<128xf32>) {
  // expected-error @+1 {{has no encoding}}
  %y = ttg.convert_layout %x : tensor<128xf32> -> tensor<128xf32, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @constant_buffer(%x: tensor<128xf32, #blocked>) {
  %b = ttg.local_alloc %x : (tensor<128xf32, #blocked>) -> !ttg.memdesc<128xf32, #shared, #smem>
  // expected-error @+1 {{writes to a buffer that is not mutable}}
  ttg.local_store %x, %b : tensor<128xf32, #blocked> -> !ttg.memdesc<128xf32, #shared, #smem>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @empty_constant_buffer() {
  // expected-error @+1 {{a buffer that is given no tile must be mutable}}
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #shared, #smem>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @other_shape(%b: !ttg.memdesc<128xf32, #shared, #smem>) {
  // expected-error @+1 {{differs from buffer}}
  %y = ttg.local_load %b : !ttg.memdesc<128xf32, #shared, #smem> -> tensor<64xf32, #blocked>
  tt.return
}
