# Values are clamped by one instruction each and converted to fp8 in pairs; a thread stores 16 of them at once.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:quantise --signature '*bf16:16,*fp8e4nv:16,*fp32:16,16,128' --target cuda:90 --emit ptx -o - | FileCheck %s
# RUN: nereid compile %s:quantise --signature '*bf16:16,*fp8e4nv:16,*fp32:16,16,128' --target cuda:80 --emit ptx -o - | FileCheck %s --check-prefix=OLD
import triton
import triton.language as tl


@triton.jit
def quantise(x, q, s, ROWS: tl.constexpr, G: tl.constexpr):
    r = tl.arange(0, ROWS)
    at = r[:, None] * G + tl.arange(0, G)[None, :]
    v = tl.load(x + at).to(tl.float32)
    scale = tl.max(tl.abs(v), axis=1) / 448.0
    tl.store(q + at, tl.clamp(v / scale[:, None], -448.0, 448.0).to(tl.float8e4nv))
    tl.store(s + r, scale)


# CHECK-COUNT-8: cvt.rn.satfinite.e4m3x2.f32
# CHECK-NOT: cvt.rn.satfinite.e4m3x2.f32
# CHECK: st.global.v4.b32

# OLD-NOT: xorsign
