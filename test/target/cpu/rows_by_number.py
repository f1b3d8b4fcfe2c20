# Rows that are chosen by numbers from memory are added up in whole vectors along the rows, not gathered element by element.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s --target cpu:x86-64-v4 --signature '*fp32,*i64,*fp32,128' --emit plan -o - | FileCheck %s
# RUN: nereid compile %s --target cpu:x86-64-v4 --signature '*fp32,*i64,*fp32,128' --emit asm -o - | FileCheck %s --check-prefix ASM
import triton
import triton.language as tl


@triton.jit
def sum_of_rows(table, at, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    k = tl.arange(0, 16)[None, :]
    row = tl.load(at + i // 64 * 16 + k)
    tl.store(out + i, tl.sum(tl.load(table + row * 64 + i % 64), 1)[:, None])


# CHECK: nest 0 [128x16] loops (d0, d1) vector d0 x64
# CHECK: reduce axis 1 by arith.addf
# ASM: vaddps {{.*}}zmm
# ASM-NOT: vgather
