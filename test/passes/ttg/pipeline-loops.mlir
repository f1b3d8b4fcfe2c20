// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-pipeline-loops))' 2>&1 | FileCheck %s
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-pipeline-loops{max-bytes=20000}))' 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-pipeline-loops{max-bytes=14000}))' 2>&1 | FileCheck %s --check-prefix=FEWER
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-pipeline-loops{async-copies=false save-registers=true}))' 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-pipeline-loops{async-copies=false max-registers=88 save-registers=true}))' 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-pipeline-loops{async-copies=false max-registers=87 save-registers=true}))' 2>&1 | FileCheck %s --check-prefix=CROWDED
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-pipeline-loops{async-copies=false}))' 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-pipeline-loops{save-registers=true}))' 2>&1 | FileCheck %s
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-pipeline-loops{max-bytes=14000 max-registers=60}))' 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-pipeline-loops{max-registers=1}))' 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-pipeline-loops{max-registers=1}))' 2>&1 | FileCheck %s --check-prefix=SCALED
// Loads of operands become copies to multi-buffered allocations; loads of their addresses run one iteration earlier.

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#left = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#right = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // SHORT: remark: num_stages=3 needs more shared memory than the 20000 bytes of a block; the loop has 2 stages
  // CHECK-LABEL: tt.func @direct
  // CHECK: %[[BUFFERS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
  // SHORT: ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16
  // CHECK-COUNT-2: ttg.async_copy_global_to_local
  // CHECK: scf.for
  // CHECK: ttg.async_wait {num = 1 : i32}
  // CHECK: ttg.async_copy_global_to_local %{{.*}}, %{{.*}} mask
  // CHECK: ttg.async_commit_group
  // CHECK: ttg.local_load
  // CHECK: tt.dot
  // CHECK: tt.scheduled_max_stage = 2 : i32
  // CHECK: ttg.async_wait {num = 0 : i32}
  // CHECK: ttg.local_dealloc %[[BUFFERS]]
  // Without asynchronous copies a small tile is prefetched in registers, if there are enough: 32 for the sums, 32 for %b,
  // 8 for pointers, 16 for the tile. They are free before they are loaded again.
  // CROWDED-DAG: {{[0-9]+}}:12: remark: this load is not pipelined: with all loads of the loop its tiles would take 88 registers of a thread, 87 are for them
  // PLAIN-LABEL: tt.func @direct
  // PLAIN-NOT: async_copy
  // PLAIN: tt.load
  // PLAIN: scf.for
  // PLAIN: ttg.local_alloc
  // PLAIN: tt.load
  // PLAIN: tt.scheduled_max_stage = 2
  // Unless registers are to be saved, the load comes first.
  // KEPT-LABEL: tt.func @direct
  // KEPT: scf.for
  // KEPT: tt.load
  // KEPT: ttg.local_alloc
  // KEPT: tt.scheduled_max_stage = 2
  // CROWDED-LABEL: tt.func @direct
  // CROWDED: scf.for
  // CROWDED: %[[X:.*]] = tt.load
  // CROWDED: ttg.local_alloc %[[X]]
  // CROWDED-NOT: tt.scheduled_max_stage
  // CROWDED: tt.return
  tt.func @direct(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<64x64xf16, #right>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %e = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %o = tt.broadcast %e : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %s = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    %p = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
    %step = arith.constant dense<64> : tensor<64x64xi32, #rows>
    %d:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %q = %p) -> (tensor<64x64xf32, #mma>, tensor<64x64x!tt.ptr<f16>, #rows>) : i32 {
      %t = tt.load %q : tensor<64x64x!tt.ptr<f16>, #rows>
      %buffer = ttg.local_alloc %t : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %a = ttg.local_load %buffer : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #left>
      %sum = tt.dot %a, %b, %acc : tensor<64x64xf16, #left> * tensor<64x64xf16, #right> -> tensor<64x64xf32, #mma>
      %next = tt.addptr %q, %step : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
      scf.yield %sum, %next : tensor<64x64xf32, #mma>, tensor<64x64x!tt.ptr<f16>, #rows>
    }
    tt.return %d#0 : tensor<64x64xf32, #mma>
  }

  // The copies' addresses are loaded: one iteration to load them, one for the copies.
  // No load of addresses is left out for lack of registers: its copies need it.
  // ONE-NOT: remark: this load is not pipelined: with all loads of the loop its tiles would take 65
  // ONE-LABEL: tt.func @indirect
  // ONE: scf.for
  // ONE: ttg.async_copy_global_to_local
  // ONE: tt.load {{.*}} : !tt.ptr<i32>
  // ONE: tt.scheduled_max_stage = 2
  // CHECK-LABEL: tt.func @indirect
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16
  // CHECK: scf.for
  // CHECK: ttg.async_wait {num = 0 : i32}
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: tt.load %{{.*}}, %{{.*}} : !tt.ptr<i32>
  // CHECK: tt.dot
  // CHECK: tt.scheduled_max_stage = 2 : i32
  tt.func @indirect(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %table: !tt.ptr<i32>, %b: tensor<64x64xf16, #right>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %e = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %o = tt.broadcast %e : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %at = tt.addptr %table, %i : !tt.ptr<i32>, i32
      %block = tt.load %at : !tt.ptr<i32>
      %begin = arith.muli %block, %c16 : i32
      %base = tt.addptr %x, %begin : !tt.ptr<f16>, i32
      %s = tt.splat %base : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
      %p = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
      %t = tt.load %p : tensor<64x64x!tt.ptr<f16>, #rows>
      %buffer = ttg.local_alloc %t : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %a = ttg.local_load %buffer : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #left>
      %sum = tt.dot %a, %b, %acc : tensor<64x64xf16, #left> * tensor<64x64xf16, #right> -> tensor<64x64xf32, #mma>
      scf.yield %sum : tensor<64x64xf32, #mma>
    }
    tt.return %d : tensor<64x64xf32, #mma>
  }

  // What the addresses and their loads both need is there for the earlier of the two.
  // CHECK-LABEL: tt.func @shared
  // CHECK: scf.for
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: arith.muli %{{.*}}, %[[STEP:.*]] : i32
  // CHECK: tt.load %{{.*}}, %{{.*}} : !tt.ptr<i32>
  // CHECK: tt.dot
  // CHECK: tt.scheduled_max_stage = 2 : i32
  tt.func @shared(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %table: !tt.ptr<i32>, %b: tensor<64x64xf16, #right>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %e = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %o = tt.broadcast %e : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %first = arith.muli %i, %c16 : i32
      %at = tt.addptr %table, %first : !tt.ptr<i32>, i32
      %block = tt.load %at : !tt.ptr<i32>
      %far = arith.muli %block, %c16 : i32
      %begin = arith.addi %far, %first : i32
      %base = tt.addptr %x, %begin : !tt.ptr<f16>, i32
      %s = tt.splat %base : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
      %p = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
      %t = tt.load %p : tensor<64x64x!tt.ptr<f16>, #rows>
      %buffer = ttg.local_alloc %t : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %a = ttg.local_load %buffer : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #left>
      %sum = tt.dot %a, %b, %acc : tensor<64x64xf16, #left> * tensor<64x64xf16, #right> -> tensor<64x64xf32, #mma>
      scf.yield %sum : tensor<64x64xf32, #mma>
    }
    tt.return %d : tensor<64x64xf32, #mma>
  }

  // A division for an iteration that may not exist has another divisor there.
  // CHECK-LABEL: tt.func @wrapped
  // CHECK: %[[HARMLESS:.*]] = arith.constant 1073741824 : i32
  // CHECK: %[[DIVISOR:.*]] = arith.select %{{.*}}, %{{.*}}, %[[HARMLESS]] : i32
  // CHECK: arith.remsi %{{.*}}, %[[DIVISOR]] : i32
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: scf.for
  tt.func @wrapped(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<64x64xf16, #right>, %n: i32, %m: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %e = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %o = tt.broadcast %e : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %block = arith.remsi %i, %m : i32
      %begin = arith.muli %block, %c16 : i32
      %base = tt.addptr %x, %begin : !tt.ptr<f16>, i32
      %s = tt.splat %base : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
      %p = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
      %t = tt.load %p : tensor<64x64x!tt.ptr<f16>, #rows>
      %buffer = ttg.local_alloc %t : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %a = ttg.local_load %buffer : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #left>
      %sum = tt.dot %a, %b, %acc : tensor<64x64xf16, #left> * tensor<64x64xf16, #right> -> tensor<64x64xf32, #mma>
      scf.yield %sum : tensor<64x64xf32, #mma>
    }
    tt.return %d : tensor<64x64xf32, #mma>
  }

  // Memory that the loop itself writes is not prefetched.
  // CHECK-LABEL: tt.func @written
  // CHECK-NOT: async_copy
  // CHECK: tt.return
  tt.func @written(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<64x64xf16, #right>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %s = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    %out = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #mma>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %t = tt.load %s : tensor<64x64x!tt.ptr<f16>, #rows>
      %buffer = ttg.local_alloc %t : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %a = ttg.local_load %buffer : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #left>
      %sum = tt.dot %a, %b, %zero : tensor<64x64xf16, #left> * tensor<64x64xf16, #right> -> tensor<64x64xf32, #mma>
      %narrow = arith.truncf %sum : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      tt.store %out, %narrow : tensor<64x64x!tt.ptr<f16>, #mma>
    }
    tt.return
  }

  // Two loads, of which only one fits multi-buffered: the last one stays in place.
  // FEWER: remark: this load is not pipelined: with all loads of the loop 16384 bytes of shared memory would be needed, a block has 14000
  // FEWER-LABEL: tt.func @two
  // FEWER: ttg.local_alloc : () -> !ttg.memdesc<2x64x32xf16
  // FEWER: ttg.async_copy_global_to_local
  // FEWER: scf.for
  // FEWER: ttg.async_copy_global_to_local
  // FEWER-NOT: ttg.async_copy_global_to_local
  // FEWER: %[[LOADED:.*]] = tt.load
  // FEWER-NEXT: ttg.local_alloc %[[LOADED]]
  // FEWER: tt.dot
  // FEWER: tt.dot
  // FEWER: tt.scheduled_max_stage = 1
  // CHECK-LABEL: tt.func @two
  // CHECK-COUNT-4: ttg.async_copy_global_to_local
  // CHECK: scf.for
  // CHECK-COUNT-2: ttg.async_copy_global_to_local
  tt.func @two(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<32x64xf16, #right>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %e = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %o = tt.broadcast %e : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %sx = tt.splat %x : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %px = tt.addptr %sx, %o : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    %sy = tt.splat %y : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %py = tt.addptr %sy, %o : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    %step = arith.constant dense<32> : tensor<64x32xi32, #rows>
    %d:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %px, %q = %py) -> (tensor<64x64xf32, #mma>, tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32x!tt.ptr<f16>, #rows>) : i32 {
      %t = tt.load %p : tensor<64x32x!tt.ptr<f16>, #rows>
      %first = ttg.local_alloc %t : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %u = tt.load %q : tensor<64x32x!tt.ptr<f16>, #rows>
      %second = ttg.local_alloc %u : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %a = ttg.local_load %first : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #left>
      %sum = tt.dot %a, %b, %acc : tensor<64x32xf16, #left> * tensor<32x64xf16, #right> -> tensor<64x64xf32, #mma>
      %c = ttg.local_load %second : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #left>
      %both = tt.dot %c, %b, %sum : tensor<64x32xf16, #left> * tensor<32x64xf16, #right> -> tensor<64x64xf32, #mma>
      %next = tt.addptr %p, %step : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
      %after = tt.addptr %q, %step : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
      scf.yield %both, %next, %after : tensor<64x64xf32, #mma>, tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32x!tt.ptr<f16>, #rows>
    }
    tt.return %d#0 : tensor<64x64xf32, #mma>
  }

  // A small tile that threads exchange anyway is copied ahead; one that they use as loaded is prefetched in registers.
  // CHECK-LABEL: tt.func @exchanged
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16
  // CHECK-NOT: ttg.local_alloc
  // CHECK: scf.for
  // CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<f16>, #ttg.dot_op
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: %[[OWN:.*]] = ttg.local_load %{{.*}} -> tensor<64x64xf16, #blocked>
  // CHECK: ttg.convert_layout %[[OWN]]
  tt.func @exchanged(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<64x64xf16, #right>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %e = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %o = tt.broadcast %e : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %sx = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    %px = tt.addptr %sx, %o : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
    %sy = tt.splat %y : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #left>
    %step = arith.constant dense<64> : tensor<64x64xi32, #rows>
    %d:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %q = %px) -> (tensor<64x64xf32, #mma>, tensor<64x64x!tt.ptr<f16>, #rows>) : i32 {
      %t = tt.load %q : tensor<64x64x!tt.ptr<f16>, #rows>
      %a = ttg.convert_layout %t : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #left>
      %factor = tt.load %sy : tensor<64x64x!tt.ptr<f16>, #left>
      %scaled = arith.mulf %a, %factor : tensor<64x64xf16, #left>
      %sum = tt.dot %scaled, %b, %acc : tensor<64x64xf16, #left> * tensor<64x64xf16, #right> -> tensor<64x64xf32, #mma>
      %next = tt.addptr %q, %step : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
      scf.yield %sum, %next : tensor<64x64xf32, #mma>, tensor<64x64x!tt.ptr<f16>, #rows>
    }
    tt.return %d#0 : tensor<64x64xf32, #mma>
  }

  // A load that shared memory has no room for stays in the loop when another one leaves it for lack of registers.
  // BOTH-LABEL: tt.func @both
  // BOTH: ttg.local_alloc : () -> !ttg.memdesc<2x64x32xf16
  // BOTH-NOT: ttg.local_alloc : ()
  // BOTH: scf.for
  // BOTH: ttg.async_copy_global_to_local
  // BOTH-NOT: ttg.async_copy_global_to_local
  // BOTH: ttg.local_alloc %
  // BOTH: tt.load %{{.*}} : tensor<32x64x!tt.ptr<f16>, #ttg.dot_op
  // BOTH: tt.scheduled_max_stage = 1
  tt.func @both(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<32x64xf16, #right>, %z: tensor<32x64x!tt.ptr<f16>, #right>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %e = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x32xi32, #rows>
    %o = tt.broadcast %e : tensor<1x32xi32, #rows> -> tensor<64x32xi32, #rows>
    %sx = tt.splat %x : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %px = tt.addptr %sx, %o : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    %sy = tt.splat %y : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #rows>
    %py = tt.addptr %sy, %o : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
    %step = arith.constant dense<32> : tensor<64x32xi32, #rows>
    %d:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %px, %q = %py) -> (tensor<64x64xf32, #mma>, tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32x!tt.ptr<f16>, #rows>) : i32 {
      %t = tt.load %p : tensor<64x32x!tt.ptr<f16>, #rows>
      %first = ttg.local_alloc %t : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %u = tt.load %q : tensor<64x32x!tt.ptr<f16>, #rows>
      %second = ttg.local_alloc %u : (tensor<64x32xf16, #rows>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %a = ttg.local_load %first : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #left>
      %sum = tt.dot %a, %b, %acc : tensor<64x32xf16, #left> * tensor<32x64xf16, #right> -> tensor<64x64xf32, #mma>
      %w = tt.load %z : tensor<32x64x!tt.ptr<f16>, #right>
      %c = ttg.local_load %second : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #left>
      %both = tt.dot %c, %w, %sum : tensor<64x32xf16, #left> * tensor<32x64xf16, #right> -> tensor<64x64xf32, #mma>
      %next = tt.addptr %p, %step : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
      %after = tt.addptr %q, %step : tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32xi32, #rows>
      scf.yield %both, %next, %after : tensor<64x64xf32, #mma>, tensor<64x32x!tt.ptr<f16>, #rows>, tensor<64x32x!tt.ptr<f16>, #rows>
    }
    tt.return %d#0 : tensor<64x64xf32, #mma>
  }

  // The result of a scaled dot counts as that of another dot: 32 of these registers.
  // SCALED: remark: this load is not pipelined: with all loads of the loop its tiles would take 224 registers of a thread, 1 are for them
  tt.func @scaled(%x: tensor<64x64x!tt.ptr<f8E4M3FN>, #left>, %b: tensor<64x64xf8E4M3FN, #right>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %a = tt.load %x : tensor<64x64x!tt.ptr<f8E4M3FN>, #left>
      %d = tt.dot_scaled %a, %b, %zero lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<64x64xf8E4M3FN, #left> * tensor<64x64xf8E4M3FN, #right> -> tensor<64x64xf32, #mma>
      %sum = arith.addf %acc, %d : tensor<64x64xf32, #mma>
      scf.yield %sum : tensor<64x64xf32, #mma>
    }
    tt.return %s : tensor<64x64xf32, #mma>
  }
}
