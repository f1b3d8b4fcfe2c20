# A slow function of a value that the chunks of a row share is called where the value is another one.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32' --emit llir -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def scaled(x, y, out):
    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    tl.store(out + i, tl.load(x + i) * (1.0 / tl.sqrt(tl.load(y + i // 192))))


# CHECK: icmp eq i32
# CHECK: br i1 {{.*}}, !prof
# CHECK: call float @llvm.sqrt.f32
# CHECK: br i1 {{.*}}, !prof
# CHECK: fdiv float 1.000000e+00
# CHECK: fmul {{.*}}<{{[0-9]+}} x float>
