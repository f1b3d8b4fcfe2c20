// Layouts that the author of a kernel left open are found from those that are known.
// SPDX-License-Identifier: MIT
// RUN: nereid-opt %s --split-input-file --gluon-resolve-layouts --canonicalize | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Backwards from a setter, through an addition and a constant.
  // CHECK-LABEL: @from_a_setter
  // CHECK: arith.constant dense<3> : tensor<64xi32, #blocked>
  // CHECK: tt.make_range {{.*}} : tensor<64xi32, #blocked>
  // CHECK: arith.addi {{.*}} : tensor<64xi32, #blocked>
  // CHECK-NOT: gluon
  tt.func public @from_a_setter(%out: tensor<64x!tt.ptr<i32>, #blocked>) {
    %three = arith.constant dense<3> : tensor<64xi32, #gluon.auto_encoding>
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #gluon.auto_encoding>
    %sum = arith.addi %three, %range : tensor<64xi32, #gluon.auto_encoding>
    %known = gluon.set_auto_layout %sum : tensor<64xi32, #gluon.auto_encoding> -> tensor<64xi32, #blocked>
    tt.store %out, %known : tensor<64x!tt.ptr<i32>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // An index of a dimension gets a slice of the tile's layout.
  // CHECK-LABEL: @through_a_new_dimension
  // CHECK: tt.make_range {{.*}} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
  // CHECK: tt.expand_dims {{.*}} -> tensor<16x1xi32, #blocked>
  tt.func public @through_a_new_dimension(%out: tensor<16x32x!tt.ptr<i32>, #blocked>) {
    %range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #gluon.auto_encoding>
    %column = tt.expand_dims %range {axis = 1 : i32} : tensor<16xi32, #gluon.auto_encoding> -> tensor<16x1xi32, #gluon.auto_encoding>
    %tile = tt.broadcast %column : tensor<16x1xi32, #gluon.auto_encoding> -> tensor<16x32xi32, #gluon.auto_encoding>
    %known = gluon.set_auto_layout %tile : tensor<16x32xi32, #gluon.auto_encoding> -> tensor<16x32xi32, #blocked>
    tt.store %out, %known : tensor<16x32x!tt.ptr<i32>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // What a loop carries has one layout.
  // CHECK-LABEL: @through_a_loop
  // CHECK: scf.for {{.*}} -> (tensor<64xi32, #blocked>)
  tt.func public @through_a_loop(%out: tensor<64x!tt.ptr<i32>, #blocked>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %start = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #gluon.auto_encoding>
    %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %start) -> (tensor<64xi32, #gluon.auto_encoding>) : i32 {
      %next = arith.addi %acc, %acc : tensor<64xi32, #gluon.auto_encoding>
      scf.yield %next : tensor<64xi32, #gluon.auto_encoding>
    }
    %known = gluon.set_auto_layout %sum : tensor<64xi32, #gluon.auto_encoding> -> tensor<64xi32, #blocked>
    tt.store %out, %known : tensor<64x!tt.ptr<i32>, #blocked>
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // A coalesced access gets vectors of 16 bytes as far as every thread has work.
  // CHECK: #[[LAYOUT:.*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
  // CHECK-LABEL: @coalesced
  // CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<f32>, #[[LAYOUT]]>
  tt.func public @coalesced(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #gluon.coalesced_encoding>
    %base = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>
    %from = tt.addptr %base, %range : tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>, tensor<1024xi32, #gluon.coalesced_encoding>
    %value = tt.load %from : tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>
    %target = tt.splat %out : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>
    %to = tt.addptr %target, %range : tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>, tensor<1024xi32, #gluon.coalesced_encoding>
    tt.store %to, %value : tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>
    tt.return
  }
}
