// RUN: nereid-opt %s --split-input-file --cuda-ttgir="num-warps=8 own-launcher=true" | FileCheck %s
// With producer warps and a launcher that starts fewer CTAs than programs, each CTA runs several programs.

// The maps, then the grid's extents and the counters.
// CHECK-LABEL: tt.func public @programs
// CHECK-SAME: ttng.tensor_map{{.*}}ttng.tensor_map{{.*}}, %[[X:arg[0-9]+]]: i32, %{{arg[0-9]+}}: i32, %{{arg[0-9]+}}: i32, %{{arg[0-9]+}}: !tt.ptr<i32>)
// CHECK-SAME: ttng.persistent
// Two buffers of each tile, also of the one that is loaded once: the producer is a program ahead.
// CHECK-COUNT-3: ttg.local_alloc {{.*}} : () -> !ttg.memdesc<2x128x128xf16
// CHECK: ttg.warp_specialize attributes {actualRegisters = array<i32: 240, 24>} default {
// CHECK: %[[CTA:.*]] = tt.get_program_id x
// CHECK: %[[CTAS:.*]] = tt.get_num_programs x
// CHECK: %[[LAST:.*]] = arith.subi %[[CTAS]], %c1
// CHECK: %[[MIRROR:.*]] = arith.subi %[[LAST]], %[[CTA]]
// Consumers: a loop over programs, which carries the stage index of the buffers.
// CHECK: scf.for %[[ROUND:.*]] = %c0{{.*}} to {{.*}} -> (i32, i32)
// CHECK: %[[BEFORE:.*]] = arith.muli %[[ROUND]], %[[CTAS]]
// CHECK: %[[ODD:.*]] = arith.trunci %[[ROUND]] : i32 to i1
// CHECK: %[[PLACE:.*]] = arith.select %[[ODD]], %[[MIRROR]], %[[CTA]]
// CHECK: %[[PROGRAM:.*]] = arith.addi %[[BEFORE]], %[[PLACE]]
// CHECK: arith.divui %[[PROGRAM]], %[[X]]
// CHECK-NOT: get_program_id
// CHECK: %[[STAGE:.*]] = arith.remui %[[ROUND]], %c2
// CHECK: ttg.memdesc_index {{.*}}[%[[STAGE]]]
// No thread stores to it.
// CHECK-NOT: ttng.fence_async_shared
// CHECK: scf.while
// The tile that is loaded once is handed back when all loops have read it.
// CHECK: ttg.memdesc_index {{.*}}[%[[STAGE]]]
// CHECK: ttng.arrive_barrier
// Every warp stores the rows that it has computed.
// CHECK: ttg.convert_layout {{.*}} #mma> -> tensor<128x128xf16, #linear>
// CHECK: tt.store
// CHECK: scf.yield
// CHECK: ttg.warp_yield
// One warp of the producer starts the copies of all programs.
// CHECK: partition0 num_warps(4)
// CHECK: %[[FIRST:.*]] = ttg.is_first_warp
// CHECK: scf.if %[[FIRST]] {
// CHECK: scf.for
// CHECK: ttng.wait_barrier
// CHECK: ttng.async_tma_copy_global_to_local
// CHECK: scf.for
// CHECK: ttng.wait_barrier
// CHECK: ttng.async_tma_copy_global_to_local
// CHECK: ttng.wait_barrier
// CHECK: ttng.async_tma_copy_global_to_local
// CHECK-NOT: tt.store
// CHECK: ttg.warp_return
tt.func public @programs(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %half = arith.constant dense<0.5> : tensor<128x128xf32>
  %pitch = arith.constant dense<128> : tensor<128x1xi32>
  %pitchK = arith.constant dense<128> : tensor<128x1xi32>
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %j = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %pid = tt.get_program_id y : i32
  %first = arith.muli %pid, %c128 : i32
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %is = arith.addi %firsts, %i : tensor<128xi32>
  %i1 = tt.expand_dims %is {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
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
  %h = arith.truncf %r : tensor<128x128xf32> to tensor<128x128xf16>
  %os = tt.splat %o : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
  %op = tt.addptr %os, %at : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
  tt.store %op, %h : tensor<128x128x!tt.ptr<f16>>
  tt.return
}

// -----

// Programs get longer along x: those of one length follow each other in groups of rows, unless there are many rows.
// CHECK-LABEL: tt.func public @longer_programs
// CHECK-SAME: ttng.tensor_map{{.*}}ttng.tensor_map{{.*}}, %[[X:arg[0-9]+]]: i32, %[[Y:arg[0-9]+]]: i32, %[[Z:arg[0-9]+]]: i32, %{{arg[0-9]+}}: !tt.ptr<i32>)
// CHECK: default {
// CHECK: %[[CTAS:.*]] = tt.get_num_programs x
// CHECK: scf.for %[[ROUND:.*]] = %c0
// CHECK: %[[PROGRAM:.*]] = arith.addi
// CHECK: %[[ROWS:.*]] = arith.muli %[[Y]], %[[Z]]
// CHECK: %[[HALF:.*]] = arith.divui %[[CTAS]], %c2
// CHECK: %[[LARGE:.*]] = arith.cmpi ugt, %[[ROWS]], %[[HALF]]
// CHECK: %[[TWO:.*]] = arith.muli %[[CTAS]], %c2
// CHECK: %[[ENOUGH:.*]] = arith.divui %[[TWO]], %[[X]]
// CHECK: %[[LEAST:.*]] = arith.maxui %[[ENOUGH]], %c1
// CHECK: %[[MOST:.*]] = arith.minui %[[LEAST]], %[[ROWS]]
// CHECK: %[[GROUP:.*]] = arith.select %[[LARGE]], %c1{{.*}}, %[[MOST]]
// CHECK: %[[SIZE:.*]] = arith.minui %[[GROUP]]
// CHECK: %[[RANK:.*]] = arith.divui %{{.*}}, %[[SIZE]]
// CHECK: %[[REVERSED:.*]] = arith.subi %{{.*}}, %[[RANK]]
// CHECK: arith.select %{{.*}}, %[[REVERSED]], %[[RANK]]
// CHECK: partition0 num_warps(4)
// CHECK: arith.minui
// CHECK: ttg.warp_return
tt.func public @longer_programs(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %half = arith.constant dense<0.5> : tensor<128x128xf32>
  %pitch = arith.constant dense<128> : tensor<128x1xi32>
  %pitchK = arith.constant dense<128> : tensor<128x1xi32>
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %j = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c128 : i32
  %end = arith.addi %first, %c128 : i32
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %is = arith.addi %firsts, %i : tensor<128xi32>
  %i1 = tt.expand_dims %is {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
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
  %r = scf.for %start = %c0 to %end step %c128 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
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
  %h = arith.truncf %r : tensor<128x128xf32> to tensor<128x128xf16>
  %os = tt.splat %o : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
  %op = tt.addptr %os, %at : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
  tt.store %op, %h : tensor<128x128x!tt.ptr<f16>>
  tt.return
}
