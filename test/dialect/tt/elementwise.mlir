// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Elementwise ops, on scalars and on tiles.

// CHECK-LABEL: tt.func public @elementwise
tt.func public @elementwise(%x: tensor<8xf32>, %i: i64, %p: !tt.ptr<f16>, %u: i32) {
  // CHECK: tt.int_to_ptr %{{.*}} : i64 -> !tt.ptr<f32>
  %a = tt.int_to_ptr %i : i64 -> !tt.ptr<f32>
  // CHECK: tt.ptr_to_int %{{.*}} : !tt.ptr<f16> -> i64
  %b = tt.ptr_to_int %p : !tt.ptr<f16> -> i64
  // CHECK: tt.bitcast %{{.*}} : tensor<8xf32> -> tensor<8xi32>
  %c = tt.bitcast %x : tensor<8xf32> -> tensor<8xi32>
  // CHECK: tt.fp_to_fp %{{.*}}, rounding = rtz : tensor<8xf32> -> tensor<8xf16>
  %d = tt.fp_to_fp %x, rounding = rtz : tensor<8xf32> -> tensor<8xf16>
  // CHECK: tt.fp_to_fp %{{.*}} : tensor<8xf16> -> tensor<8xf32>
  %e = tt.fp_to_fp %d : tensor<8xf16> -> tensor<8xf32>
  // CHECK: tt.fp_to_fp %{{.*}}, rounding = rtne : tensor<8xf32> -> tensor<8xf8E4M3FN>
  %e8 = tt.fp_to_fp %x, rounding = rtne : tensor<8xf32> -> tensor<8xf8E4M3FN>
  // CHECK: tt.fp_to_fp %{{.*}} : tensor<8xf8E4M3FN> -> tensor<8xf16>
  %e16 = tt.fp_to_fp %e8 : tensor<8xf8E4M3FN> -> tensor<8xf16>
  // CHECK: tt.clampf %{{.*}}, %{{.*}}, %{{.*}}, propagateNan = all : tensor<8xf32>
  %f = tt.clampf %x, %e, %x, propagateNan = all : tensor<8xf32>
  // CHECK: tt.precise_sqrt %{{.*}} : tensor<8xf32>
  %g = tt.precise_sqrt %f : tensor<8xf32>
  // CHECK: tt.precise_divf %{{.*}}, %{{.*}} : tensor<8xf32>
  %h = tt.precise_divf %g, %x : tensor<8xf32>
  // CHECK: tt.mulhiui %{{.*}}, %{{.*}} : i32
  %k = tt.mulhiui %u, %u : i32
  tt.return
}
