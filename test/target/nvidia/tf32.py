# The tensor core truncates operands to tf32, in mma.sync and wgmma alike; the parts of tf32x3 are rounded.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:matmul --signature "*fp32:16,*fp32:16,*fp32:16,16,'tf32'" --target cuda:90 --num-warps 1 --emit ptx -o - | FileCheck %s --check-prefix=WARP
# RUN: nereid compile %s:matmul --signature "*fp32:16,*fp32:16,*fp32:16,64,'tf32'" --target cuda:90 --emit ptx -o - | FileCheck %s --check-prefix=GROUP
# RUN: nereid compile %s:matmul --signature "*fp32:16,*fp32:16,*fp32:16,16,'tf32x3'" --target cuda:90 --num-warps 1 --emit ptx -o - | FileCheck %s --check-prefix=PARTS

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, M: tl.constexpr, PRECISION: tl.constexpr):
    # WARP-NOT: cvt.rna.tf32
    # WARP: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
    # WARP-NOT: cvt.rna.tf32
    # GROUP-NOT: cvt.rna.tf32
    # GROUP: wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32
    # GROUP-NOT: cvt.rna.tf32
    # PARTS: cvt.rna.tf32
    # PARTS: mma.sync
    m, n, k = tl.arange(0, M), tl.arange(0, 32), tl.arange(0, 32)
    x = tl.load(a + m[:, None] * 32 + k[None, :])
    y = tl.load(b + k[:, None] * 32 + n[None, :])
    tl.store(c + m[:, None] * 32 + n[None, :], tl.dot(x, y, input_precision=PRECISION))
