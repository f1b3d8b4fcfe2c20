// RUN: nereid-opt %s --test-print-shared-plan --verify-diagnostics -o /dev/null
// A dot without a matrix instruction reads its operands from shared memory: barriers order these reads, which are not
// complete at the loads. One with a matrix instruction takes registers.

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The second buffer of 4096 bytes is at the place of the first.
  // expected-remark @+1 {{shared memory of 12288 bytes}}
  tt.func public @fma(%x: tensor<32x32xf32, #rows>, %c: tensor<32x32xf32, #rows>) -> tensor<32x32xf32, #rows> {
    // expected-remark @+1 {{bytes [0, 4096)}}
    %a = ttg.local_alloc %x : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    ttg.barrier local
    // expected-remark @+1 {{bytes [4096, 8192)}}
    %b = ttg.local_alloc %x : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    // No barrier is needed here, and the one for %b is at the dot, which still reads %a after it.
    %ya = ttg.local_load %a : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #ttg.dot_op<{opIdx = 0, parent = #rows}>>
    %yb = ttg.local_load %b : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #ttg.dot_op<{opIdx = 1, parent = #rows}>>
    // expected-remark @+1 {{after a barrier}}
    %d = tt.dot %ya, %yb, %c : tensor<32x32xf32, #ttg.dot_op<{opIdx = 0, parent = #rows}>> * tensor<32x32xf32, #ttg.dot_op<{opIdx = 1, parent = #rows}>> -> tensor<32x32xf32, #rows>
    // expected-remark @+1 {{bytes [0, 4096) after a barrier}}
    %e = ttg.local_alloc %d : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    // expected-remark @+1 {{after a barrier}}
    %z = ttg.local_load %e : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    tt.return %z : tensor<32x32xf32, #rows>
  }

  // expected-remark @+1 {{shared memory of 12288 bytes}}
  tt.func public @mma(%x: tensor<32x32xf16, #rows>, %c: tensor<32x32xf32, #mma>, %n: tensor<32x32xf16, #mma>) -> tensor<32x32xf32, #mma> {
    // expected-remark @+1 {{bytes}}
    %a = ttg.local_alloc %x : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    ttg.barrier local
    // expected-remark @+1 {{bytes}}
    %b = ttg.local_alloc %x : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    %ya = ttg.local_load %a : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    // expected-remark @+1 {{after a barrier}}
    %yb = ttg.local_load %b : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
    %d = tt.dot %ya, %yb, %c : tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<32x32xf32, #mma>
    tt.return %d : tensor<32x32xf32, #mma>
  }
}
