# What became of each line of a matrix multiplication, by wgmma and by mma.sync, and the schedule of its loop.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s --signature '*bf16:16,*bf16:16,*fp32:16,i32:16,128,128,64' --target cuda:90 --num-warps 8 --emit plan.lines -o - | FileCheck %s
# RUN: nereid compile %s --signature '*bf16:16,*bf16:16,*fp32:16,i32:16,128,128,64' --target cuda:80 --num-warps 8 --emit plan.lines -o - | FileCheck %s --check-prefix=WARP
# RUN: nereid compile %s --signature '*bf16:16,*bf16:16,*fp32:16,i32:16,32,64,64' --target cuda:90 --emit plan.lines -o - | FileCheck %s --check-prefix=ROWS
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, o, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    d = tl.arange(0, K)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for i in range(0, k, K):
        x = tl.load(a + m[:, None] * k + (i + d)[None, :])
        y = tl.load(b + (i + d)[:, None] * N + n[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(o + m[:, None] * N + n[None, :], acc)


# CHECK: matmul for sm_90a, 8 warps, 98304 bytes of shared memory
# CHECK: {{.*}}explain_matmul.py
# CHECK:     16      for i in range(0, k, K):
# CHECK:         - pipelined: loads run up to 2 iterations ahead
# CHECK:         - layout of 128x128xf32 converted through 65536 bytes of shared memory; ~1024 cycles of shared memory
# CHECK:         - barrier between the threads' accesses
# CHECK:         - all warps do the same, none only loads: it has no two dots, the second of which multiplies what is computed from the first, with one load for each [warps-alike]
# CHECK:     17          x = tl.load(a + m[:, None] * k + (i + d)[None, :])
# CHECK:         - copy of 128x64xbf16 in vectors of 16 bytes, asynchronous (cp.async), to 3 buffers in shared memory (3 times in the code); ~342 cycles of memory copies
# CHECK:         - barrier between the threads' accesses
# CHECK:         - arithmetic on tiles; ~130 cycles of FMA/ALU
# CHECK:     18          y = tl.load(b + (i + d)[:, None] * N + n[None, :])
# CHECK:         - copy of 64x128xbf16 in vectors of 16 bytes, asynchronous (cp.async), to 3 buffers in shared memory (3 times in the code); ~342 cycles of memory copies
# CHECK:         - arithmetic on tiles; ~128 cycles of FMA/ALU
# CHECK:     19          acc = tl.dot(x, y, acc)
# CHECK:         - dot of 128x64xbf16 and 64x128xbf16, by wgmma m64n128k16, both operands from shared memory, asynchronous; ~512 cycles of tensor cores
# CHECK:         - barrier between the threads' accesses
# CHECK:     20      tl.store(o + m[:, None] * N + n[None, :], acc)
# CHECK:         - store of 128x128xf32 in vectors of 16 bytes; ~1366 cycles of memory copies
# CHECK:         - arithmetic on tiles; ~130 cycles of FMA/ALU
# CHECK: loop at line 16: an iteration takes ~684 cycles, loads run up to 2 iterations ahead; 2 iterations, 19 cycles a column
# CHECK:   all warps   tensor cores      |{{.*}}|
# CHECK:   all warps   memory copies     |{{.*}}|
# CHECK:   all warps   FMA/ALU           |{{.*}}|
# CHECK:   tensor cores: ~512 cycles of an iteration, 74 %
# CHECK:   memory copies: ~684 cycles of an iteration, 100 %
# CHECK:   FMA/ALU: ~128 cycles of an iteration, 18 %

# WARP: matmul for sm_80, 8 warps, 98304 bytes of shared memory
# WARP: {{.*}}explain_matmul.py
# WARP:     16      for i in range(0, k, K):
# WARP:         - pipelined: loads run up to 2 iterations ahead
# WARP:         - layout of 128x128xf32 converted through 32768 bytes of shared memory; ~1024 cycles of shared memory
# WARP:         - barrier between the threads' accesses
# WARP:     17          x = tl.load(a + m[:, None] * k + (i + d)[None, :])
# WARP:         - copy of 128x64xbf16 in vectors of 16 bytes, asynchronous (cp.async), to 3 buffers in shared memory (3 times in the code); ~342 cycles of memory copies
# WARP:         - read of 128x64xbf16 from shared memory by ldmatrix; ~256 cycles of shared memory
# WARP:         - barrier between the threads' accesses
# WARP:         - arithmetic on tiles; ~264 cycles of FMA/ALU
# WARP:     18          y = tl.load(b + (i + d)[:, None] * N + n[None, :])
# WARP:         - copy of 64x128xbf16 in vectors of 16 bytes, asynchronous (cp.async), to 3 buffers in shared memory (3 times in the code); ~342 cycles of memory copies
# WARP:         - read of 64x128xbf16 from shared memory by ldmatrix; ~512 cycles of shared memory
# WARP:         - arithmetic on tiles; ~260 cycles of FMA/ALU
# WARP:     19          acc = tl.dot(x, y, acc)
# WARP:         - dot of 128x64xbf16 and 64x128xbf16, by mma.sync, operands from registers; ~1024 cycles of tensor cores
# WARP:     20      tl.store(o + m[:, None] * N + n[None, :], acc)
# WARP:         - store of 128x128xf32 in vectors of 16 bytes; ~1366 cycles of memory copies
# WARP:         - arithmetic on tiles; ~260 cycles of FMA/ALU
# WARP: loop at line 16: an iteration takes ~2052 cycles, loads run up to 2 iterations ahead; 2 iterations, 57 cycles a column
# WARP:   all warps   tensor cores      |{{.*}}|
# WARP:   all warps   memory copies     |{{.*}}|
# WARP:   all warps   shared memory     |{{.*}}|
# WARP:   all warps   FMA/ALU           |{{.*}}|
# WARP:   tensor cores: ~1024 cycles of an iteration, 49 %
# WARP:   memory copies: ~684 cycles of an iteration, 33 %
# WARP:   shared memory: ~768 cycles of an iteration, 37 %
# WARP:   FMA/ALU: ~260 cycles of an iteration, 12 %

# ROWS:         - dot of 32x64xbf16 and 64x64xbf16, by mma.sync, operands from registers; ~128 cycles of tensor cores
# ROWS:           reason: wgmma takes 64 rows at a time, the dot has 32
