// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Round trips of the ops by which the CTAs of a cluster share the work of a program.

// CHECK-LABEL: tt.func @shared_work
tt.func @shared_work(%x: tensor<1x64xf32>, %y: tensor<1x64xi32>, %s: f32) {
  // CHECK: ttng.cluster_rank : i32
  %rank = ttng.cluster_rank : i32
  // CHECK: ttng.cluster_barrier
  ttng.cluster_barrier
  // CHECK: %{{.*}}:2 = ttng.cluster_gather %{{.*}}, %{{.*}} {dim = 0 : i32} : (tensor<1x64xf32>, tensor<1x64xi32>) -> (tensor<4x64xf32>, tensor<4x64xi32>)
  %a:2 = ttng.cluster_gather %x, %y {dim = 0 : i32} : (tensor<1x64xf32>, tensor<1x64xi32>) -> (tensor<4x64xf32>, tensor<4x64xi32>)
  // CHECK: ttng.cluster_gather %{{.*}} {dim = 1 : i32} : (tensor<1x64xf32>) -> tensor<1x128xf32>
  %b = ttng.cluster_gather %x {dim = 1 : i32} : (tensor<1x64xf32>) -> tensor<1x128xf32>
  // CHECK: ttng.cluster_broadcast %{{.*}} : f32
  %c = ttng.cluster_broadcast %s : f32
  // CHECK: ttng.cluster_broadcast %{{.*}} {open} : tensor<1x64xi32>
  %d = ttng.cluster_broadcast %y {open} : tensor<1x64xi32>
  // CHECK: ttng.cluster_gather %{{.*}} {arrives, dim = 0 : i32}
  %e = ttng.cluster_gather %x {arrives, dim = 0 : i32} : (tensor<1x64xf32>) -> tensor<4x64xf32>
  // CHECK: ttng.cluster_wait
  ttng.cluster_wait
  tt.return
}
