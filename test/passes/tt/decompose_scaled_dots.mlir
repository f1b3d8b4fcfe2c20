// Decoded values are multiplied by their scales in f32, or in bf16 or f16 where tensor cores support them.
// RUN: nereid-opt %s --tt-decompose-scaled-dots | FileCheck %s --check-prefixes=CHECK,SINGLE
// RUN: nereid-opt %s --tt-decompose-scaled-dots=halves=true | FileCheck %s --check-prefixes=CHECK,HALF
// RUN: nereid-opt %s --tt-decompose-scaled-dots="halves=true keeps-microscaled=true" | FileCheck %s --check-prefixes=KEEPS

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

// Formats of OCP stay where the target multiplies them, but not with scales of 16 values or in tiles that are padded.
// KEEPS-LABEL: @scaled_bytes
// KEEPS-NOT: tt.dot_scaled
// KEEPS-LABEL: @microscaled
// CHECK-LABEL: @microscaled
tt.func public @microscaled(%a: tensor<16x64xf8E4M3FN>, %s: tensor<16x2xi8>, %b: tensor<32x16xi8>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // CHECK: tt.dot %
  // KEEPS: tt.dot_scaled
  %d = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<16x64xf8E4M3FN>, tensor<16x2xi8> * tensor<32x16xi8> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// KEEPS-LABEL: @scales_of_sixteen
tt.func public @scales_of_sixteen(%a: tensor<16x64xf8E4M3FN>, %s: tensor<16x4xi8>, %b: tensor<32x16xi8>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // KEEPS-NOT: tt.dot_scaled
  %d = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<16x64xf8E4M3FN>, tensor<16x4xi8> * tensor<32x16xi8> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// KEEPS-LABEL: @padded
tt.func public @padded(%a: tensor<24x64xf8E4M3FN>, %b: tensor<32x16xi8>, %c: tensor<24x16xf32>) -> tensor<24x16xf32> {
  // KEEPS-NOT: tt.dot_scaled
  %d = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<24x64xf8E4M3FN> * tensor<32x16xi8> -> tensor<24x16xf32>
  tt.return %d : tensor<24x16xf32>
}
