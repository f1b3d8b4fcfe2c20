// RUN: nereid-opt %s --tt-pad-tiles --split-input-file --verify-diagnostics | FileCheck %s
// RUN: nereid-opt %s --tt-pad-tiles --split-input-file --verify-diagnostics | nereid-opt --split-input-file | FileCheck %s
// Extents become powers of two; ops that would observe padding elements are masked.

// CHECK-LABEL: tt.func public @accesses
// CHECK-SAME: (%[[P:[^:]+]]: tensor<128x!tt.ptr<f32>>, %[[M:[^:]+]]: tensor<128xi1>)
tt.func public @accesses(%p: tensor<100x!tt.ptr<f32>>, %m: tensor<100xi1>) {
  // CHECK: %[[I:.+]] = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // CHECK: %[[N:.+]] = arith.constant dense<100> : tensor<128xi32>
  // CHECK: %[[EXISTS:.+]] = arith.cmpi slt, %[[I]], %[[N]] : tensor<128xi32>
  // CHECK: %[[BOTH:.+]] = arith.andi %[[M]], %[[EXISTS]] : tensor<128xi1>
  // CHECK: %[[X:.+]] = tt.load %[[P]], %[[BOTH]] : tensor<128x!tt.ptr<f32>>
  %x = tt.load %p, %m : tensor<100x!tt.ptr<f32>>
  // CHECK: %[[BELOW:.+]] = arith.cmpi slt
  // CHECK: tt.store %[[P]], %[[X]], %[[BELOW]] : tensor<128x!tt.ptr<f32>>
  tt.store %p, %x : tensor<100x!tt.ptr<f32>>
  // CHECK: tt.print " x: " {hex = false, isSigned = array<i32: 0>, tt.extents = [array<i64: 100>]} : %[[X]] : tensor<128xf32>
  tt.print " x: " {hex = false, isSigned = array<i32: 0>} : %x : tensor<100xf32>
  tt.return
}

// -----

// A sum pads with -0; a combination without a neutral element carries a flag. Elementwise ops only change their types.
// CHECK-LABEL: tt.func public @reductions
tt.func public @reductions(%x: tensor<4x5xf32>) -> tensor<4xf32> {
  // CHECK: %[[TWICE:.+]] = arith.addf %{{.+}}, %{{.+}} : tensor<4x8xf32>
  %twice = arith.addf %x, %x : tensor<4x5xf32>
  // CHECK: %[[EXISTS:.+]] = tt.broadcast %{{.+}} : tensor<1x8xi1> -> tensor<4x8xi1>
  // CHECK: %[[NEUTRAL:.+]] = arith.constant dense<-0.000000e+00> : tensor<4x8xf32>
  // CHECK: %[[CLEAN:.+]] = arith.select %[[EXISTS]], %[[TWICE]], %[[NEUTRAL]] : tensor<4x8xi1>, tensor<4x8xf32>
  // CHECK: "tt.reduce"(%[[CLEAN]])
  %sum = "tt.reduce"(%twice) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<4x5xf32>) -> tensor<4xf32>
  // CHECK: %[[R:.+]]:2 = "tt.reduce"(%[[TWICE]], %{{.+}})
  // CHECK-NEXT: ^bb0(%[[A:[^:]+]]: f32, %[[FA:[^:]+]]: i32, %[[B:[^:]+]]: f32, %[[FB:[^:]+]]: i32):
  // CHECK: arith.subf %[[A]], %[[B]]
  // CHECK: arith.ori %[[FA]], %[[FB]] : i32
  // CHECK: (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  %other = "tt.reduce"(%twice) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    %d = arith.mulf %c, %c : f32
    tt.reduce.return %d : f32
  }) : (tensor<4x5xf32>) -> tensor<4xf32>
  %all = arith.addf %sum, %other : tensor<4xf32>
  tt.return %all : tensor<4xf32>
}

// -----

// CHECK-LABEL: tt.func public @reshapes
tt.func public @reshapes(%x: tensor<3x8xi32>) -> (tensor<6x4xi32>, tensor<8x3xi32>) {
  // CHECK: tt.reshape %{{.+}} : tensor<4x8xi32> -> tensor<8x4xi32>
  %same = tt.reshape %x : tensor<3x8xi32> -> tensor<6x4xi32>
  // CHECK: tt.gather %{{.+}}[%{{.+}}] {axis = 0 : i32} : (tensor<32xi32>, tensor<32xi32>) -> tensor<32xi32>
  %moved = tt.reshape %x : tensor<3x8xi32> -> tensor<8x3xi32>
  tt.return %same, %moved : tensor<6x4xi32>, tensor<8x3xi32>
}

// -----

// CHECK-LABEL: tt.func public @nothing_to_do
// CHECK-NOT: make_range
// CHECK: tt.load %{{.+}} : tensor<4x!tt.ptr<f32>>
tt.func public @nothing_to_do(%p: tensor<4x!tt.ptr<f32>>) -> tensor<4xf32> {
  %x = tt.load %p : tensor<4x!tt.ptr<f32>>
  tt.return %x : tensor<4xf32>
}

// -----

tt.func public @effects(%x: tensor<5xi32>) -> i32 {
  // expected-error @+1 {{a function with effects is applied to a tile whose extents are no powers of two}}
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    tt.print " a: " {hex = false, isSigned = array<i32: 1>} : %a : i32
    %c = arith.addi %a, %b : i32
    tt.reduce.return %c : i32
  }) : (tensor<5xi32>) -> i32
  tt.return %r : i32
}

// -----

tt.func public @constants() -> tensor<3xi32> {
  // expected-error @+1 {{a tile of different constants is not supported on this target}}
  %c = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  tt.return %c : tensor<3xi32>
}
