// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-share-operands))' | FileCheck %s
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-share-operands{max-shared-bytes=16384}))' | FileCheck %s --check-prefix=ROOM
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-share-operands{max-shared-bytes=16383}))' | FileCheck %s --check-prefix=NONE
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-share-operands{kept-registers=15}))' | FileCheck %s --check-prefix=INLOOP
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-share-operands{kept-registers=16}))' | FileCheck %s --check-prefix=KEPT
// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-share-operands{save-registers=true}))' | FileCheck %s --check-prefix=SAVED
// Operands of matrix instructions pass through shared buffers; a transposition moves before its load.

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#tall = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#turned = #ttg.linear<{register = [[0, 1], [0, 8], [16, 0], [32, 0], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [0, 0]], block = []}>
#left = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#right = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>

// CHECK-DAG: #[[ROWS:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK-DAG: #[[COLUMNS:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @loaded
  tt.func @loaded(%p: tensor<64x64x!tt.ptr<f16>, #rows>) -> tensor<64x64xf16, #left> {
    // CHECK: %[[X:.*]] = tt.load
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #rows>
    // CHECK: %[[B:.*]] = ttg.local_alloc %[[X]] : (tensor<64x64xf16, #{{.*}}>) -> !ttg.memdesc<64x64xf16, #[[ROWS]], #smem>
    // CHECK: ttg.local_load %[[B]]
    // CHECK-NOT: convert_layout
    %a = ttg.convert_layout %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #left>
    tt.return %a : tensor<64x64xf16, #left>
  }

  // CHECK-LABEL: tt.func @transposed
  tt.func @transposed(%p: tensor<64x64x!tt.ptr<f16>, #rows>, %m: tensor<64x64xi1, #rows>) -> tensor<64x64xf16, #right> {
    // CHECK: %[[P:.*]] = tt.trans
    // CHECK: %[[M:.*]] = tt.trans
    // CHECK: %[[X:.*]] = tt.load %[[P]], %[[M]]
    // CHECK: ttg.local_alloc %[[X]] : {{.*}}#[[COLUMNS]], #smem>
    %x = tt.load %p, %m : tensor<64x64x!tt.ptr<f16>, #rows>
    %y = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    %b = ttg.convert_layout %y : tensor<64x64xf16, #columns> -> tensor<64x64xf16, #right>
    tt.return %b : tensor<64x64xf16, #right>
  }

  // The same where the conversion comes first.
  // CHECK-LABEL: tt.func @transposed_operand
  tt.func @transposed_operand(%p: tensor<64x64x!tt.ptr<f16>, #rows>) -> tensor<64x64xf16, #right> {
    // CHECK: %[[P:.*]] = tt.trans
    // CHECK: %[[X:.*]] = tt.load %[[P]]
    // CHECK: ttg.local_alloc %[[X]] : {{.*}}#[[COLUMNS]], #smem>
    // CHECK-NOT: tt.trans
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #rows>
    %y = ttg.convert_layout %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #turned>
    %b = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16, #turned> -> tensor<64x64xf16, #right>
    tt.return %b : tensor<64x64xf16, #right>
  }

  // The left operand takes 16 registers of a thread. Where these are too many, the loop reads it from shared memory.
  // INLOOP-LABEL: tt.func @invariant
  // INLOOP: %[[B:.*]] = ttg.local_alloc %{{.*}} -> !ttg.memdesc<64x64xf16
  // INLOOP: scf.for
  // INLOOP: %[[A:.*]] = ttg.local_load %[[B]]
  // INLOOP-NEXT: tt.dot %[[A]]
  // KEPT-LABEL: tt.func @invariant
  // KEPT-NOT: ttg.local_load
  // KEPT: scf.for
  tt.func @invariant(%a: tensor<64x64xf16, #left>, %b: tensor<64x16xf16, #right>, %c: tensor<64x16xf32, #mma>, %n: i32) -> tensor<64x16xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c) -> (tensor<64x16xf32, #mma>) : i32 {
      %d = tt.dot %a, %b, %s : tensor<64x64xf16, #left> * tensor<64x16xf16, #right> -> tensor<64x16xf32, #mma>
      scf.yield %d : tensor<64x16xf32, #mma>
    }
    tt.return %r : tensor<64x16xf32, #mma>
  }

  // A sum whose rows stay in their warps becomes an operand in registers.
  // CHECK-LABEL: tt.func @chained
  tt.func @chained(%s: tensor<64x64xf16, #mma>) -> tensor<64x64xf16, #left> {
    // CHECK: ttg.convert_layout
    // CHECK-NOT: local_alloc
    %a = ttg.convert_layout %s : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #left>
    tt.return %a : tensor<64x64xf16, #left>
  }

  // Both operands have 16384 bytes together: where shared memory lacks them, conversions remain.
  // CHECK-LABEL: tt.func @dot
  // ROOM-LABEL: tt.func @dot
  // ROOM-NOT: convert_layout
  // ROOM-COUNT-2: ttg.local_load
  // ROOM: tt.dot
  // NONE-LABEL: tt.func @dot
  // NONE-NOT: ttg.local_load
  // NONE-COUNT-2: ttg.convert_layout
  // NONE: tt.dot
  tt.func @dot(%p: tensor<64x64x!tt.ptr<f16>, #rows>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #rows>
    %a = ttg.convert_layout %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #left>
    %b = ttg.convert_layout %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #right>
    %d = tt.dot %a, %b, %c : tensor<64x64xf16, #left> * tensor<64x64xf16, #right> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }

  // The left operand is converted in each thread: where registers are to be saved, after the store of the right one.
  // CHECK-LABEL: tt.func @converted
  // CHECK: ttg.convert_layout
  // CHECK: ttg.local_alloc
  // CHECK: tt.dot
  // SAVED-LABEL: tt.func @converted
  // SAVED: ttg.local_alloc
  // SAVED: %[[A:.*]] = ttg.convert_layout
  // SAVED-NEXT: tt.dot %[[A]]
  tt.func @converted(%s: tensor<64x64xf16, #tall>, %p: tensor<64x64x!tt.ptr<f16>, #rows>, %c: tensor<64x64xf32, #tall>) -> tensor<64x64xf32, #tall> {
    %a = ttg.convert_layout %s : tensor<64x64xf16, #tall> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #tall, kWidth = 2}>>
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #rows>
    %b = ttg.convert_layout %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #tall, kWidth = 2}>>
    %d = tt.dot %a, %b, %c : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #tall, kWidth = 2}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #tall, kWidth = 2}>> -> tensor<64x64xf32, #tall>
    tt.return %d : tensor<64x64xf32, #tall>
  }
}
