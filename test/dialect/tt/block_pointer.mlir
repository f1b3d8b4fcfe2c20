// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Block pointers, as earlier versions of Triton print them.

// CHECK-LABEL: tt.func public @copy
tt.func public @copy(%p: !tt.ptr<f32>, %n: i64, %i: i32) {
  %one = arith.constant 1 : i64
  // CHECK: %[[A:.*]] = tt.make_tensor_ptr %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] {order = array<i32: 1, 0>} : <tensor<4x8xf32>>
  %a = tt.make_tensor_ptr %p, [%n, %n], [%n, %one], [%i, %i] {order = array<i32: 1, 0>} : <tensor<4x8xf32>>
  // CHECK: tt.advance %[[A]], [%{{.*}}, %{{.*}}] : <tensor<4x8xf32>>
  %b = tt.advance %a, [%i, %i] : <tensor<4x8xf32>>
  // CHECK: tt.load %{{.*}} {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<4x8xf32>>
  %x = tt.load %b {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<4x8xf32>>
  // CHECK: tt.store %{{.*}}, %{{.*}} {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<4x8xf32>>
  tt.store %a, %x {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<4x8xf32>>
  tt.return
}
