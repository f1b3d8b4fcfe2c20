# The first iteration writes a carried tile that begins as a constant; zeros are written only if there is no iteration.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:total --target cpu:x86-64-v3 --signature '*fp32,*fp32,i32,64' --emit plan -o - | FileCheck %s --check-prefix=TOTAL
# RUN: nereid compile %s:read_twice --target cpu:x86-64-v3 --signature '*fp32,*fp32,i32,64' --emit plan -o - | FileCheck %s --check-prefix=TWICE
import triton
import triton.language as tl


@triton.jit
def total(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in range(n):
        acc += tl.load(x + i * BLOCK + at)
    tl.store(y + at, acc)


# TOTAL-NOT: nest
# TOTAL: scf.for carries b0
# TOTAL-NEXT: nest
# TOTAL-NEXT: first iteration with constants
# TOTAL: assign b0
# TOTAL: where it has no iteration
# TOTAL-NEXT: nest
# TOTAL-NEXT: assign b0


@triton.jit
def read_twice(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in range(n):
        tl.store(y + tl.sum(acc).to(tl.int32), 1.0)
        acc += tl.load(x + i * BLOCK + at)
    tl.store(y + at, acc)


# Another nest reads the tile too: it is zeroed before the loop.
# TWICE: assign b0
# TWICE: scf.for carries b0
# TWICE-NOT: first iteration
# TWICE-NOT: where it has no iteration
