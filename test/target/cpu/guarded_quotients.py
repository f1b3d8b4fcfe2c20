# Addresses with quotients and remainders have a range: the loads are copied only where it overlaps that of the store,
# and the code for the other case has no trace of the copy.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s --target cpu:x86-64-v3 --signature '*fp32,*fp32,64' --emit plan -o - | FileCheck %s
# RUN: nereid compile %s --target cpu:x86-64-v3 --signature '*fp32,*fp32,64' --emit llir -o - | FileCheck %s --check-prefix LLVM
import triton
import triton.language as tl


@triton.jit
def half_rows(x, o, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i // 32 * 64 + i % 32, tl.load(x + i % 4096))


# CHECK: b0 [64] f32 copied
# CHECK: guard load0 copy b0 against 1 store
# CHECK: nest
# CHECK: load0 f32
# CHECK: store f32 at computed addresses
# LLVM-NOT: select i1 {{.*}}, ptr
# LLVM-COUNT-3: load <32 x float>
# LLVM-NOT: load
# LLVM-NOT: select i1 {{.*}}, ptr
