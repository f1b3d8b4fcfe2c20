# A masked load of AVX2 before a store compiles: a pass of LLVM that fails on such loads is left out.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:copy --target cpu:x86-64-v3 --signature '*i32,*i32,i32' --emit so,asm -o %t
# RUN: FileCheck %s < %t/copy.asm
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n):
    i = tl.arange(0, 8)[:, None]
    j = tl.arange(0, 16)[None, :]
    tile = tl.load(x + i * 100 + j, (i < n) & (j < 6), 0)
    tl.store(y + i * 16 + j, tl.trans(tl.trans(tile)) + tl.sum(tile))


# CHECK: vpmaskmovd
