# Tiles of copied operands of dots are kept for following programs, unless an earlier effect may change what they are.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:product --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,i32,"after"' --emit plan -o - | FileCheck %s
# RUN: nereid compile %s:product --target cpu:x86-64-v4 --signature '*fp16,*fp16,*fp32,i32,"after"' --emit plan -o - | FileCheck %s --check-prefix=WIDENED
# RUN: nereid compile %s:product --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,i32,"hints"' --emit plan -o - | FileCheck %s
# RUN: nereid compile %s:product --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,i32,"after"' --emit plan.lines -o - | FileCheck %s --check-prefix=LINES
# RUN: nereid compile %s:product --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,i32,"before"' --emit plan -o - | FileCheck %s --check-prefix=NONE
# RUN: nereid compile %s:product --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,i32,"volatile"' --emit plan -o - | FileCheck %s --check-prefix=NONE
# RUN: nereid compile %s:product --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,i32,"atomic"' --emit plan -o - | FileCheck %s --check-prefix=NONE
# RUN: nereid compile %s:product --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,i32,"outer"' --emit plan -o - | FileCheck %s --check-prefix=NONE
# RUN: nereid compile %s:product_of_columns --target cpu:znver4 --signature '*bf16,*bf16,*fp32,i32' --emit plan -o - | FileCheck %s --check-prefix=COLUMNS
# RUN: nereid compile %s:product_of_columns --target cpu:znver4 --signature '*bf16,*bf16,*fp32,i32' --emit llir -o - | FileCheck %s --check-prefix=CALLS
# RUN: nereid compile %s:product_of_columns --target cpu:sapphirerapids --signature '*bf16,*bf16,*fp32,i32' --emit plan -o - | FileCheck %s --check-prefix=POSTPONED
# RUN: nereid compile %s:product_of_columns --target cpu:sapphirerapids --signature '*i8,*i8,*i32,i32' --emit plan -o - | FileCheck %s --check-prefix=BYTES
# RUN: nereid compile %s:products_that_are_used --target cpu:sapphirerapids --signature '*bf16,*bf16,*fp32,i32' --emit plan -o - | FileCheck %s --check-prefix=USED
# RUN: nereid compile %s:chain_of_products --target cpu:sapphirerapids --signature '*bf16,*bf16,*fp32,i32' --emit plan -o - | FileCheck %s --check-prefix=CHAIN
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


# CHECK: b[[B:[0-9]+]] [32x64] f32 operand, 256 tiles
# CHECK: [272x3] i64 keys
# CHECK: left out where all of load0
# CHECK-NOT: has the tile
# CHECK: left out where b[[B]] has the tile of s

# LINES: an operand is copied once for programs in succession

# WIDENED: [64x32] f32 operand, 256 tiles
# WIDENED: [32x64] f32 operand, 256 tiles

# NONE-NOT: tiles
# NONE-NOT: has the tile
# NONE: dot [64x32] by [32x64]


@triton.jit
def product_of_columns(a, b, c, k):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)[:, None]
    j = tl.program_id(1) * 64 + tl.arange(0, 64)[None, :]
    depth = tl.arange(0, 64)
    total = tl.zeros((64, 64), c.dtype.element_ty)
    for first in range(0, k, 64):
        x = tl.load(a + i + (first + depth[None, :]) * 4096)
        y = tl.load(b + (first + depth[:, None]) * 4096 + j)
        total = tl.dot(x, y, total, out_dtype=total.dtype)
    tl.store(c + i * 4096 + j, total)


# The left operand is transposed on its way into the tile that is kept; the right one has its shape and another nest.
# COLUMNS: b[[A:[0-9]+]] [64x64] bf16 operand, 256 tiles
# COLUMNS: b[[COPY:[0-9]+]] [64x64] bf16 operand{{$}}
# COLUMNS: b[[B:[0-9]+]] [64x64] bf16 packed, 256 tiles
# COLUMNS: b[[STAGED:[0-9]+]] [64x64] bf16 staged
# COLUMNS: left out where b[[A]] has the tile of s
# COLUMNS: assign b[[STAGED]] transposed into b[[A]]
# COLUMNS: left out where b[[B]] has the tile of s
# COLUMNS: assign b[[COPY]]
# COLUMNS: dot [64x64] by [64x64] of b[[A]] and b[[COPY]]

# The library chooses the tile and compares its key.
# CALLS: %[[FOUND:.*]] = {{.*}}call {{.*}}i64 @nereid_kept_tile(
# CALLS: trunc i64 %[[FOUND]] to i1

# Both operands are there until the dots of some iterations are done at once.
# POSTPONED: dot {{.*}} in tiles, 4 iterations at once
# BYTES: dot {{.*}} in tiles, 4 iterations at once


@triton.jit
def products_that_are_used(a, b, c, k):
    at = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    total, sums = tl.zeros((64, 64), tl.float32), tl.zeros((64,), tl.float32)
    for step in range(k):
        total = tl.dot(tl.load(a + step * 4096 + at), tl.load(b + step * 4096 + at), total)
        sums += tl.sum(total, 0)
    tl.store(c + at, total + sums)


# USED: has the tile of
# USED: dot
# USED-NOT: iterations at once
# USED: nest


@triton.jit
def chain_of_products(a, b, c, k):
    at = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    total = tl.zeros((64, 64), tl.float32)
    for step in range(k):
        total = tl.dot(tl.load(a + step * 4096 + at), tl.load(b + step * 4096 + at), total)
        total = tl.dot(tl.load(a + step * 8192 + at), tl.load(b + step * 8192 + at), total)
    tl.store(c + at, total)


# Additions keep their order: the first dot does not wait while the second one is done.
# CHAIN-COUNT-2: has the tile of
# CHAIN: dot
# CHAIN-NOT: iterations at once
# CHAIN: nest
