// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// RUN: nereid-opt %s -canonicalize | FileCheck %s --check-prefix FOLD
// Printing and asserting.

// CHECK-LABEL: tt.func public @debug
// FOLD-LABEL: tt.func public @debug
tt.func public @debug(%x: tensor<8xi32>, %c: tensor<8xi1>, %b: i1, %p: !tt.ptr<f32>) {
  // CHECK: tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %{{.*}} : tensor<8xi32>
  tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %x : tensor<8xi32>
  // CHECK: tt.print " both: " {hex = true, isSigned = array<i32: 1, 0>} : %{{.*}}, %{{.*}} : tensor<8xi32>, !tt.ptr<f32>
  tt.print " both: " {hex = true, isSigned = array<i32: 1, 0>} : %x, %p : tensor<8xi32>, !tt.ptr<f32>
  // CHECK: tt.print " here" {hex = false, isSigned = array<i32>}
  tt.print " here" {hex = false, isSigned = array<i32>}
  // CHECK: tt.assert %{{.*}}, "all of them" : tensor<8xi1>
  tt.assert %c, "all of them" : tensor<8xi1>
  // CHECK: tt.assert %{{.*}}, "one" : i1
  tt.assert %b, "one" : i1
  %true = arith.constant true
  // FOLD-NOT: "never fails"
  tt.assert %true, "never fails" : i1
  tt.return
}
