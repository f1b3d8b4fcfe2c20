// RUN: nereid-opt %s --tt-lift-control-flow | FileCheck %s
// Basic blocks and branches become scf; unreachable code is erased.

// CHECK-LABEL: tt.func public @early_return
// CHECK: scf.if
// CHECK: tt.store
// CHECK: tt.return
// CHECK-NOT: ^bb
tt.func public @early_return(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %done = arith.cmpi sge, %n, %c0 : i32
  cf.cond_br %done, ^bb1, ^bb2
^bb1:
  tt.return
^bb2:
  cf.br ^bb4
^bb3:  // no branch leads here
  cf.br ^bb4
^bb4:
  tt.store %p, %n : !tt.ptr<i32>
  tt.return
}

// CHECK-LABEL: tt.func private @three_values
// CHECK: %[[R:.*]] = scf.if
// CHECK: tt.return %{{.*}} : i32
tt.func private @three_values(%x: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %positive = arith.cmpi sgt, %x, %c0 : i32
  cf.cond_br %positive, ^bb2(%c1 : i32), ^bb1
^bb1:
  %negative = arith.cmpi slt, %x, %c0 : i32
  cf.cond_br %negative, ^bb2(%c2 : i32), ^bb2(%c0 : i32)
^bb2(%r: i32):
  tt.return %r : i32
}

// CHECK-LABEL: tt.func public @loop
// CHECK: scf.while
// CHECK: scf.condition
tt.func public @loop(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  cf.br ^head(%c0 : i32)
^head(%i: i32):
  %more = arith.cmpi slt, %i, %n : i32
  cf.cond_br %more, ^body, ^end
^body:
  tt.store %p, %i : !tt.ptr<i32>
  %next = arith.addi %i, %c1 : i32
  cf.br ^head(%next : i32)
^end:
  tt.return
}

// CHECK-LABEL: tt.func public @endless
// CHECK: scf.while
// CHECK: tt.return
tt.func public @endless(%p: !tt.ptr<i32>, %n: i32) {
  cf.br ^bb1
^bb1:
  tt.store %p, %n : !tt.ptr<i32>
  cf.br ^bb1
}

// CHECK-LABEL: tt.func public @scalar_function
// CHECK: "tt.map_elementwise"
// CHECK-NEXT: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32):
// CHECK: %[[R:.*]] = scf.if
// CHECK-NOT: ^bb
// CHECK: tt.map_elementwise.return %[[R]] : i32
tt.func public @scalar_function(%p: tensor<8x!tt.ptr<i32>>, %x: tensor<8xi32>) {
  %r = "tt.map_elementwise"(%x, %x) <{pack = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %more = arith.cmpi sgt, %a, %b : i32
    cf.cond_br %more, ^bb1, ^bb2(%b : i32)
  ^bb1:
    %d = arith.subi %a, %b : i32
    cf.br ^bb2(%d : i32)
  ^bb2(%m: i32):
    tt.map_elementwise.return %m : i32
  }) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  tt.store %p, %r : tensor<8x!tt.ptr<i32>>
  tt.return
}
