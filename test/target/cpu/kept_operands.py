# Tiles of copied operands of dots are kept for following programs, unless an earlier effect may change what they are.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,i32,"after"' --emit plan -o - | FileCheck %s
# RUN: nereid compile %s --target cpu:x86-64-v4 --signature '*fp16,*fp16,*fp32,i32,"after"' --emit plan -o - | FileCheck %s --check-prefix=WIDENED
# RUN: nereid compile %s --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,i32,"hints"' --emit plan -o - | FileCheck %s
# RUN: nereid compile %s --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,i32,"after"' --emit plan.lines -o - | FileCheck %s --check-prefix=LINES
# RUN: nereid compile %s --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,i32,"before"' --emit plan -o - | FileCheck %s --check-prefix=NONE
# RUN: nereid compile %s --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,i32,"volatile"' --emit plan -o - | FileCheck %s --check-prefix=NONE
# RUN: nereid compile %s --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,i32,"atomic"' --emit plan -o - | FileCheck %s --check-prefix=NONE
# RUN: nereid compile %s --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,i32,"outer"' --emit plan -o - | FileCheck %s --check-prefix=NONE
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, k, EFFECT: tl.constexpr):
    i, j = (
        tl.program_id(0) * 64 + tl.arange(0, 64)[:, None],
        tl.program_id(1) * 64 + tl.arange(0, 64)[None, :],
    )
    depth = tl.arange(0, 32)
    if EFFECT == "before":
        tl.store(c, 1.0)
    elif EFFECT == "hints":
        tl.assume(k > 0)
        tl.debug_barrier()
    elif EFFECT == "volatile":
        while tl.load(c, volatile=True) == 0:
            pass
    elif EFFECT == "atomic":
        tl.atomic_add(c, 1.0)
    for _ in range(2 if EFFECT == "outer" else 1):
        total = tl.zeros((64, 64), tl.float32)
        for first in range(0, k, 32):
            x = tl.load(a + i * k + first + depth[None, :])
            y = tl.load(b + (first + depth[:, None]) * 4096 + j)
            total = tl.dot(x, y, total)
        tl.store(c + i * 4096 + j, total)


# CHECK: b[[B:[0-9]+]] [32x64] f32 operand, 64 tiles
# CHECK: [64x3] i64 keys
# CHECK: left out where all of load0
# CHECK-NOT: has the tile
# CHECK: left out where b[[B]] has the tile of s

# LINES: an operand is copied once for programs in succession

# Two operands share the memory for tiles.
# WIDENED: [64x32] f32 operand, 32 tiles
# WIDENED: [32x64] f32 operand, 32 tiles

# NONE-NOT: tiles
# NONE-NOT: has the tile
# NONE: dot [64x32] by [32x64]
