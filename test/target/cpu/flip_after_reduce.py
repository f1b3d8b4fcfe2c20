# In place: the reduction reads memory; the flip after it reads the values from before its own stores.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s --target cpu:x86-64-v3 --signature '*fp32,64' --emit plan -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def flip(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.store(x + (BLOCK - 1) - at, v / tl.sum(v, axis=0))


# CHECK: b0 [64] f32 copied
# CHECK: reduce axis 0 by arith.addf
# CHECK: guard load0 copy b0 against 1 store
# CHECK: nest
# CHECK: store f32 {{.*}} strides (-4)
