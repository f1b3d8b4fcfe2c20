# The plan after a step shows what the steps so far have decided.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:total --target cpu:x86-64-v3 --signature '*fp32,*fp32,i32,64' --emit plan.sequence -o - | FileCheck %s --check-prefix=SEQUENCE
# RUN: nereid compile %s:total --target cpu:x86-64-v3 --signature '*fp32,*fp32,i32,64' --emit plan.peel-first-iterations -o - | FileCheck %s --check-prefix=PEEL
# RUN: nereid compile %s:total --target cpu:x86-64-v3 --signature '*fp32,*fp32,i32,64' --emit plan.vectorise -o - | FileCheck %s --check-prefix=VECTORISE
import triton
import triton.language as tl


@triton.jit
def total(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in range(n):
        acc += tl.load(x + i * BLOCK + at)
    tl.store(y + at, acc)


# SEQUENCE: arena 0 bytes
# SEQUENCE-NEXT: nest 0 [64]
# SEQUENCE-NEXT: assign b0
# SEQUENCE-NOT: first iteration
# SEQUENCE-NOT: vector

# PEEL: arena 0 bytes
# PEEL-NEXT: scf.for carries b0
# PEEL-NEXT: nest 1 [64]{{$}}
# PEEL-NEXT: first iteration with constants
# PEEL-NOT: vector

# VECTORISE: arena 0 bytes
# VECTORISE-NEXT: scf.for carries b0
# VECTORISE-NEXT: nest 1 [64] loops (d0) vector d0 x32
