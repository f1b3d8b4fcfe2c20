// RUN: nereid-opt %s --split-input-file --cuda-ttgir=num-warps=8 | FileCheck %s
// Loops of two chained dots get a partition of warps that loads; other kernels keep the pipeline of all warps.

// CHECK-LABEL: tt.func public @chained
// CHECK-DAG: %[[K:.*]] = ttg.local_alloc {{.*}} !ttg.memdesc<3x
// CHECK: ttng.init_barrier {{.*}}, 128 {ofThreads}
// CHECK: ttng.init_barrier {{.*}}, 8 {ofThreads}
// CHECK: ttg.warp_specialize default {
// The first iteration's first dot and its end, before the loop.
// CHECK: scf.if
// CHECK: ttng.wait_barrier
// CHECK: ttng.warp_group_dot {{.*}}isAsync = true
// CHECK: ttng.warp_group_dot_wait {{.*}}pendings = 0
// An iteration begins with the end of its first dot, beside which the second one of the iteration before may run.
// CHECK: scf.while
// CHECK-NOT: tt.load
// CHECK: ttng.warp_group_dot_wait {{.*}}pendings = 1
// CHECK: ttng.arrive_barrier
// CHECK: ttng.wait_barrier
// CHECK: ttng.warp_group_dot_wait {{.*}}pendings = 0
// CHECK: ttng.arrive_barrier {{.*}}, 1, %{{.*}} {byWarp}
// CHECK: arith.truncf
// CHECK: scf.condition
// The next iteration's first dot, then this one's second one.
// CHECK: ttng.wait_barrier
// CHECK: ttng.warp_group_dot {{.*}}isAsync = true
// CHECK: arith.mulf
// CHECK: ttng.warp_group_dot {{.*}}isAsync = true
// CHECK: scf.yield
// The last iteration's second dot.
// CHECK: arith.mulf
// CHECK: ttng.warp_group_dot {{.*}}isAsync = true
// CHECK: ttng.warp_group_dot_wait {{.*}}pendings = 0
// CHECK: ttng.arrive_barrier {{.*}}, 1, %{{.*}} {byWarp}
// CHECK: ttg.warp_yield
// CHECK: partition0 num_warps(4)
// CHECK: scf.for
// CHECK: ttng.wait_barrier
// CHECK: ttg.async_copy_global_to_local
// CHECK: ttng.async_copy_mbarrier_arrive
// CHECK-NOT: tt.store
// CHECK: ttg.warp_return
tt.func public @chained(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %half = arith.constant dense<0.5> : tensor<128x64xf32>
  %pitch = arith.constant dense<64> : tensor<128x1xi32>
  %pitchK = arith.constant dense<64> : tensor<64x1xi32>
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %j = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %row = arith.muli %i1, %pitch : tensor<128x1xi32>
  %rows = tt.broadcast %row : tensor<128x1xi32> -> tensor<128x64xi32>
  %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %columns = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<128x64xi32>
  %at = arith.addi %rows, %columns : tensor<128x64xi32>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %qp = tt.addptr %qs, %at : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
  %x = tt.load %qp : tensor<128x64x!tt.ptr<f16>>
  %columnsK = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %ks = tt.splat %k : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %r = scf.for %start = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %s0 = tt.splat %start : i32 -> tensor<64xi32>
    %key = arith.addi %s0, %j : tensor<64xi32>
    %key1 = tt.expand_dims %key {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %rowK = arith.muli %key1, %pitchK : tensor<64x1xi32>
    %rowsK = tt.broadcast %rowK : tensor<64x1xi32> -> tensor<64x64xi32>
    %atK = arith.addi %rowsK, %columnsK : tensor<64x64xi32>
    %kp = tt.addptr %ks, %atK : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %y = tt.load %kp : tensor<64x64x!tt.ptr<f16>>
    %yt = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %s = tt.dot %x, %yt, %zero : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    %p = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xf16>
    %less = arith.mulf %acc, %half : tensor<128x64xf32>
    %w = tt.load %kp : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %p, %w, %less : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
  tt.store %op, %r : tensor<128x64x!tt.ptr<f32>>
  tt.return
}

// -----

// warp_specialize=False is kept to.
// CHECK-LABEL: tt.func public @forbidden
// CHECK-NOT: ttg.warp_specialize
// CHECK: tt.return
tt.func public @forbidden(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %half = arith.constant dense<0.5> : tensor<128x64xf32>
  %pitch = arith.constant dense<64> : tensor<128x1xi32>
  %pitchK = arith.constant dense<64> : tensor<64x1xi32>
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %j = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %row = arith.muli %i1, %pitch : tensor<128x1xi32>
  %rows = tt.broadcast %row : tensor<128x1xi32> -> tensor<128x64xi32>
  %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %columns = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<128x64xi32>
  %at = arith.addi %rows, %columns : tensor<128x64xi32>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %qp = tt.addptr %qs, %at : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
  %x = tt.load %qp : tensor<128x64x!tt.ptr<f16>>
  %columnsK = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %ks = tt.splat %k : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %r = scf.for %start = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %s0 = tt.splat %start : i32 -> tensor<64xi32>
    %key = arith.addi %s0, %j : tensor<64xi32>
    %key1 = tt.expand_dims %key {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %rowK = arith.muli %key1, %pitchK : tensor<64x1xi32>
    %rowsK = tt.broadcast %rowK : tensor<64x1xi32> -> tensor<64x64xi32>
    %atK = arith.addi %rowsK, %columnsK : tensor<64x64xi32>
    %kp = tt.addptr %ks, %atK : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %y = tt.load %kp : tensor<64x64x!tt.ptr<f16>>
    %yt = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %s = tt.dot %x, %yt, %zero : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    %p = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xf16>
    %less = arith.mulf %acc, %half : tensor<128x64xf32>
    %w = tt.load %kp : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %p, %w, %less : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  } {tt.no_warp_specialize}
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
  tt.store %op, %r : tensor<128x64x!tt.ptr<f32>>
  tt.return
}

// -----

// num_stages=1 is kept to.
// CHECK-LABEL: tt.func public @one_stage
// CHECK-NOT: ttg.warp_specialize
// CHECK: tt.return
tt.func public @one_stage(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %half = arith.constant dense<0.5> : tensor<128x64xf32>
  %pitch = arith.constant dense<64> : tensor<128x1xi32>
  %pitchK = arith.constant dense<64> : tensor<64x1xi32>
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %j = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %row = arith.muli %i1, %pitch : tensor<128x1xi32>
  %rows = tt.broadcast %row : tensor<128x1xi32> -> tensor<128x64xi32>
  %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %columns = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<128x64xi32>
  %at = arith.addi %rows, %columns : tensor<128x64xi32>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %qp = tt.addptr %qs, %at : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
  %x = tt.load %qp : tensor<128x64x!tt.ptr<f16>>
  %columnsK = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %ks = tt.splat %k : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %r = scf.for %start = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %s0 = tt.splat %start : i32 -> tensor<64xi32>
    %key = arith.addi %s0, %j : tensor<64xi32>
    %key1 = tt.expand_dims %key {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %rowK = arith.muli %key1, %pitchK : tensor<64x1xi32>
    %rowsK = tt.broadcast %rowK : tensor<64x1xi32> -> tensor<64x64xi32>
    %atK = arith.addi %rowsK, %columnsK : tensor<64x64xi32>
    %kp = tt.addptr %ks, %atK : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %y = tt.load %kp : tensor<64x64x!tt.ptr<f16>>
    %yt = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %s = tt.dot %x, %yt, %zero : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    %p = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xf16>
    %less = arith.mulf %acc, %half : tensor<128x64xf32>
    %w = tt.load %kp : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %p, %w, %less : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  } {tt.num_stages = 1 : i32}
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
  tt.store %op, %r : tensor<128x64x!tt.ptr<f32>>
  tt.return
}

// -----

// Addresses that are loaded are not computed twice.
// CHECK-LABEL: tt.func public @gathered
// CHECK-NOT: ttg.warp_specialize
// CHECK: tt.return
tt.func public @gathered(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %pages: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %half = arith.constant dense<0.5> : tensor<128x64xf32>
  %pitch = arith.constant dense<64> : tensor<128x1xi32>
  %pitchK = arith.constant dense<64> : tensor<64x1xi32>
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %j = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %row = arith.muli %i1, %pitch : tensor<128x1xi32>
  %rows = tt.broadcast %row : tensor<128x1xi32> -> tensor<128x64xi32>
  %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %columns = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<128x64xi32>
  %at = arith.addi %rows, %columns : tensor<128x64xi32>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %qp = tt.addptr %qs, %at : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
  %x = tt.load %qp : tensor<128x64x!tt.ptr<f16>>
  %columnsK = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %ks = tt.splat %k : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %r = scf.for %start = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %page = tt.addptr %pages, %start : !tt.ptr<i32>, i32
    %first = tt.load %page : !tt.ptr<i32>
    %s0 = tt.splat %first : i32 -> tensor<64xi32>
    %key = arith.addi %s0, %j : tensor<64xi32>
    %key1 = tt.expand_dims %key {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %rowK = arith.muli %key1, %pitchK : tensor<64x1xi32>
    %rowsK = tt.broadcast %rowK : tensor<64x1xi32> -> tensor<64x64xi32>
    %atK = arith.addi %rowsK, %columnsK : tensor<64x64xi32>
    %kp = tt.addptr %ks, %atK : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %y = tt.load %kp : tensor<64x64x!tt.ptr<f16>>
    %yt = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %s = tt.dot %x, %yt, %zero : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    %p = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xf16>
    %less = arith.mulf %acc, %half : tensor<128x64xf32>
    %w = tt.load %kp : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %p, %w, %less : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
  tt.store %op, %r : tensor<128x64x!tt.ptr<f32>>
  tt.return
}

// -----

// A tile that both dots read has no allocation of one dot.
// CHECK-LABEL: tt.func public @shared_tile
// CHECK-NOT: ttg.warp_specialize
// CHECK: tt.return
tt.func public @shared_tile(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %half = arith.constant dense<0.5> : tensor<128x64xf32>
  %pitch = arith.constant dense<64> : tensor<128x1xi32>
  %pitchK = arith.constant dense<64> : tensor<64x1xi32>
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %j = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %row = arith.muli %i1, %pitch : tensor<128x1xi32>
  %rows = tt.broadcast %row : tensor<128x1xi32> -> tensor<128x64xi32>
  %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %columns = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<128x64xi32>
  %at = arith.addi %rows, %columns : tensor<128x64xi32>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %qp = tt.addptr %qs, %at : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
  %x = tt.load %qp : tensor<128x64x!tt.ptr<f16>>
  %columnsK = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %ks = tt.splat %k : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %r = scf.for %start = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %s0 = tt.splat %start : i32 -> tensor<64xi32>
    %key = arith.addi %s0, %j : tensor<64xi32>
    %key1 = tt.expand_dims %key {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %rowK = arith.muli %key1, %pitchK : tensor<64x1xi32>
    %rowsK = tt.broadcast %rowK : tensor<64x1xi32> -> tensor<64x64xi32>
    %atK = arith.addi %rowsK, %columnsK : tensor<64x64xi32>
    %kp = tt.addptr %ks, %atK : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %y = tt.load %kp : tensor<64x64x!tt.ptr<f16>>
    %yt = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %s = tt.dot %x, %yt, %zero : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    %p = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xf16>
    %less = arith.mulf %acc, %half : tensor<128x64xf32>
    %d = tt.dot %p, %y, %less : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
  tt.store %op, %r : tensor<128x64x!tt.ptr<f32>>
  tt.return
}


// -----

// A reduction over warps, in a branch, makes the warp groups wait for each other.
// CHECK-LABEL: tt.func public @meets
// CHECK-NOT: ttg.warp_specialize
// CHECK: tt.return
tt.func public @meets(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %half = arith.constant dense<0.5> : tensor<128x64xf32>
  %pitch = arith.constant dense<64> : tensor<128x1xi32>
  %pitchK = arith.constant dense<64> : tensor<64x1xi32>
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %j = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %row = arith.muli %i1, %pitch : tensor<128x1xi32>
  %rows = tt.broadcast %row : tensor<128x1xi32> -> tensor<128x64xi32>
  %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %columns = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<128x64xi32>
  %at = arith.addi %rows, %columns : tensor<128x64xi32>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %qp = tt.addptr %qs, %at : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
  %x = tt.load %qp : tensor<128x64x!tt.ptr<f16>>
  %columnsK = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %ks = tt.splat %k : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %r = scf.for %start = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %s0 = tt.splat %start : i32 -> tensor<64xi32>
    %key = arith.addi %s0, %j : tensor<64xi32>
    %key1 = tt.expand_dims %key {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %rowK = arith.muli %key1, %pitchK : tensor<64x1xi32>
    %rowsK = tt.broadcast %rowK : tensor<64x1xi32> -> tensor<64x64xi32>
    %atK = arith.addi %rowsK, %columnsK : tensor<64x64xi32>
    %kp = tt.addptr %ks, %atK : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %y = tt.load %kp : tensor<64x64x!tt.ptr<f16>>
    %yt = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %s = tt.dot %x, %yt, %zero : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    %p = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xf16>
    %scaled = arith.mulf %acc, %half : tensor<128x64xf32>
    %later = arith.cmpi sgt, %start, %c64 : i32
    %less = scf.if %later -> (tensor<128x64xf32>) {
      %m1 = "tt.reduce"(%scaled) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %most = arith.maxnumf %a, %b : f32
        tt.reduce.return %most : f32
      }) : (tensor<128x64xf32>) -> tensor<64xf32>
      %m2 = tt.expand_dims %m1 {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
      %m3 = tt.broadcast %m2 : tensor<1x64xf32> -> tensor<128x64xf32>
      %m4 = arith.addf %scaled, %m3 : tensor<128x64xf32>
      scf.yield %m4 : tensor<128x64xf32>
    } else {
      scf.yield %scaled : tensor<128x64xf32>
    }
    %w = tt.load %kp : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %p, %w, %less : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
  tt.store %op, %r : tensor<128x64x!tt.ptr<f32>>
  tt.return
}


// -----

// Alignments that the user assumes hold in the partition as well.
// CHECK-LABEL: tt.func public @assumed
// CHECK: partition0
// CHECK: llvm.intr.assume
// CHECK: ttg.warp_return
tt.func public @assumed(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %pitchOf: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %half = arith.constant dense<0.5> : tensor<128x64xf32>
  %pitch = arith.constant dense<64> : tensor<128x1xi32>
  %c16 = arith.constant 16 : i32
  %rest = arith.remsi %pitchOf, %c16 : i32
  %isAligned = arith.cmpi eq, %rest, %c0 : i32
  llvm.intr.assume %isAligned : i1
  %pitchK = tt.splat %pitchOf : i32 -> tensor<64x1xi32>
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %j = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %row = arith.muli %i1, %pitch : tensor<128x1xi32>
  %rows = tt.broadcast %row : tensor<128x1xi32> -> tensor<128x64xi32>
  %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %columns = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<128x64xi32>
  %at = arith.addi %rows, %columns : tensor<128x64xi32>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %qp = tt.addptr %qs, %at : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
  %x = tt.load %qp : tensor<128x64x!tt.ptr<f16>>
  %columnsK = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %ks = tt.splat %k : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %r = scf.for %start = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %s0 = tt.splat %start : i32 -> tensor<64xi32>
    %key = arith.addi %s0, %j : tensor<64xi32>
    %key1 = tt.expand_dims %key {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %rowK = arith.muli %key1, %pitchK : tensor<64x1xi32>
    %rowsK = tt.broadcast %rowK : tensor<64x1xi32> -> tensor<64x64xi32>
    %atK = arith.addi %rowsK, %columnsK : tensor<64x64xi32>
    %kp = tt.addptr %ks, %atK : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %y = tt.load %kp : tensor<64x64x!tt.ptr<f16>>
    %yt = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %s = tt.dot %x, %yt, %zero : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    %p = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xf16>
    %less = arith.mulf %acc, %half : tensor<128x64xf32>
    %w = tt.load %kp : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %p, %w, %less : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
  tt.store %op, %r : tensor<128x64x!tt.ptr<f32>>
  tt.return
}

// -----

// Large tiles take registers from the warps that load.
// CHECK-LABEL: tt.func public @large
// CHECK: ttg.warp_specialize attributes {actualRegisters = array<i32: 232, 40>} default {
tt.func public @large(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %half = arith.constant dense<0.5> : tensor<128x128xf32>
  %pitch = arith.constant dense<128> : tensor<128x1xi32>
  %pitchK = arith.constant dense<128> : tensor<128x1xi32>
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %j = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %row = arith.muli %i1, %pitch : tensor<128x1xi32>
  %rows = tt.broadcast %row : tensor<128x1xi32> -> tensor<128x128xi32>
  %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %columns = tt.broadcast %j0 : tensor<1x128xi32> -> tensor<128x128xi32>
  %at = arith.addi %rows, %columns : tensor<128x128xi32>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
  %qp = tt.addptr %qs, %at : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
  %x = tt.load %qp : tensor<128x128x!tt.ptr<f16>>
  %columnsK = tt.broadcast %j0 : tensor<1x128xi32> -> tensor<128x128xi32>
  %ks = tt.splat %k : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
  %r = scf.for %start = %c0 to %n step %c128 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %s0 = tt.splat %start : i32 -> tensor<128xi32>
    %key = arith.addi %s0, %j : tensor<128xi32>
    %key1 = tt.expand_dims %key {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %rowK = arith.muli %key1, %pitchK : tensor<128x1xi32>
    %rowsK = tt.broadcast %rowK : tensor<128x1xi32> -> tensor<128x128xi32>
    %atK = arith.addi %rowsK, %columnsK : tensor<128x128xi32>
    %kp = tt.addptr %ks, %atK : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %y = tt.load %kp : tensor<128x128x!tt.ptr<f16>>
    %yt = tt.trans %y {order = array<i32: 1, 0>} : tensor<128x128xf16> -> tensor<128x128xf16>
    %s = tt.dot %x, %yt, %zero : tensor<128x128xf16> * tensor<128x128xf16> -> tensor<128x128xf32>
    %p = arith.truncf %s : tensor<128x128xf32> to tensor<128x128xf16>
    %less = arith.mulf %acc, %half : tensor<128x128xf32>
    %w = tt.load %kp : tensor<128x128x!tt.ptr<f16>>
    %d = tt.dot %p, %w, %less : tensor<128x128xf16> * tensor<128x128xf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
  tt.store %op, %r : tensor<128x128x!tt.ptr<f32>>
  tt.return
}
