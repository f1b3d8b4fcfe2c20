// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Dots, as other producers print them.

// CHECK-LABEL: tt.func public @dot
tt.func public @dot(%a: tensor<16x8xf32>, %b: tensor<8x4xf32>, %c: tensor<16x4xf32>, %p: tensor<2x4x8xf8E4M3FN>,
                    %q: tensor<2x8x1xf8E5M2>, %r: tensor<2x4x1xf16>) {
  // CHECK: tt.dot %{{.+}}, %{{.+}}, %{{.+}}, inputPrecision = tf32 : tensor<16x8xf32> * tensor<8x4xf32> -> tensor<16x4xf32>
  %0 = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<16x8xf32> * tensor<8x4xf32> -> tensor<16x4xf32>
  // CHECK: tt.dot %{{[^,]+}}, %{{[^,]+}}, %{{[^,]+}} : tensor<16x8xf32>
  %1 = tt.dot %a, %b, %0, inputPrecision = ieee : tensor<16x8xf32> * tensor<8x4xf32> -> tensor<16x4xf32>
  // CHECK: inputPrecision = tf32x3 :
  %2 = tt.dot %a, %b, %1, inputPrecision = tf32x3 : tensor<16x8xf32> * tensor<8x4xf32> -> tensor<16x4xf32>
  // CHECK: inputPrecision = bf16x3 :
  %3 = tt.dot %a, %b, %2, inputPrecision = bf16x3 : tensor<16x8xf32> * tensor<8x4xf32> -> tensor<16x4xf32>
  // CHECK: inputPrecision = bf16x6 :
  %4 = tt.dot %a, %b, %3, inputPrecision = bf16x6 : tensor<16x8xf32> * tensor<8x4xf32> -> tensor<16x4xf32>
  // CHECK: {maxNumImpreciseAcc = 8 : i32} : tensor<2x4x8xf8E4M3FN> * tensor<2x8x1xf8E5M2> -> tensor<2x4x1xf16>
  %5 = tt.dot %p, %q, %r {maxNumImpreciseAcc = 8 : i32} : tensor<2x4x8xf8E4M3FN> * tensor<2x8x1xf8E5M2> -> tensor<2x4x1xf16>
  tt.return
}

// CHECK-LABEL: tt.func public @scaled
tt.func public @scaled(%a: tensor<16x64xf8E4M3FN>, %s: tensor<16x2xi8>, %b: tensor<64x8xf8E5M2>, %t: tensor<8x2xi8>,
                       %m: tensor<16x32xi8>, %n: tensor<64x4xi8>, %c: tensor<16x8xf32>) {
  // CHECK: tt.dot_scaled %{{.+}} scale %{{.+}}, %{{.+}} scale %{{.+}}, %{{.+}} lhs = e4m3 rhs = e5m2 {fastMath = false} : tensor<16x64xf8E4M3FN>, tensor<16x2xi8> * tensor<64x8xf8E5M2>, tensor<8x2xi8> -> tensor<16x8xf32>
  %0 = tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e4m3 rhs = e5m2 {fastMath = false} : tensor<16x64xf8E4M3FN>, tensor<16x2xi8> * tensor<64x8xf8E5M2>, tensor<8x2xi8> -> tensor<16x8xf32>
  // CHECK: lhs = e2m1 rhs = e5m2 {fastMath = true} : tensor<16x32xi8>, tensor<16x2xi8> * tensor<64x8xf8E5M2> ->
  %1 = tt.dot_scaled %m scale %s, %b, %0 lhs = e2m1 rhs = e5m2 {fastMath = true} : tensor<16x32xi8>, tensor<16x2xi8> * tensor<64x8xf8E5M2> -> tensor<16x8xf32>
  // CHECK: lhs = e4m3 rhs = e2m1 {fastMath = false, rhs_k_pack = false} : tensor<16x64xf8E4M3FN> * tensor<64x4xi8>, tensor<8x2xi8> ->
  %2 = tt.dot_scaled %a, %n scale %t, %1 lhs = e4m3 rhs = e2m1 {fastMath = false, rhs_k_pack = false} : tensor<16x64xf8E4M3FN> * tensor<64x4xi8>, tensor<8x2xi8> -> tensor<16x8xf32>
  tt.return
}
