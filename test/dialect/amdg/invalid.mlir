// RUN: nereid-opt %s --split-input-file --verify-diagnostics
// Violations of the rules of `amdg`.

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @copy_of_another_type(%p: !tt.ptr<f16>, %o: tensor<256xi32, #blocked>, %b: !ttg.memdesc<256xf32, #shared, #smem, mutable>) {
  // C1
  // expected-error @+1 {{both need one shape and element type}}
  %0 = amdg.buffer_load_to_local %p[%o] into %b : !tt.ptr<f16>[tensor<256xi32, #blocked>] -> <256xf32, #shared, #smem, mutable>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @copy_with_other_alone(%p: !tt.ptr<f32>, %o: tensor<256xi32, #blocked>, %x: tensor<256xf32, #blocked>, %b: !ttg.memdesc<256xf32, #shared, #smem, mutable>) {
  // C2
  // expected-error @+1 {{has `other`, which stands where a mask is false, but no mask}}
  %0 = amdg.buffer_load_to_local %p[%o] other = %x into %b : !tt.ptr<f32>[tensor<256xi32, #blocked>] tensor<256xf32, #blocked> -> <256xf32, #shared, #smem, mutable>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 64], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @part_beyond_the_end(%x: tensor<128x128xf32, #blocked>) {
  // C1
  // expected-error @+1 {{takes 64 elements from 128 on, of 128 along dimension 0}}
  %0 = amdg.extract_slice %x [128, 0] : tensor<128x128xf32, #blocked> to tensor<64x128xf32, #blocked>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 64], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @part_in_other_threads(%x: tensor<128x128xf32, #blocked>) {
  // C2
  // expected-error @+1 {{threads hold the part elsewhere}}
  %0 = amdg.extract_slice %x [2, 0] : tensor<128x128xf32, #blocked> to tensor<2x128xf32, #blocked>
  tt.return
}

// -----

#bytes = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
tt.func @upcast_to_another_shape(%x: tensor<16x32xi8, #bytes>, %s: tensor<16x32xbf16, #bytes>) {
  // C1
  // expected-error @+1 {{the result has twice the extent along axis 1}}
  %0 = amdg.scaled_upcast_fp4 %x scale %s {axis = 1 : i32} : tensor<16x32xi8, #bytes>, tensor<16x32xbf16, #bytes> -> tensor<16x32xbf16, #bytes>
  tt.return
}

// -----

#bytes = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
tt.func @upcast_to_other_threads(%x: tensor<16x32xi8, #bytes>, %s: tensor<16x64xbf16, #bytes>) {
  // C2
  // expected-error @+1 {{in other threads than their bytes}}
  %0 = amdg.scaled_upcast_fp4 %x scale %s {axis = 1 : i32} : tensor<16x32xi8, #bytes>, tensor<16x64xbf16, #bytes> -> tensor<16x64xbf16, #bytes>
  tt.return
}

// -----

#bytes = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#values = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
tt.func @scales_in_another_layout(%x: tensor<16x32xi8, #bytes>, %s: tensor<16x64xbf16, #bytes>) {
  // C3
  // expected-error @+1 {{they need the shape and layout of the result}}
  %0 = amdg.scaled_upcast_fp4 %x scale %s {axis = 1 : i32} : tensor<16x32xi8, #bytes>, tensor<16x64xbf16, #bytes> -> tensor<16x64xbf16, #values>
  tt.return
}

// -----

#values = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
tt.func @upcast_of_wide_floats(%x: tensor<16x64xf16, #values>, %s: tensor<16x64xbf16, #values>) {
  // expected-error @+1 {{elements are fp8}}
  %0 = amdg.scaled_upcast_fp8 %x scale %s : tensor<16x64xf16, #values>, tensor<16x64xbf16, #values> -> tensor<16x64xbf16, #values>
  tt.return
}

// -----

tt.func @priority_of_four() {
  // C1
  // expected-error @+1 {{priority is 4; it is 0 to 3}}
  amdg.set_priority {priority = 4 : i32}
  tt.return
}

// -----

#values = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#others = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
tt.func @upcast_with_scales_elsewhere(%x: tensor<16x64xf8E4M3FN, #values>, %s: tensor<16x64xbf16, #others>) {
  // C1
  // expected-error @+1 {{they need one shape and layout}}
  %0 = amdg.scaled_upcast_fp8 %x scale %s : tensor<16x64xf8E4M3FN, #values>, tensor<16x64xbf16, #others> -> tensor<16x64xbf16, #values>
  tt.return
}

// -----

#bytes = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
tt.func @unpacked_to_another_shape(%x: tensor<16x32xi8, #bytes>) {
  // C1
  // expected-error @+1 {{the result has twice the extent along axis 1}}
  %0 = amdg.unpack_fp4 %x {axis = 1 : i32} : tensor<16x32xi8, #bytes> -> tensor<16x32xf32, #bytes>
  tt.return
}

// -----

#bytes = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
tt.func @unpacked_to_other_threads(%x: tensor<16x32xi8, #bytes>) {
  // C2
  // expected-error @+1 {{in other threads than their bytes}}
  %0 = amdg.unpack_fp4 %x {axis = 1 : i32} : tensor<16x32xi8, #bytes> -> tensor<16x64xf32, #bytes>
  tt.return
}
