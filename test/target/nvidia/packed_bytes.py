# Bytes are unpacked and converted as words: no conversion of single integers, two subtractions a word.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:weights --signature '*i8:16,*fp16:16,i32' --target cuda:90 --emit ptx -o - | FileCheck %s
# RUN: nereid compile %s:weights --signature '*i8:16,*bf16:16,i32' --target cuda:90 --emit ptx -o - | FileCheck %s --check-prefix=BF16
import triton
import triton.language as tl


@triton.jit
def weights(x, y, n):
    at = tl.arange(0, 512)
    q = tl.load(x + at)
    for i in range(n):
        tl.store(y + i * 1024 + at, ((q & 15) - 8).to(y.dtype.element_ty))
        tl.store(y + i * 1024 + 512 + at, (q >> 4).to(y.dtype.element_ty))
        q = tl.load(x + i * 512 + 512 + at)


# CHECK-NOT: cvt.rn.f16
# CHECK-COUNT-4: {{(sub|add)(.rn)?}}.f16x2
# CHECK-NOT: cvt.rn.f16

# BF16-NOT: cvt.rn.bf16
# BF16-COUNT-4: {{(sub|add|fma)(.rn)?}}.bf16x2
# BF16-NOT: cvt.rn.bf16
