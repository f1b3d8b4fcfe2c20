// Decoded values are multiplied by their scales in f32, or in bf16 or f16 where tensor cores support them.
// RUN: nereid-opt %s --tt-decompose-scaled-dots | FileCheck %s --check-prefixes=CHECK,SINGLE
// RUN: nereid-opt %s --tt-decompose-scaled-dots=halves=true | FileCheck %s --check-prefixes=CHECK,HALF

// CHECK-LABEL: @scaled_bytes
tt.func public @scaled_bytes(%a: tensor<16x64xf8E4M3FN>, %s: tensor<16x2xi8>, %b: tensor<64x16xbf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // SINGLE: tt.dot %{{.*}} : tensor<16x64xf32> * tensor<64x16xf32> -> tensor<16x16xf32>
  // HALF-NOT: tt.fp_to_fp {{.*}}-> tensor<16x64xf32>
  // HALF: arith.mulf %{{.*}} : tensor<16x64xbf16>
  // HALF: tt.dot %{{.*}}, %arg2, %{{.*}} : tensor<16x64xbf16> * tensor<64x16xbf16> -> tensor<16x16xf32>
  %d = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = bf16 {fastMath = false} : tensor<16x64xf8E4M3FN>, tensor<16x2xi8> * tensor<64x16xbf16> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// CHECK-LABEL: @an_operand_of_f16
tt.func public @an_operand_of_f16(%a: tensor<16x32xi8>, %s: tensor<16x2xi8>, %b: tensor<64x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // SINGLE: tt.dot %{{.*}} : tensor<16x64xf32> * tensor<64x16xf32> -> tensor<16x16xf32>
  // HALF: tt.dot %{{.*}}, %arg2, %{{.*}} : tensor<16x64xf16> * tensor<64x16xf16> -> tensor<16x16xf32>
  %d = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = fp16 {fastMath = true} : tensor<16x32xi8>, tensor<16x2xi8> * tensor<64x16xf16> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}
