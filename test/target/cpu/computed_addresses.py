# Loads from computed addresses are gathers; where gathers are microcoded, scalar loads.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:take --target cpu:x86-64-v4 --signature '*fp32,*i64,*fp32,1024' --emit asm -o - | FileCheck %s --check-prefix=GATHER
# RUN: nereid compile %s:take --target cpu:znver5 --signature '*fp32,*i64,*fp32,1024' --emit asm -o - | FileCheck %s --check-prefix=SCALAR
# RUN: nereid compile %s:take --target cpu:znver5 --signature '*fp16,*i64,*fp16,1024' --emit asm -o - | FileCheck %s --check-prefix=SCALAR
import triton
import triton.language as tl


@triton.jit
def take(x, at, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + tl.load(at + i)))


# GATHER: vgather
# SCALAR-LABEL: {{^}}take:
# SCALAR-NOT: vgather
