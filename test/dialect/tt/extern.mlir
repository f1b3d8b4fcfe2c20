// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// RUN: nereid-opt %s -canonicalize -cse | FileCheck %s --check-prefix FOLD
// Functions of other libraries, and inline assembly.

// CHECK-LABEL: tt.func public @extern
// FOLD-LABEL: tt.func public @extern
tt.func public @extern(%x: tensor<8xf32>, %i: tensor<8xi8>, %p: tensor<8x!tt.ptr<f32>>) {
  // CHECK: tt.extern_elementwise %{{.*}} {libname = "", libpath = "", pure = true, symbol = "__nv_sinf"} : (tensor<8xf32>) -> tensor<8xf32>
  %a = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_sinf"} : (tensor<8xf32>) -> tensor<8xf32>
  %again = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_sinf"} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: tt.elementwise_inline_asm "nop" {constraints = "=r,r", packed_element = 4 : i32, pure = true} %{{.*}} : tensor<8xi8> -> tensor<8xi8>
  %b = tt.elementwise_inline_asm "nop" {constraints = "=r,r", packed_element = 4 : i32, pure = true} %i : tensor<8xi8> -> tensor<8xi8>
  // CHECK: tt.elementwise_inline_asm "rdtsc" {constraints = "={ax},={dx}", packed_element = 1 : i32, pure = false} -> i32, i32
  %c:2 = tt.elementwise_inline_asm "rdtsc" {constraints = "={ax},={dx}", packed_element = 1 : i32, pure = false} -> i32, i32
  // An unused pure op is erased, an op that is not pure is kept.
  // FOLD: "__nv_sinf"
  // FOLD-NOT: "__nv_sinf"
  // FOLD-NOT: "nop"
  // FOLD: "rdtsc"
  tt.store %p, %a : tensor<8x!tt.ptr<f32>>
  tt.store %p, %again : tensor<8x!tt.ptr<f32>>
  tt.return
}
