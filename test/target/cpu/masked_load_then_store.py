# Registers of a masked load that are masked off as a whole are not loaded: LLVM 22 loads them where it splits the load
# itself, or ends with an error.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:copy --target cpu:x86-64-v3 --signature '*i32,*i32,i32' --emit so,llir -o %t
# RUN: FileCheck %s < %t/copy.llir
# RUN: nereid compile %s:long_mask --target cpu:x86-64-v3 --signature '*fp32,*fp32,i32,24' --emit so -o %t
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n):
    i = tl.arange(0, 8)[:, None]
    j = tl.arange(0, 16)[None, :]
    tile = tl.load(x + i * 100 + j, (i < n) & (j < 6), 0)
    tl.store(y + i * 16 + j, tl.trans(tl.trans(tile)) + tl.sum(tile))


# CHECK-NOT: <16 x i32> @llvm.masked.load
# CHECK: call <8 x i32> @llvm.masked.load
# CHECK-NOT: <16 x i32> @llvm.masked.load


# Each value of a mask is split once, however often others use it.
@triton.jit
def long_mask(x, y, n, K: tl.constexpr):
    i = tl.arange(0, 64)
    m = i < n
    for q in tl.static_range(K):
        m = m ^ (m & ((i * 7 + q) % 5 != 0)) | (m & (i > q))
    tl.store(y + i, tl.load(x + i, m, 0.0), m)
