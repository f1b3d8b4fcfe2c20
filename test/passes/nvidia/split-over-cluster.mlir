// RUN: nereid-opt %s --split-input-file --nvidia-split-over-cluster=num-ctas=4 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAYS < %t
// Tiles are split over the CTAs of a cluster; partial results are exchanged, side effects of whole values happen once.

// The range begins at the CTA's part; the reduction is that of the part, then of all partial results.
// SAYS: remark: num_ctas=4: the blocks of a cluster divide these tiles among them: fp32[4096] along dimension 0
// CHECK: module attributes {ttng.cluster_split = "fp32[4096] along dimension 0"}
// CHECK-LABEL: tt.func public @row
// CHECK: %[[RANK:.*]] = ttng.cluster_rank
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[RANK]]
// CHECK: %[[BEGIN:.*]] = arith.muli %[[RANK]], %c1024
// CHECK: %[[RANGE:.*]] = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
// CHECK: %[[BEGINS:.*]] = tt.splat %[[BEGIN]]
// CHECK: arith.addi %[[RANGE]], %[[BEGINS]] : tensor<1024xi32>
// CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<f32>>
// CHECK: %[[PART:.*]] = "tt.reduce"
// CHECK: (tensor<1024xf32>) -> f32
// CHECK: %[[ONE:.*]] = tt.splat %[[PART]] : f32 -> tensor<1xf32>
// CHECK: %[[ALL:.*]] = ttng.cluster_gather %[[ONE]] {arrives, dim = 0 : i32} : (tensor<1xf32>) -> tensor<4xf32>
// CHECK: %[[SUM:.*]] = "tt.reduce"(%[[ALL]])
// CHECK: tt.store %{{.*}}, %[[SUM]], %[[FIRST]] : !tt.ptr<f32>
// CHECK: ttng.cluster_wait
// CHECK-NEXT: tt.return
tt.func public @row(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %r = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
  %s = tt.splat %x : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
  %p = tt.addptr %s, %r : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
  %a = tt.load %p : tensor<4096x!tt.ptr<f32>>
  %sum = "tt.reduce"(%a) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %k: f32):
    %c = arith.addf %l, %k : f32
    tt.reduce.return %c : f32
  }) : (tensor<4096xf32>) -> f32
  tt.store %o, %sum : !tt.ptr<f32>
  tt.return
}

// -----

// One range for rows and columns is split for rows alone: each user has its own copy. The dot's operand b is whole.
// SAYS: remark: num_ctas=4: the blocks of a cluster divide these tiles among them: fp32[256, 256] along dimension 0
// CHECK-LABEL: tt.func public @square
// CHECK: tt.load {{.*}} : tensor<64x32x!tt.ptr<f16>>
// CHECK: tt.load {{.*}} : tensor<32x256x!tt.ptr<f16>>
// CHECK: tt.dot {{.*}} : tensor<64x32xf16> * tensor<32x256xf16> -> tensor<64x256xf32>
// A CTA may store what another still reads as part of the whole b.
// CHECK: ttng.cluster_barrier
// CHECK: tt.store {{.*}} : tensor<64x256x!tt.ptr<f32>>
tt.func public @square(%x: !tt.ptr<f16>, %y: !tt.ptr<f16>, %o: !tt.ptr<f32>) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<256xi32> -> tensor<256x1xi32>
  %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %krow = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %kcolumn = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %a0 = tt.broadcast %rows : tensor<256x1xi32> -> tensor<256x32xi32>
  %a1 = tt.broadcast %krow : tensor<1x32xi32> -> tensor<256x32xi32>
  %a2 = arith.addi %a0, %a1 : tensor<256x32xi32>
  %as = tt.splat %x : !tt.ptr<f16> -> tensor<256x32x!tt.ptr<f16>>
  %ap = tt.addptr %as, %a2 : tensor<256x32x!tt.ptr<f16>>, tensor<256x32xi32>
  %a = tt.load %ap : tensor<256x32x!tt.ptr<f16>>
  %b0 = tt.broadcast %kcolumn : tensor<32x1xi32> -> tensor<32x256xi32>
  %b1 = tt.broadcast %columns : tensor<1x256xi32> -> tensor<32x256xi32>
  %b2 = arith.addi %b0, %b1 : tensor<32x256xi32>
  %bs = tt.splat %y : !tt.ptr<f16> -> tensor<32x256x!tt.ptr<f16>>
  %bp = tt.addptr %bs, %b2 : tensor<32x256x!tt.ptr<f16>>, tensor<32x256xi32>
  %b = tt.load %bp : tensor<32x256x!tt.ptr<f16>>
  %d = tt.dot %a, %b, %zero : tensor<256x32xf16> * tensor<32x256xf16> -> tensor<256x256xf32>
  %o0 = tt.broadcast %rows : tensor<256x1xi32> -> tensor<256x256xi32>
  %o1 = tt.broadcast %columns : tensor<1x256xi32> -> tensor<256x256xi32>
  %o2 = arith.addi %o0, %o1 : tensor<256x256xi32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<256x256x!tt.ptr<f32>>
  %op = tt.addptr %os, %o2 : tensor<256x256x!tt.ptr<f32>>, tensor<256x256xi32>
  tt.store %op, %d : tensor<256x256x!tt.ptr<f32>>
  tt.return
}

