# Results of a warp-group dot reach memory through matrices and vectors of 16 bytes, without bank conflicts.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:matmul --signature '*bf16:16,*bf16:16,*bf16:16,i32:16,i32:16,1,128' --target cuda:90 --num-warps 8 --emit plan -o - | FileCheck %s
# RUN: nereid compile %s:matmul --signature '*bf16:16,*bf16:16,*fp8e4nv:16,i32:16,i32:16,1,128' --target cuda:90 --num-warps 8 --emit plan -o - | FileCheck %s --check-prefix=BYTES
# RUN: nereid compile %s:matmul --signature '*bf16:16,*bf16:16,*bf16:16,i32:16,1,i32:16,128' --target cuda:90 --num-warps 8 --emit plan -o - | FileCheck %s --check-prefix=TRANSPOSED
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, o, k, rows, columns, N: tl.constexpr):
    n = tl.arange(0, N)
    d = tl.arange(0, 64)
    sums = tl.zeros((N, N), dtype=tl.float32)
    for i in range(0, k, 64):
        x = tl.load(a + n[:, None] * k + (i + d)[None, :])
        y = tl.load(b + (i + d)[:, None] * N + n[None, :])
        sums = tl.dot(x, y, sums)
    tl.store(o + n[:, None] * rows + n[None, :] * columns, sums.to(o.dtype.element_ty))


# CHECK: ttg.convert_layout 128x128xbf16 by shared memory within warps, stores: 8 accesses of 4 wavefronts, 0 of them for conflicts, as matrices, loads: 8 accesses of 4 wavefronts, 0 of them for conflicts, #
# CHECK: tt.store 128x128xbf16 in vectors of 16 bytes

# BYTES: ttg.convert_layout 128x128xf8E4M3FN by shared memory within warps, stores: 4 accesses of 4 wavefronts, 0 of them for conflicts, as matrices, loads: 4 accesses of 4 wavefronts, 0 of them for conflicts, #
# BYTES: tt.store 128x128xf8E4M3FN in vectors of 16 bytes

# TRANSPOSED: ttg.convert_layout 128x128xbf16 by shared memory within warps, stores: 8 accesses of 4 wavefronts, 0 of them for conflicts, as transposed matrices, loads: 8 accesses of 4 wavefronts, 0 of them for conflicts, #
# TRANSPOSED: tt.store 128x128xbf16 in vectors of 16 bytes
