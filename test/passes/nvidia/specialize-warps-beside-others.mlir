// RUN: nereid-opt %s --split-input-file --cuda-ttgir=num-warps=8 | FileCheck %s
// Loads of a partition beside stores of the kernel, waits for other programs and neighbouring loops.

// A store in the loop does not run beside another iteration.
// CHECK-LABEL: tt.func public @stores
// CHECK-NOT: ttg.warp_specialize
// CHECK: tt.return
tt.func public @stores(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
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
    %mark = tt.addptr %o, %start : !tt.ptr<f32>, i32
    %one = arith.constant 1.0 : f32
    tt.store %mark, %one : !tt.ptr<f32>
    scf.yield %d : tensor<128x64xf32>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
  tt.store %op, %r : tensor<128x64x!tt.ptr<f32>>
  tt.return
}


// -----

// The producer does not wait for what the kernel writes first.
// CHECK-LABEL: tt.func public @written_before
// CHECK-NOT: ttg.warp_specialize
// CHECK: tt.return
tt.func public @written_before(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
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
  %none = arith.constant dense<0.0> : tensor<64x64xf16>
  %keys = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %kq = tt.addptr %ks, %keys : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  tt.store %kq, %none : tensor<64x64x!tt.ptr<f16>>
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

// Nor for other programs.
// CHECK-LABEL: tt.func public @waits
// CHECK-NOT: ttg.warp_specialize
// CHECK: tt.return
tt.func public @waits(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
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
  %one = arith.constant 1 : i32
  %flag = tt.bitcast %o : !tt.ptr<f32> -> !tt.ptr<i32>
  %yes = arith.constant true
  %old = tt.atomic_rmw add, acquire, gpu, %flag, %one, %yes : (!tt.ptr<i32>, i32, i1) -> i32
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

// A spin on a volatile load waits for other programs.
// CHECK-LABEL: tt.func public @spins
// CHECK-NOT: ttg.warp_specialize
// CHECK: tt.return
tt.func public @spins(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
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
  %flag = tt.bitcast %o : !tt.ptr<f32> -> !tt.ptr<i32>
  scf.while : () -> () {
    %seen = tt.load %flag {isVolatile = true} : !tt.ptr<i32>
    %isUnset = arith.cmpi eq, %seen, %c0 : i32
    scf.condition(%isUnset)
  } do {
    scf.yield
  }
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

// A loop that goes on where another one ends, with a body that differs in a part, becomes one loop with it.
// CHECK-LABEL: tt.func public @adjacent
// CHECK: ttg.warp_specialize
// CHECK: scf.while
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i32
// CHECK: scf.if %[[FIRST]]
// CHECK-NOT: ttng.
// CHECK: } else {
// CHECK: arith.addf
// CHECK: arith.truncf
// CHECK-NOT: scf.while
// CHECK: partition0
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: ttg.warp_return
tt.func public @adjacent(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %m: i32) {
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
  %middle = arith.muli %n, %c64 : i32
  %r = scf.for %start = %c0 to %middle step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
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
  %more = arith.muli %m, %c64 : i32
  %end = arith.addi %middle, %more : i32
  %r2 = scf.for %start = %middle to %end step %c64 iter_args(%acc = %r) -> (tensor<128x64xf32>) : i32 {
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
    %s2 = arith.addf %s, %half : tensor<128x64xf32>
    %p = arith.truncf %s2 : tensor<128x64xf32> to tensor<128x64xf16>
    %less = arith.mulf %acc, %half : tensor<128x64xf32>
    %w = tt.load %kp : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %p, %w, %less : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
  tt.store %op, %r2 : tensor<128x64x!tt.ptr<f32>>
  tt.return
}

// -----

// The first loop may end beyond the second one's begin: both stay.
// CHECK-LABEL: tt.func public @not_adjacent
// CHECK: ttg.warp_specialize
// CHECK: scf.while
// CHECK: scf.while
// CHECK: ttg.warp_return
tt.func public @not_adjacent(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %m: i32) {
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
  %more = arith.muli %m, %c64 : i32
  %end = arith.addi %n, %more : i32
  %r2 = scf.for %start = %n to %end step %c64 iter_args(%acc = %r) -> (tensor<128x64xf32>) : i32 {
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
    %s2 = arith.addf %s, %half : tensor<128x64xf32>
    %p = arith.truncf %s2 : tensor<128x64xf32> to tensor<128x64xf16>
    %less = arith.mulf %acc, %half : tensor<128x64xf32>
    %w = tt.load %kp : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %p, %w, %less : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
  tt.store %op, %r2 : tensor<128x64x!tt.ptr<f32>>
  tt.return
}
