# The plan of a loop with dots: vectors, the order of an iteration, stages in shared memory, 16-byte stores, barriers.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:matmul --signature '*bf16:16,*bf16:16,*fp32:16,i32:16,128,128,64' --target cuda:90 --num-warps 8 --emit plan -o - | FileCheck %s
# RUN: nereid compile %s:matmul --signature '*bf16:16,*bf16:16,*fp32:16,i32:16,128,128,64' --target cuda:80 --num-warps 8 --emit plan -o - | FileCheck %s --check-prefix=WARP
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, o, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    d = tl.arange(0, K)
    sums = tl.zeros((M, N), dtype=tl.float32)
    for i in range(0, k, K):
        x = tl.load(a + m[:, None] * k + (i + d)[None, :])
        y = tl.load(b + (i + d)[:, None] * N + n[None, :])
        sums = tl.dot(x, y, sums)
    tl.store(o + m[:, None] * N + n[None, :], sums)


# CHECK: kernel matmul, 8 warps
# CHECK: layouts, by line
# CHECK: 16  ttg.async_copy_global_to_local 128x64xbf16 in vectors of 16 bytes, #ttg.blocked<
# CHECK: 18  ttng.warp_group_dot 128x128xf32, #ttg.nvidia_mma<{versionMajor = 3
# CHECK: 19  tt.store 128x128xf32 in vectors of 16 bytes

# CHECK: loop at line 15: loads run up to 2 iterations ahead; an iteration
# CHECK-NEXT: ttg.async_wait until 1 are pending
# CHECK-NEXT: ttng.warp_group_dot asynchronously
# CHECK-NEXT: ttng.warp_group_dot_wait until 1 are pending
# CHECK-NEXT: 16  ttg.async_copy_global_to_local
# CHECK-NEXT: 17  ttg.async_copy_global_to_local
# CHECK-NEXT: ttg.async_commit_group

# CHECK: shared memory, 98304 bytes
# CHECK-DAG: ttg.local_alloc 3x128x64xbf16, #ttg.nvmma_shared<
# CHECK-DAG: ttg.local_alloc 3x64x128xbf16, #ttg.nvmma_shared<
# CHECK: barriers, 3: within ops 0, written by hand 0, between ops 3

# WARP: ttg.local_load 128x64xbf16 by {{.*}}, 0 of them for conflicts, as matrices
# WARP: ttg.local_load 64x128xbf16 by {{.*}}, 0 of them for conflicts, as transposed matrices
# WARP: loop at line 15: loads run up to 2 iterations ahead; an iteration
# WARP-NEXT: ttg.async_wait until 1 are pending
# WARP-NEXT: ttg.async_copy_global_to_local
# WARP: tt.dot
# WARP: ttg.local_alloc 3x128x64xbf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
