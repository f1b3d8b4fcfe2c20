# Weights of 4 bits go from memory to a warp's dot in lanes that hold wide runs along K, without an exchange; loops carry
# them as words.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:packed --signature '*fp16:16,*u8:16,*fp32:16,i32:16,16,128,64' --target cuda:90 --emit plan -o - | FileCheck %s
# RUN: nereid compile %s:packed --signature '*fp16:16,*u8:16,*fp32:16,i32:16,16,128,64' --target cuda:90 --emit llir -o - | FileCheck %s --check-prefix=LLIR
import triton
import triton.language as tl


@triton.jit
def packed(a, b, o, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    sums = tl.zeros((M, N), dtype=tl.float32)
    for i in range(0, k, K):
        x = tl.load(a + m[:, None] * k + (i + tl.arange(0, K))[None, :])
        q = tl.load(b + n[:, None] * (k // 2) + (i // 2 + tl.arange(0, K // 2))[None, :])
        w = tl.join(q & 15, q >> 4).reshape(N, K).to(tl.float16)
        sums = tl.dot(x, w.T, sums)
    tl.store(o + m[:, None] * N + n[None, :], sums)


# CHECK: tt.load 128x32xi8 in vectors of 8 bytes
# CHECK-NOT: ttg.convert_layout 128x32xi8
# CHECK-NOT: by shuffles
# CHECK: ttg.local_load 16x64xf16 {{.*}} 0 of them for conflicts, {{.*}}kWidth = 16

# LLIR: {{^}}for:
# LLIR-NOT: phi i8
# LLIR-COUNT-4: phi { i32, i32 }
# LLIR-NOT: phi i8
# LLIR-NOT: uitofp i8
