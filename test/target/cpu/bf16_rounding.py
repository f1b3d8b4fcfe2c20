# With AVX512-BF16 an instruction rounds to bf16, but for vectors with denormals, which it takes as zero.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s --target cpu:znver4 --signature '*fp32,*bf16,1024' --emit asm -o - | FileCheck %s
# RUN: nereid compile %s --target cpu:znver4 --signature '*fp32,*bf16,16' --emit asm -o - | FileCheck %s --check-prefix=ONE
# RUN: nereid compile %s --target cpu:x86-64-v4 --signature '*fp32,*bf16,1024' --emit asm -o - | FileCheck %s --check-prefix=INTEGERS
import triton
import triton.language as tl


@triton.jit
def narrow(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at).to(tl.bfloat16))


# CHECK-COUNT-4: vfpclassps $32, {{.*}}%zmm
# CHECK: kortest
# CHECK: vcvtne2ps2bf16 {{.*}}%zmm
# CHECK: vcvtne2ps2bf16 {{.*}}%zmm
# CHECK: vpmovdw
# ONE: vfpclassps $32, {{.*}}%zmm
# ONE: vcvtneps2bf16 %zmm
# ONE: vpmovdw
# INTEGERS-NOT: vcvtne
# INTEGERS: vpmovdw
