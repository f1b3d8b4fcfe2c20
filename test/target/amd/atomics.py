# Atomic additions of floats are instructions, not loops of compare and swap; scopes are AMD's.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:add --signature '*fp32:16,*fp32:16,1024' --target hip:gfx942 --emit llir,amdgcn -o %t && FileCheck %s --input-file %t/add.amdgcn && FileCheck %s --check-prefix=IR --input-file %t/add.llir
import triton
import triton.language as tl


@triton.jit
def add(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(o + i, tl.load(x + i), sem="relaxed")


# CHECK-NOT: atomic_cmpswap
# CHECK: global_atomic_add_f32
# IR: atomicrmw fadd {{.*}} syncscope("agent") monotonic
