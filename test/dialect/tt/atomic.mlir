// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Atomic accesses: kinds, semantics and scopes, with and without a mask.

// CHECK-LABEL: tt.func public @atomics
tt.func public @atomics(%p: !tt.ptr<f32>, %x: f32, %t: i1, %q: tensor<8x!tt.ptr<i32>>, %y: tensor<8xi32>, %m: tensor<8xi1>) {
  // CHECK: tt.atomic_rmw fadd, acq_rel, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<f32>, f32, i1) -> f32
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %x, %t : (!tt.ptr<f32>, f32, i1) -> f32
  // CHECK: tt.atomic_rmw exch, release, sys, %{{.*}}, %{{.*}} : (!tt.ptr<f32>, f32) -> f32
  %1 = tt.atomic_rmw exch, release, sys, %p, %x : (!tt.ptr<f32>, f32) -> f32
  // CHECK: tt.atomic_rmw umin, relaxed, cta, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32>
  %2 = tt.atomic_rmw umin, relaxed, cta, %q, %y, %m : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32>
  // CHECK: tt.atomic_cas acquire, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %3 = tt.atomic_cas acquire, gpu, %q, %y, %2 : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  tt.return
}

// An atomic whose result is unused is kept.
// CHECK-LABEL: tt.func public @unused
tt.func public @unused(%p: !tt.ptr<i32>, %x: i32) {
  // CHECK: tt.atomic_rmw or
  %0 = tt.atomic_rmw or, acq_rel, gpu, %p, %x : (!tt.ptr<i32>, i32) -> i32
  tt.return
}

// CHECK-LABEL: tt.func public @one_sided
tt.func public @one_sided(%p: !tt.ptr<f16>, %t: i1, %q: tensor<8x!tt.ptr<i32>>, %m: tensor<8xi1>) {
  // CHECK: %[[NOW:.+]] = tt.atomic_load acquire, gpu, %{{.*}}, %{{.*}} : (!tt.ptr<f16>, i1) -> f16
  %0 = tt.atomic_load acquire, gpu, %p, %t : (!tt.ptr<f16>, i1) -> f16
  // CHECK: tt.atomic_store release, gpu, %{{.*}}, %[[NOW]], %{{.*}} : !tt.ptr<f16>
  tt.atomic_store release, gpu, %p, %0, %t : !tt.ptr<f16>
  // CHECK: tt.atomic_load relaxed, sys, %{{.*}} : (tensor<8x!tt.ptr<i32>>) -> tensor<8xi32>
  %1 = tt.atomic_load relaxed, sys, %q : (tensor<8x!tt.ptr<i32>>) -> tensor<8xi32>
  // CHECK: tt.atomic_store relaxed, cta, %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<i32>>
  tt.atomic_store relaxed, cta, %q, %1 : tensor<8x!tt.ptr<i32>>
  tt.return
}
