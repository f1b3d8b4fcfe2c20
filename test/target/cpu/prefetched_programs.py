# What the next program reads is prefetched where the processor would begin too late.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:copy --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,1024' --emit llir -o - | FileCheck %s --check-prefix=ONCE
# RUN: nereid compile %s:copy --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,4096' --emit llir -o - | FileCheck %s --check-prefix=ONCE
# RUN: nereid compile %s:shares --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,1024' --emit llir -o - | FileCheck %s --check-prefix=TWICE
# RUN: nereid compile %s:shares --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,4096' --emit llir -o - | FileCheck %s --check-prefix=LONG
# RUN: nereid compile %s:shares --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,1024' --emit plan -o - | FileCheck %s --check-prefix=PLAN
import triton
import triton.language as tl


@triton.jit
def copy(x, y, columns, BX: tl.constexpr):
    at = tl.program_id(0) * columns + tl.arange(0, BX)
    tl.store(y + at, tl.load(x + at))


# A row that one nest reads is left to the processor, which follows adjacent lines.
# ONCE-NOT: llvm.prefetch


@triton.jit
def shares(x, y, columns, BX: tl.constexpr):
    at = tl.program_id(0) * columns + tl.arange(0, BX)
    row = tl.load(x + at)
    tl.store(y + at, row / tl.sum(row, 0))


# Of two nests that read a short row, the last one prefetches the next program's; longer rows are left to the processor.
# TWICE-NOT: llvm.prefetch
# TWICE: fadd
# TWICE-NOT: fdiv
# TWICE: call void @llvm.prefetch.p0(ptr %{{.*}}, i32 0, i32 2, i32 1)
# TWICE: fdiv
# LONG-NOT: llvm.prefetch

# The plan says what is prefetched, and where.
# PLAN: reduce
# PLAN: nest [[LAST:[0-9]+]] [1024]
# PLAN: store f32
# PLAN: prefetch load0 of the next program, 4*arg2 bytes on, in nest [[LAST]]