// -----

// What an atomic access returns is the first CTA's; it releases what all CTAs have stored.
// CHECK-LABEL: tt.func public @counted
// CHECK: %[[FIRST:.*]] = arith.cmpi eq
// CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>>
// CHECK: ttng.cluster_barrier
// CHECK: %[[OLD:.*]] = scf.if %[[FIRST]] -> (i32) {
// CHECK: tt.atomic_rmw
// CHECK: } else {
// CHECK: %[[SAME:.*]] = ttng.cluster_broadcast %[[OLD]] {arrives} : i32
// CHECK: tt.store %{{.*}}, %[[SAME]], %[[FIRST]]
tt.func public @counted(%o: !tt.ptr<f32>, %n: !tt.ptr<i32>) {
  %r = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
  %s = tt.splat %o : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
  %p = tt.addptr %s, %r : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
  %v = arith.sitofp %r : tensor<4096xi32> to tensor<4096xf32>
  tt.store %p, %v : tensor<4096x!tt.ptr<f32>>
  %one = arith.constant 1 : i32
  %old = tt.atomic_rmw add, acq_rel, gpu, %n, %one : (!tt.ptr<i32>, i32) -> i32
  %q = tt.addptr %n, %one : !tt.ptr<i32>, i32
  tt.store %q, %old : !tt.ptr<i32>
  tt.return
}

// -----

// A scan needs its dimension whole, and there is no other: the kernel stays as it is.
// SAYS: remark: num_ctas=4: a program runs in the first block of its cluster, {{.*}}: its largest tiles cannot be split
// CHECK-NOT: ttng.cluster_split
// CHECK-LABEL: tt.func public @scan
// CHECK-NOT: ttng.
// CHECK: tt.load {{.*}} : tensor<4096x!tt.ptr<f32>>
tt.func public @scan(%x: !tt.ptr<f32>) {
  %r = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
  %s = tt.splat %x : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
  %p = tt.addptr %s, %r : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
  %a = tt.load %p : tensor<4096x!tt.ptr<f32>>
  %b = "tt.scan"(%a) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%l: f32, %k: f32):
    %c = arith.addf %l, %k : f32
    tt.scan.return %c : f32
  }) : (tensor<4096xf32>) -> tensor<4096xf32>
  %d = arith.addf %a, %b : tensor<4096xf32>
  tt.store %p, %d : tensor<4096x!tt.ptr<f32>>
  tt.return
}

// -----

