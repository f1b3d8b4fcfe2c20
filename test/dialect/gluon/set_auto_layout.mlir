// Open encodings and the op that sets them are read and printed; the op's rule is verified.
// SPDX-License-Identifier: MIT
// RUN: nereid-opt %s --split-input-file --verify-diagnostics | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK: gluon.set_auto_layout %arg0 : tensor<64xf32, #gluon.auto_encoding> -> tensor<64xf32, #blocked>
tt.func @sets(%x: tensor<64xf32, #gluon.auto_encoding>) -> tensor<64xf32, #blocked> {
  %y = gluon.set_auto_layout %x : tensor<64xf32, #gluon.auto_encoding> -> tensor<64xf32, #blocked>
  tt.return %y : tensor<64xf32, #blocked>
}

// CHECK: tt.expand_dims %arg0 {axis = 0 : i32} : tensor<64xf32, #gluon.coalesced_encoding> -> tensor<1x64xf32, #gluon.coalesced_encoding>
tt.func @stays_open(%x: tensor<64xf32, #gluon.coalesced_encoding>) {
  %y = tt.expand_dims %x {axis = 0 : i32} : tensor<64xf32, #gluon.coalesced_encoding> -> tensor<1x64xf32, #gluon.coalesced_encoding>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @is_known(%x: tensor<64xf32, #blocked>) {
  // C1
  // expected-error @+1 {{has a layout already}}
  %y = gluon.set_auto_layout %x : tensor<64xf32, #blocked> -> tensor<64xf32, #blocked>
  tt.return
}
