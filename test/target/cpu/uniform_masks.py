# A mask with one value in each chunk of lanes is computed once for the chunk, which is read whole or not at all.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s --target cpu:x86-64-v4 --signature '*bf16,*bf16,*bf16,1024,32' --emit plan -o - | FileCheck %s --check-prefix=PLAN
# RUN: nereid compile %s --target cpu:x86-64-v4 --signature '*bf16,*bf16,*bf16,1024,32' --emit llir -o - | FileCheck %s
# RUN: nereid compile %s --target cpu:x86-64-v4 --signature '*bf16,*bf16,*bf16,1024,20' --emit llir -o - | FileCheck %s --check-prefix=ODD
import triton
import triton.language as tl


@triton.jit
def joined(x, y, z, BLOCK: tl.constexpr, FIRST: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row, column = i // 64, (i % 64).to(tl.int64)
    left = tl.load(x + row * 32 + column, column < FIRST, 0)
    right = tl.load(y + row * 32 + column - FIRST, column >= FIRST, 0)
    tl.store(z + i, tl.where(column < FIRST, left, right))


# PLAN: vector d0 x32

# CHECK-NOT: masked
# CHECK-NOT: <{{[0-9]+}} x i64>
# CHECK: load <32 x i16>
# CHECK-NOT: masked
# CHECK-NOT: <{{[0-9]+}} x i64>

# ODD: masked
