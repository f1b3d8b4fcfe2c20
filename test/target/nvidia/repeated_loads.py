# Elements of a thread that load one address, such as a channel's scale, load it once.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:scaled --signature '*fp32:16,*fp32:16,*fp32:16,i32:16,1024' --target cuda:90 --emit ptx -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def scaled(x, s, o, size, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = i < size
    scales = tl.load(s + i // size, mask=mask, other=1.0)
    tl.store(o + i, tl.load(x + i, mask=mask) * scales, mask=mask)


# CHECK-COUNT-2: div.s32
# CHECK-NOT: div.s32
# CHECK-COUNT-2: ld.global.b32
# CHECK-NOT: ld.global.b32
