// RUN: nereid-opt %s --pass-pipeline='builtin.module(tt.func(ttg-pipeline-loops))' | FileCheck %s
// A dot whose accumulator only the next iteration's dot uses stays in flight while the threads start copies.

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @carried
  // CHECK: %[[BUFFERS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
  // CHECK: %[[LOOP:.*]]:{{.*}} = scf.for
  // CHECK: ttg.async_wait {num = 1 : i32}
  // CHECK-NOT: ttng.fence_async_shared
  // CHECK: %[[D:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: ttng.warp_group_dot_wait %[[D]], {{.*}} {pendings = 1 : i32}
  // CHECK: ttg.async_copy_global_to_local
  // CHECK-NOT: ttng.fence_async_shared
  // CHECK: scf.yield
  // CHECK: ttng.warp_group_dot_wait {{.*}}, %[[BUFFERS]] {pendings = 0 : i32}
  // CHECK-NEXT: ttg.async_wait {num = 0 : i32}
  // CHECK-NEXT: ttg.local_dealloc %[[BUFFERS]]
  tt.func @carried(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %e = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %o = tt.broadcast %e : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %s = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    %p = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %t = tt.load %p : tensor<64x64x!tt.ptr<f16>, #rows>
      %a = ttg.local_alloc %t : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      ttng.fence_async_shared {bCluster = false}
      %sum = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %sum : tensor<64x64xf32, #mma>
    }
    tt.return %d : tensor<64x64xf32, #mma>
  }

  // An accumulator with other users is waited for at once.
  // CHECK-LABEL: tt.func @read
  // CHECK: ttg.async_copy_global_to_local
  // CHECK-NOT: isAsync
  // CHECK: tt.return
  tt.func @read(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %e = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %o = tt.broadcast %e : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %s = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    %p = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %t = tt.load %p : tensor<64x64x!tt.ptr<f16>, #rows>
      %a = ttg.local_alloc %t : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      ttng.fence_async_shared {bCluster = false}
      %sum = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %twice = arith.addf %sum, %sum : tensor<64x64xf32, #mma>
      scf.yield %twice : tensor<64x64xf32, #mma>
    }
    tt.return %d : tensor<64x64xf32, #mma>
  }

  // The last dot of an iteration runs beside the first one of the next, whose copies wait for it.
  // CHECK-LABEL: tt.func @chained
  // CHECK: %[[BUFFERS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
  // CHECK: scf.for {{.*}} iter_args(
  // CHECK: ttg.async_wait {num = 0 : i32}
  // CHECK: %[[S:.*]] = ttng.warp_group_dot %{{.*}}isAsync = true
  // CHECK: %[[ACC:.*]]:2 = ttng.warp_group_dot_wait %{{.*}}, %[[BUFFERS]] {pendings = 1 : i32}
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: %[[T:.*]]:3 = ttng.warp_group_dot_wait %[[S]], {{.*}} {pendings = 0 : i32}
  // CHECK: arith.truncf %[[T]]#0
  // CHECK: ttng.warp_group_dot {{.*}}, %[[ACC]]#0 {{.*}}isAsync = true
  // CHECK-NOT: ttng.warp_group_dot_wait
  // CHECK: scf.yield
  // CHECK: ttng.warp_group_dot_wait {{.*}}, %[[BUFFERS]] {pendings = 0 : i32}
  tt.func @chained(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %e = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %o = tt.broadcast %e : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %s = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    %p = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %t = tt.load %p : tensor<64x64x!tt.ptr<f16>, #rows>
      %a = ttg.local_alloc %t : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      ttng.fence_async_shared {bCluster = false}
      %first = ttng.warp_group_dot %b, %a, %zero : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %narrow = arith.truncf %first : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %left = ttg.convert_layout %narrow : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      %sum = ttng.warp_group_dot %left, %a, %acc : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %sum : tensor<64x64xf32, #mma>
    } {tt.num_stages = 2 : i32}
    tt.return %d : tensor<64x64xf32, #mma>
  }
}
