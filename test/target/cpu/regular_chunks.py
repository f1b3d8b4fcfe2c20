# Quotients and remainders of an index are computed once for a chunk of lanes; its elements are adjacent in memory.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:interleaved --target cpu:x86-64-v4 --signature '*fp32,*fp32,1024,768' --emit plan -o - | FileCheck %s --check-prefix=PLAN
# RUN: nereid compile %s:interleaved --target cpu:x86-64-v4 --signature '*fp32,*fp32,1024,768' --emit llir -o - | FileCheck %s
# RUN: nereid compile %s:interleaved --target cpu:x86-64-v4 --signature '*fp32,*fp32,1024,56' --emit plan -o - | FileCheck %s --check-prefix=EIGHT
# RUN: nereid compile %s:interleaved --target cpu:x86-64-v4 --signature '*fp32,*fp32,1024,56' --emit llir -o - | FileCheck %s
# RUN: nereid compile %s:interleaved --target cpu:x86-64-v4 --signature '*fp32,*fp32,1024,7' --emit llir -o - | FileCheck %s --check-prefix=ODD
# RUN: nereid compile %s:rows_by_number --target cpu:x86-64-v4 --signature '*i64,*fp32,*fp32,1024,256' --emit llir -o - | FileCheck %s
# RUN: nereid compile %s:greatest --target cpu:x86-64-v4 --signature '*i64,*i64,1024,256' --emit plan -o - | FileCheck %s --check-prefix=EQUAL
# RUN: nereid compile %s:greatest --target cpu:x86-64-v4 --signature '*i64,*i64,1024,7' --emit plan -o - | FileCheck %s --check-prefix=DIFFERENT
import triton
import triton.language as tl


@triton.jit
def interleaved(x, y, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i // WIDTH * 1280 + i % WIDTH, tl.load(x + i))


@triton.jit
def rows_by_number(numbers, x, y, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(numbers + i // WIDTH)
    tl.store(y + i, tl.load(x + row * WIDTH + i % WIDTH))


@triton.jit
def greatest(numbers, y, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + tl.program_id(0), tl.max(tl.load(numbers + i // WIDTH), 0))


# PLAN: loops (d0) vector d0 x{{(16|32|64)}}
# EIGHT: loops (d0) vector d0 x8

# CHECK-NOT: gather
# CHECK-NOT: lanes:
# CHECK: ret void

# ODD: lanes:

# EQUAL: vector d0 x1, one of 256 equal elements
# DIFFERENT: vector d0
# DIFFERENT-NOT: equal elements
