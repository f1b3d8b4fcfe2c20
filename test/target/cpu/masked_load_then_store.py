# Registers of a masked load that are masked off as a whole are not loaded: LLVM 22 loads them where it splits the load
# itself, or ends with an error.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:copy --target cpu:x86-64-v3 --signature '*i32,*i32,i32' --emit so,llir -o %t
# RUN: FileCheck %s < %t/copy.llir
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
