// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-accumulate-in-threads))' | FileCheck %s
// An accumulation in a loop is reduced across threads once, after the loop; in the loop each thread reduces its
// registers.

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#two = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#alone = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {

// CHECK-LABEL: tt.func @rows
// CHECK: %[[START:.*]] = arith.constant dense<-0.000000e+00> : tensor<32x32xf32
// CHECK: %[[LOOP:.*]] = scf.for {{.*}} iter_args(%[[OWN:.*]] = %[[START]])
// CHECK: %[[APART:.*]] = tt.reshape %{{.*}} -> tensor<32x32x4xf32
// CHECK: %[[PART:.*]] = "tt.reduce"(%[[APART]]) <{axis = 2 : i32}>
// CHECK: arith.addf %[[OWN]], %[[PART]] : tensor<32x32xf32
// CHECK: scf.yield
// CHECK: "tt.reduce"(%[[LOOP]]) <{axis = 1 : i32}>
// CHECK: arith.addf
// CHECK-NOT: "tt.reduce"
// CHECK: tt.return
tt.func @rows(%x: tensor<32x128xf32, #rows>, %n: i32) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>) : i32 {
    %y = arith.mulf %x, %x : tensor<32x128xf32, #rows>
    %s = "tt.reduce"(%y) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      tt.reduce.return %t : f32
    }) : (tensor<32x128xf32, #rows>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    %next = arith.addf %acc, %s : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    scf.yield %next : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
  }
  tt.return %r : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
}

// Registers below and above the threads' bits make one reduction; a scalar is accumulated as a tile. A subtraction
// subtracts the whole sum.
// CHECK-LABEL: tt.func @scalar
// CHECK: scf.for
// CHECK: tt.trans
// CHECK: "tt.reduce"
// CHECK-NOT: "tt.reduce"
// CHECK: arith.addi {{.*}} : tensor<128xi32
// CHECK: scf.yield
// CHECK: %[[ALL:.*]] = "tt.reduce"
// CHECK: arith.subi %{{.*}}, %[[ALL]] : i32
tt.func @scalar(%x: tensor<512xi32, #two>, %n: i32, %start: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> (i32) : i32 {
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %t = arith.addi %a, %b : i32
      tt.reduce.return %t : i32
    }) : (tensor<512xi32, #two>) -> i32
    %next = arith.subi %acc, %s : i32
    scf.yield %next : i32
  }
  tt.return %r : i32
}

// Two loops: one reduction after both.
// CHECK-LABEL: tt.func @nested
// CHECK-COUNT-2: scf.for
// CHECK-NOT: "tt.reduce"
// CHECK: arith.maxsi {{.*}} : tensor<128xi32
// CHECK: arith.maxsi {{.*}} : tensor<128xi32
// CHECK: scf.yield
// CHECK-COUNT-1: "tt.reduce"
// CHECK-NOT: "tt.reduce"
// CHECK: tt.return
tt.func @nested(%x: tensor<128xi32, #one>, %n: i32, %start: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%outer = %start) -> (i32) : i32 {
    %q = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %outer) -> (i32) : i32 {
      %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
      ^bb0(%a: i32, %b: i32):
        %t = arith.maxsi %a, %b : i32
        tt.reduce.return %t : i32
      }) : (tensor<128xi32, #one>) -> i32
      %next = arith.maxsi %s, %acc : i32
      scf.yield %next : i32
    }
    scf.yield %q : i32
  }
  tt.return %r : i32
}

// The running sum is used in the loop, the combinations differ, or no thread shares a row: nothing changes.
// CHECK-LABEL: tt.func @kept
// CHECK-COUNT-3: "tt.reduce"
// CHECK: scf.yield
// CHECK-NOT: "tt.reduce"
// CHECK: tt.return
tt.func @kept(%x: tensor<128xi32, #one>, %y: tensor<128x4xi32, #alone>, %p: !tt.ptr<i32>, %n: i32,
              %start: i32, %rows: tensor<128xi32, #ttg.slice<{dim = 1, parent = #alone}>>) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a0 = %start, %a1 = %start, %a2 = %rows) -> (i32, i32, tensor<128xi32, #ttg.slice<{dim = 1, parent = #alone}>>) : i32 {
    tt.store %p, %a0 : !tt.ptr<i32>
    %s0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %t = arith.addi %a, %b : i32
      tt.reduce.return %t : i32
    }) : (tensor<128xi32, #one>) -> i32
    %n0 = arith.addi %a0, %s0 : i32
    %s1 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %t = arith.maxsi %a, %b : i32
      tt.reduce.return %t : i32
    }) : (tensor<128xi32, #one>) -> i32
    %n1 = arith.addi %a1, %s1 : i32
    %s2 = "tt.reduce"(%y) <{axis = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %t = arith.addi %a, %b : i32
      tt.reduce.return %t : i32
    }) : (tensor<128x4xi32, #alone>) -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #alone}>>
    %n2 = arith.addi %a2, %s2 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #alone}>>
    scf.yield %n0, %n1, %n2 : i32, i32, tensor<128xi32, #ttg.slice<{dim = 1, parent = #alone}>>
  }
  tt.return %r#0 : i32
}
}
