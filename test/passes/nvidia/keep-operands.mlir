// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(nvidia-keep-operands))' | FileCheck %s
// A left operand that a loop does not change stays in registers where instructions have few columns.

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#narrow = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#wide = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Two loops that follow each other share the load.
  // CHECK-LABEL: tt.func @kept
  // CHECK: %[[BUFFER:.*]] = ttg.local_alloc
  // CHECK: %[[A:.*]] = ttg.local_load %[[BUFFER]] : <64x64xf16, #shared, #smem> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
  // CHECK: scf.for
  // CHECK: ttng.warp_group_dot %[[A]],
  // CHECK-NOT: ttg.local_load
  // CHECK: scf.for
  // CHECK: ttng.warp_group_dot %[[A]],
  // CHECK: tt.return
  tt.func @kept(%t: tensor<64x64xf16, #rows>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32) -> (tensor<64x64xf32, #narrow>, tensor<64x64xf32, #narrow>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #narrow>
    %a = ttg.local_alloc %t : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    ttng.fence_async_shared {bCluster = false}
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #narrow>) : i32 {
      %sum = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #narrow>
      scf.yield %sum : tensor<64x64xf32, #narrow>
    }
    %e = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #narrow>) : i32 {
      %sum = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #narrow>
      scf.yield %sum : tensor<64x64xf32, #narrow>
    }
    tt.return %d, %e : tensor<64x64xf32, #narrow>, tensor<64x64xf32, #narrow>
  }

  // Instructions with more columns compute for longer than they read shared memory.
  // CHECK-LABEL: tt.func @wide
  // CHECK-NOT: ttg.local_load
  // CHECK: tt.return
  tt.func @wide(%t: tensor<64x64xf16, #rows>, %b: !ttg.memdesc<64x128xf16, #shared, #smem>, %n: i32) -> tensor<64x128xf32, #wide> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x128xf32, #wide>
    %a = ttg.local_alloc %t : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    ttng.fence_async_shared {bCluster = false}
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x128xf32, #wide>) : i32 {
      %sum = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<64x128xf32, #wide>
      scf.yield %sum : tensor<64x128xf32, #wide>
    }
    tt.return %d : tensor<64x128xf32, #wide>
  }

  // 128 registers of the operand and 128 of the accumulator are too many.
  // CHECK-LABEL: tt.func @crowded
  // CHECK-NOT: ttg.local_load
  // CHECK: tt.return
  tt.func @crowded(%t: tensor<256x128xf16, #rows>, %b: !ttg.memdesc<128x64xf16, #shared, #smem>, %n: i32) -> tensor<256x64xf32, #narrow> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<256x64xf32, #narrow>
    %a = ttg.local_alloc %t : (tensor<256x128xf16, #rows>) -> !ttg.memdesc<256x128xf16, #shared, #smem>
    ttng.fence_async_shared {bCluster = false}
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<256x64xf32, #narrow>) : i32 {
      %sum = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<256x128xf16, #shared, #smem> * !ttg.memdesc<128x64xf16, #shared, #smem> -> tensor<256x64xf32, #narrow>
      scf.yield %sum : tensor<256x64xf32, #narrow>
    }
    tt.return %d : tensor<256x64xf32, #narrow>
  }

  // ptxas does not keep the operand where threads diverge.
  // CHECK-LABEL: tt.func @branch
  // CHECK-NOT: ttg.local_load
  // CHECK: tt.return
  tt.func @branch(%t: tensor<64x64xf16, #rows>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32, %p: !tt.ptr<i32>) -> tensor<64x64xf32, #narrow> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #narrow>
    %a = ttg.local_alloc %t : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    ttng.fence_async_shared {bCluster = false}
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #narrow>) : i32 {
      %isFirst = arith.cmpi eq, %i, %c0 : i32
      scf.if %isFirst {
        tt.store %p, %i : !tt.ptr<i32>
      }
      %sum = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #narrow>
      scf.yield %sum : tensor<64x64xf32, #narrow>
    }
    tt.return %d : tensor<64x64xf32, #narrow>
  }
}
