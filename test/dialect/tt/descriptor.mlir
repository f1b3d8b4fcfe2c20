// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Tensor descriptors: their type in both spellings, and every access.

// CHECK-LABEL: tt.func public @descriptors
// CHECK-SAME: !tt.tensordesc<1x64xui8>
tt.func public @descriptors(%p: !tt.ptr<f16>, %m: i32, %n: i32, %s: i64, %one: i64, %rows: !tt.tensordesc<1x64xui8>,
                            %at: tensor<8xi32>, %w: !tt.tensordesc<tensor<16x32xsi32>>) {
  // CHECK: %[[D:.+]] = tt.make_tensor_descriptor %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] : <f16>, <16x32xf16>
  %d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] : <f16>, <16x32xf16>
  // CHECK: tt.make_tensor_descriptor {{.*}} {padding = 2 : i32} : <f16>, <16x32xf16>
  %e = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] {padding = 2 : i32} : !tt.ptr<f16>, !tt.tensordesc<tensor<16x32xf16>>
  // CHECK: tt.descriptor_load %[[D]][%{{.*}}, %{{.*}}] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
  %x = tt.descriptor_load %d[%m, %n] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
  // CHECK: tt.descriptor_load {{.*}} cacheModifier = ca evictionPolicy = evict_first : !tt.tensordesc<16x32xf16>
  %y = tt.descriptor_load %d[%m, %n] cacheModifier = ca evictionPolicy = evict_first : !tt.tensordesc<tensor<16x32xf16>> -> tensor<16x32xf16>
  // CHECK: tt.descriptor_store %[[D]][%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<16x32xf16>, tensor<16x32xf16>
  tt.descriptor_store %d[%m, %n], %x : !tt.tensordesc<16x32xf16>, tensor<16x32xf16>
  // CHECK: tt.descriptor_reduce add, %[[D]][%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<16x32xf16>, tensor<16x32xf16>
  tt.descriptor_reduce add, %d[%m, %n], %x : !tt.tensordesc<16x32xf16>, tensor<16x32xf16>
  // CHECK: tt.descriptor_load %{{.*}}[%{{.*}}, %{{.*}}] : !tt.tensordesc<16x32xsi32> -> tensor<16x32xi32>
  %z = tt.descriptor_load %w[%m, %n] : !tt.tensordesc<16x32xsi32> -> tensor<16x32xi32>
  // CHECK: tt.descriptor_reduce xor, {{.*}} : !tt.tensordesc<16x32xsi32>, tensor<16x32xi32>
  tt.descriptor_reduce xor, %w[%m, %n], %z : !tt.tensordesc<16x32xsi32>, tensor<16x32xi32>
  // CHECK: %[[G:.+]] = tt.descriptor_gather %{{.*}}[%{{.*}}, %{{.*}}] : (!tt.tensordesc<1x64xui8>, tensor<8xi32>, i32) -> tensor<8x64xi8>
  %g = tt.descriptor_gather %rows[%at, %n] : (!tt.tensordesc<1x64xui8>, tensor<8xi32>, i32) -> tensor<8x64xi8>
  // CHECK: tt.descriptor_scatter %{{.*}}[%{{.*}}, %{{.*}}], %[[G]] : !tt.tensordesc<1x64xui8>, tensor<8xi32>, i32, tensor<8x64xi8>
  tt.descriptor_scatter %rows[%at, %n], %g : !tt.tensordesc<1x64xui8>, tensor<8xi32>, i32, tensor<8x64xi8>
  tt.return
}
