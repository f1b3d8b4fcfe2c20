// A chain of additions becomes one; its location names the last of them, but not all.
// RUN: nereid-opt %s --tt-canonicalize -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: tt.func public @short
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32 loc(fused["b",
tt.func public @short(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %0 = arith.addi %x, %c : i32 loc("a")
  %1 = arith.addi %0, %c : i32 loc("b")
  tt.return %1 : i32
}

// CHECK-LABEL: tt.func public @long
// CHECK: %[[TEN:.*]] = arith.constant 10 : i32
// CHECK-NEXT: arith.addi %{{.*}}, %[[TEN]] : i32 loc(fused["j", "i", "h", "g", "f", "e", "d", "c"])
// CHECK-NEXT: tt.return
tt.func public @long(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %0 = arith.addi %x, %c : i32 loc("a")
  %1 = arith.addi %0, %c : i32 loc("b")
  %2 = arith.addi %1, %c : i32 loc("c")
  %3 = arith.addi %2, %c : i32 loc("d")
  %4 = arith.addi %3, %c : i32 loc("e")
  %5 = arith.addi %4, %c : i32 loc("f")
  %6 = arith.addi %5, %c : i32 loc("g")
  %7 = arith.addi %6, %c : i32 loc("h")
  %8 = arith.addi %7, %c : i32 loc("i")
  %9 = arith.addi %8, %c : i32 loc("j")
  tt.return %9 : i32
}
