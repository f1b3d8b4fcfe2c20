// Operands of dots are converted to types that the CPU multiplies.
// RUN: nereid-opt %s --cpu-widen-dots | FileCheck %s --check-prefixes=CHECK,FMA
// RUN: nereid-opt %s --cpu-widen-dots=amx-bf16=true | FileCheck %s --check-prefixes=CHECK,AMX
// RUN: nereid-opt %s --cpu-widen-dots=register-bits=128 | FileCheck %s --check-prefix=NARROW

// CHECK-LABEL: @halves
// CHECK: tt.dot %{{.+}} : tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>
tt.func public @halves(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// CHECK-LABEL: @bf16
// FMA: tt.dot %{{.+}} : tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>
// AMX: tt.dot %arg0, %arg1, %arg2 : tensor<16x32xbf16> * tensor<32x16xbf16> -> tensor<16x16xf32>
tt.func public @bf16(%a: tensor<16x32xbf16>, %b: tensor<32x16xbf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = tt.dot %a, %b, %c : tensor<16x32xbf16> * tensor<32x16xbf16> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// CHECK-LABEL: @bytes
// CHECK: tt.dot %{{.+}} : tensor<16x32xi16> * tensor<32x16xi16> -> tensor<16x16xi32>
// NARROW-LABEL: @bytes
// NARROW: tt.dot %{{.+}} : tensor<16x32xi32> * tensor<32x16xi32> -> tensor<16x16xi32>
tt.func public @bytes(%a: tensor<16x32xi8>, %b: tensor<32x16xi8>, %c: tensor<16x16xi32>) -> tensor<16x16xi32> {
  %d = tt.dot %a, %b, %c : tensor<16x32xi8> * tensor<32x16xi8> -> tensor<16x16xi32>
  tt.return %d : tensor<16x16xi32>
}
