# Dots: element types, precision, accumulators, ranks, and scaled formats.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp32,*fp16,*i8,*fp8e4nv,*fp8e5,*bf16' --target cpu --emit ttir --no-locations -o - | FileCheck %s
# RUN: nereid compile %s:kernel --signature '*fp32,*fp16,*i8,*fp8e4nv,*fp8e5,*bf16' --target cuda:90 --emit ttir --no-locations -o - | FileCheck %s --check-prefix=CUDA
# RUN: nereid compile %s:scaled --signature '*u8,*u8,*fp32,*bf16' --target cpu --emit ttir --no-locations -o - | FileCheck %s --check-prefix=SCALED
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, h_ptr, i_ptr, e_ptr, f_ptr, b_ptr):
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    x = tl.load(x_ptr + at)
    h = tl.load(h_ptr + at)
    i = tl.load(i_ptr + at)
    e = tl.load(e_ptr + at)
    f = tl.load(f_ptr + at)
    b = tl.load(b_ptr + at)
    # The default depends on the target.
    # CHECK: %[[P:.+]] = tt.dot %{{[^,]+}}, %{{[^,]+}}, %{{[^,]+}} : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    # CUDA: tt.dot {{.+}}, inputPrecision = tf32 : tensor<16x16xf32>
    p = tl.dot(x, x)
    # CHECK: %[[Q:.+]] = tt.dot {{.+}}, %[[P]], inputPrecision = tf32x3 : tensor<16x16xf32>
    q = tl.dot(x, p, acc=p, input_precision="TF32x3")
    # CUDA: tt.dot {{.+}}, inputPrecision = tf32x3 : tensor<16x16xf32>
    # CUDA: tt.dot %{{[^,]+}}, %{{[^,]+}}, %{{[^,]+}} : tensor<16x16xf32> * tensor<16x16xf32>
    q = tl.dot(q, x, q, allow_tf32=False)
    # An addend of a dot becomes its accumulator.
    # CHECK: tt.dot {{.+}} : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    # CHECK-NOT: arith.addf
    q += tl.dot(h, h)
    # CHECK: tt.dot {{.+}} : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf16>
    q += tl.dot(h, h, out_dtype=tl.float16)
    # CHECK: tt.dot {{.+}} : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
    q = tl.dot(b, b, q)
    # CHECK: tt.dot {{.+}} {maxNumImpreciseAcc = 4 : i32} : tensor<16x16xf8E4M3FN> * tensor<16x16xf8E5M2> -> tensor<16x16xf32>
    # CUDA: tt.dot {{.+}}maxNumImpreciseAcc = 4 : i32
    q = tl.dot(e, f, q, max_num_imprecise_acc=4)
    # CHECK: tt.dot %{{[^,]+}}, %{{[^,]+}}, %{{[^,]+}}{{.*}} : tensor<16x16xf8E5M2> * tensor<16x16xf8E5M2> -> tensor<16x16xf32>
    # CUDA: tt.dot {{.+}}maxNumImpreciseAcc = 1073741824 : i32
    q = tl.dot(f, f, q)
    # CHECK: tt.dot {{.+}} : tensor<16x16xi8> * tensor<16x16xi8> -> tensor<16x16xi32>
    q += tl.dot(i, i)
    # Four dimensions: the first two are batch dimensions.
    # CHECK: tt.dot {{.+}} : tensor<4x8x8xf32> * tensor<4x8x8xf32> -> tensor<4x8x8xf32>
    four = tl.dot(x.reshape(2, 2, 8, 8), q.reshape(2, 2, 8, 8))
    tl.store(x_ptr + at, four.reshape(16, 16))


@triton.jit
def scaled(a_ptr, s_ptr, c_ptr, b_ptr):
    a = tl.load(a_ptr + tl.arange(0, 16)[:, None] * 64 + tl.arange(0, 64)[None, :])
    m = tl.load(a_ptr + tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :])
    s = tl.load(s_ptr + tl.arange(0, 16)[:, None] * 2 + tl.arange(0, 2)[None, :])
    b = tl.load(b_ptr + tl.arange(0, 64)[:, None] * 16 + tl.arange(0, 16)[None, :])
    # SCALED: tt.dot_scaled %{{.+}} scale %{{.+}}, %{{.+}} scale %{{.+}}, %{{.+}} lhs = e4m3 rhs = bf16 {fastMath = false} : tensor<16x64xf8E4M3FN>, tensor<16x2xi8> * tensor<64x16xbf16>, tensor<16x2xi8> -> tensor<16x16xf32>
    c = tl.dot_scaled(a, s, "e4m3", b, s, "bf16")
    # SCALED: tt.dot_scaled %{{.+}}, %{{.+}} scale %{{.+}}, %{{.+}} lhs = e2m1 rhs = bf16 {fastMath = true} : tensor<16x32xi8> * tensor<64x16xbf16>, tensor<16x2xi8> ->
    c = tl.dot_scaled(m, None, "e2m1", b, s, "bf16", acc=c, fast_math=True)
    # SCALED: lhs = e2m1 rhs = bf16 {fastMath = false, lhs_k_pack = false} : tensor<16x64xi8>, tensor<32x2xi8>
    t = tl.load(s_ptr + tl.arange(0, 32)[:, None] * 2 + tl.arange(0, 2)[None, :])
    d = tl.dot_scaled(a, t, "e2m1", b, None, "bf16", lhs_k_pack=False)
    tl.store(c_ptr + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :], c)
    tl.store(c_ptr + tl.arange(0, 32)[:, None] * 16 + tl.arange(0, 16)[None, :], d)