// Of two exchanges in a loop the second one's barrier follows the first one's reads, and the next iteration's first one
// the second one's: only the last op of the body has a barrier of its own.
// CHECK-LABEL: tt.func public @loop
// CHECK: scf.for
// CHECK: ttng.cluster_gather {{.*}} {dim = 0 : i32, open}
// CHECK: ttng.cluster_gather {{.*}} {dim = 0 : i32}
// CHECK: scf.yield
// CHECK-NOT: ttng.cluster_wait
tt.func public @loop(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %r = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
  %s = tt.splat %x : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
  %p = tt.addptr %s, %r : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%total = %zero) -> f32 : i32 {
    %a = tt.load %p : tensor<4096x!tt.ptr<f32>>
    %sum = "tt.reduce"(%a) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %k: f32):
      %c = arith.addf %l, %k : f32
      tt.reduce.return %c : f32
    }) : (tensor<4096xf32>) -> f32
    %sums = tt.splat %sum : f32 -> tensor<4096xf32>
    %b = arith.mulf %a, %sums : tensor<4096xf32>
    %max = "tt.reduce"(%b) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %k: f32):
      %c = arith.maxnumf %l, %k : f32
      tt.reduce.return %c : f32
    }) : (tensor<4096xf32>) -> f32
    %next = arith.addf %total, %max : f32
    scf.yield %next : f32
  }
  tt.store %o, %end : !tt.ptr<f32>
  tt.return
}

// -----

// Of a reshape the first dimensions of both sides are split; the transposed tile is split along the other one.
// CHECK-LABEL: tt.func public @shapes
// CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<f32>>
// CHECK: tt.reshape {{.*}} : tensor<1024xf32> -> tensor<16x64xf32>
// CHECK: tt.trans {{.*}} : tensor<16x64xf32> -> tensor<64x16xf32>
// CHECK: tt.reshape {{.*}} : tensor<64x16xf32> -> tensor<64x4x4xf32>
// CHECK-NOT: ttng.cluster_gather
tt.func public @shapes(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %r = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
  %s = tt.splat %x : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
  %p = tt.addptr %s, %r : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
  %a = tt.load %p : tensor<4096x!tt.ptr<f32>>
  %b = tt.reshape %a : tensor<4096xf32> -> tensor<64x64xf32>
  %c = tt.trans %b {order = array<i32: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>
  %d = tt.reshape %c : tensor<64x64xf32> -> tensor<64x16x4xf32>
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %j = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %k = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %i2 = tt.expand_dims %i1 {axis = 2 : i32} : tensor<64x1xi32> -> tensor<64x1x1xi32>
  %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %j2 = tt.expand_dims %j1 {axis = 2 : i32} : tensor<1x16xi32> -> tensor<1x16x1xi32>
  %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %k2 = tt.expand_dims %k1 {axis = 0 : i32} : tensor<1x4xi32> -> tensor<1x1x4xi32>
  %i3 = tt.broadcast %i2 : tensor<64x1x1xi32> -> tensor<64x16x4xi32>
  %j3 = tt.broadcast %j2 : tensor<1x16x1xi32> -> tensor<64x16x4xi32>
  %k3 = tt.broadcast %k2 : tensor<1x1x4xi32> -> tensor<64x16x4xi32>
  %t = tt.splat %o : !tt.ptr<f32> -> tensor<64x16x4x!tt.ptr<f32>>
  %t1 = tt.addptr %t, %i3 : tensor<64x16x4x!tt.ptr<f32>>, tensor<64x16x4xi32>
  %t2 = tt.addptr %t1, %j3 : tensor<64x16x4x!tt.ptr<f32>>, tensor<64x16x4xi32>
  %t3 = tt.addptr %t2, %k3 : tensor<64x16x4x!tt.ptr<f32>>, tensor<64x16x4xi32>
  tt.store %t3, %d : tensor<64x16x4x!tt.ptr<f32>>
  tt.return
}
