# A tile whose columns are contiguous in memory is kept by columns, and its nests run along them.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:column_sums --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,i32,64,4' --emit plan -o - | FileCheck %s --check-prefix=COLUMNS
# RUN: nereid compile %s:row_sums --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,i32,64,4' --emit plan -o - | FileCheck %s --check-prefix=ROWS
# RUN: nereid compile %s:column_sums --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,i32,64,4' --emit asm -o - | FileCheck %s --check-prefix=ASM
import triton
import triton.language as tl


@triton.jit
def column_sums(x, y, columns, rows, BX: tl.constexpr, BR: tl.constexpr):
    i = tl.program_id(0) * BX + tl.arange(0, BX)[:, None]
    total = tl.zeros((BX, BR), tl.float32)
    for start in range(0, rows, BR):
        j = start + tl.arange(0, BR)[None, :]
        total += tl.load(x + i + columns * j, (i < columns) & (j < rows), 0.0)
    tl.store(y + i, tl.sum(total, 1)[:, None], i < columns)


# COLUMNS: b0 [64x4] f32 carried d0 innermost
# COLUMNS: loops (d1, d0) vector d0 x64
# COLUMNS: load0
# COLUMNS: assign b0
# The sum's loop is the innermost: a lane for each column.
# COLUMNS: loops (d0, d1) vector d0 x64
# COLUMNS-NEXT: read b0
# COLUMNS-NEXT: reduce axis 1

# ASM-NOT: vgather
# ASM: vaddps {{.*}}zmm


@triton.jit
def row_sums(x, y, columns, rows, BX: tl.constexpr, BR: tl.constexpr):
    i = tl.program_id(0) * BX + tl.arange(0, BX)[:, None]
    total = tl.zeros((BX, BR), tl.float32)
    for start in range(0, columns, BR):
        j = start + tl.arange(0, BR)[None, :]
        total += tl.load(x + i * columns + j, (i < rows) & (j < columns), 0.0)
    tl.store(y + i, tl.sum(total, 1)[:, None], i < rows)


# ROWS: b0 [64x4] f32 carried{{$}}
