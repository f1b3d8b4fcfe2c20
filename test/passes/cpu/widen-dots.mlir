// Operands of dots are converted to types that the CPU multiplies.
// RUN: nereid-opt %s --cpu-widen-dots | FileCheck %s --check-prefixes=CHECK,FMA
// RUN: nereid-opt %s --cpu-widen-dots=amx-bf16=true | FileCheck %s --check-prefixes=CHECK,AMX
// RUN: nereid-opt %s --cpu-widen-dots="avx512-bf16=true vnni=true" | FileCheck %s --check-prefixes=CHECK,PAIRS
// RUN: nereid-opt %s --cpu-widen-dots=register-bits=128 | FileCheck %s --check-prefix=NARROW

// CHECK-LABEL: @halves
// CHECK: tt.dot %{{.+}} : tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>
tt.func public @halves(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// CHECK-LABEL: @bf16
// FMA: tt.dot %{{.+}} : tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>
// PAIRS: tt.dot %arg0, %arg1, %arg2 : tensor<16x32xbf16> * tensor<32x16xbf16> -> tensor<16x16xf32>
// AMX: tt.dot %arg0, %arg1, %arg2 : tensor<16x32xbf16> * tensor<32x16xbf16> -> tensor<16x16xf32>
tt.func public @bf16(%a: tensor<16x32xbf16>, %b: tensor<32x16xbf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = tt.dot %a, %b, %c : tensor<16x32xbf16> * tensor<32x16xbf16> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// CHECK-LABEL: @bytes
// FMA: tt.dot %{{.+}} : tensor<16x32xi16> * tensor<32x16xi16> -> tensor<16x16xi32>
// PAIRS: tt.dot %arg0, %arg1, %arg2 : tensor<16x32xi8> * tensor<32x16xi8> -> tensor<16x16xi32>
// NARROW-LABEL: @bytes
// NARROW: tt.dot %{{.+}} : tensor<16x32xi32> * tensor<32x16xi32> -> tensor<16x16xi32>
tt.func public @bytes(%a: tensor<16x32xi8>, %b: tensor<32x16xi8>, %c: tensor<16x16xi32>) -> tensor<16x16xi32> {
  %d = tt.dot %a, %b, %c : tensor<16x32xi8> * tensor<32x16xi8> -> tensor<16x16xi32>
  tt.return %d : tensor<16x16xi32>
}

// Four columns of one row, three products for each: no group.
// CHECK-LABEL: @odd
// CHECK: tt.dot %{{.+}} : tensor<1x3xf32> * tensor<3x4xf32> -> tensor<1x4xf32>
tt.func public @odd(%a: tensor<1x3xbf16>, %b: tensor<3x4xbf16>, %c: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %d = tt.dot %a, %b, %c : tensor<1x3xbf16> * tensor<3x4xbf16> -> tensor<1x4xf32>
  tt.return %d : tensor<1x4xf32>
}
