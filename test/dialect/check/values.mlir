// RUN: nereid-opt %s --split-input-file --verify-diagnostics | nereid-opt --split-input-file --verify-diagnostics | FileCheck %s
// The sanitizer's op: its text form, and its rules C1 and C2.

// CHECK-LABEL: @round_trip
tt.func @round_trip(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %x: f32, %i: i32) {
  // CHECK: check.values bounds "read"(%{{.+}}, %{{.+}}) {argument = 2 : i32, hasMask} : tensor<8x!tt.ptr<f32>>, tensor<8xi1>
  check.values bounds "read" (%p, %m) {argument = 2 : i32, hasMask} : tensor<8x!tt.ptr<f32>>, tensor<8xi1>
  // CHECK: check.values overflow "+"(%{{.+}}, %{{.+}}) {isUnsigned} : i32, i32
  check.values overflow "+" (%i, %i) {isUnsigned} : i32, i32
  // CHECK: check.values nan "sqrt"(%{{.+}}, %{{.+}}) : f32, f32
  check.values nan "sqrt" (%x, %x) : f32, f32
  tt.return
}

// -----

tt.func @mask_of_another_shape(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<4xi1>) {
  // C1
  // expected-error @below {{has a mask of type 'tensor<4xi1>'; its values have type 'tensor<8x!tt.ptr<f32>>'}}
  check.values bounds "read" (%p, %m) {hasMask} : tensor<8x!tt.ptr<f32>>, tensor<4xi1>
  tt.return
}

// -----

tt.func @values_of_two_shapes(%a: tensor<8xi32>, %b: tensor<4xi32>) {
  // C2
  // expected-error @below {{has values of types 'tensor<8xi32>' and 'tensor<4xi32>'}}
  check.values overflow "*" (%a, %b) : tensor<8xi32>, tensor<4xi32>
  tt.return
}

// -----

tt.func @mask_alone(%m: i1) {
  // C1
  // expected-error @below {{has 1 values; it needs 2}}
  check.values undefined "the value" (%m) {hasMask} : i1
  tt.return
}
