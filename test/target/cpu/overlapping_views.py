# The reversed store may overwrite elements that are read later: no overlap is harmless to the guard.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s --target cpu:x86-64-v3 --signature '*i32,*i32,64' --emit plan -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def reverse(x, o, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(o + (BLOCK - 1) - at, tl.load(x + at))


# CHECK: b0 [64] i32 copied
# CHECK: guard load0 copy b0 against 1 store
# CHECK-NOT: harmless
# CHECK: nest
# CHECK: load0 i32 arg0 + 0 strides (4)
# CHECK: store i32 {{.*}} strides (-4)
