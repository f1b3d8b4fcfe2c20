// RUN: nereid-opt %s --split-input-file --verify-diagnostics
// Violations of the rules of `ttg`.

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

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @not_one_of_them(%b: !ttg.memdesc<2x128xf32, #shared, #smem, mutable>, %i: i32) {
  // expected-error @+1 {{is not one of the buffers of}}
  %s = ttg.memdesc_index %b[%i] : !ttg.memdesc<2x128xf32, #shared, #smem, mutable> -> !ttg.memdesc<64xf32, #shared, #smem, mutable>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @copy_to_constant(%p: tensor<128x!tt.ptr<f32>, #blocked>, %b: !ttg.memdesc<128xf32, #shared, #smem>) {
  // expected-error @+1 {{writes to a buffer that is not mutable}}
  %t = ttg.async_copy_global_to_local %p, %b : tensor<128x!tt.ptr<f32>, #blocked> -> !ttg.memdesc<128xf32, #shared, #smem>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @copy_of_other_shape(%p: tensor<128x!tt.ptr<f32>, #blocked>, %b: !ttg.memdesc<64xf32, #shared, #smem, mutable>) {
  // expected-error @+1 {{differs from buffer}}
  %t = ttg.async_copy_global_to_local %p, %b : tensor<128x!tt.ptr<f32>, #blocked> -> !ttg.memdesc<64xf32, #shared, #smem, mutable>
  tt.return
}
