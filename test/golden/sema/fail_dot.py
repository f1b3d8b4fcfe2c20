# Dots of operands that cannot be multiplied, and arguments that do not fit.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,*u8,*fp16,*fp8e4nv,*i16' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, u_ptr, h_ptr, e_ptr, s_ptr):
    i = tl.arange(0, 16)
    at = i[:, None] * 16 + i[None, :]
    x = tl.load(x_ptr + at)
    u = tl.load(u_ptr + at)
    h = tl.load(h_ptr + at)
    e = tl.load(e_ptr + at)
    s = tl.load(s_ptr + at)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: tl.dot multiplies tiles of numbers, but `other` is `int`; load or broadcast it to a tile first [dot-operand]
    tl.dot(x, 2)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Both inputs must have the same rank, at least 2; (lhs: [16] vs rhs: [16, 16]) [dot-rank]
    tl.dot(tl.load(x_ptr + i), x)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Both inputs must have the same batch dimensions before the last two; (lhs: [4, 8, 8] vs rhs: [1, 8, 8]) [dot-batch]
    tl.dot(x.reshape(4, 8, 8), tl.zeros((1, 8, 8), tl.float32))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: First input shape ([16, 16]) and second input shape [32, 8] are not compatible for matmul (second index of first shape (16) must be equal to first index of second shape (32)) [dot-inner]
    tl.dot(x, x.reshape(32, 8))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Unsupported lhs dtype int16; dot takes int8, fp8, fp16, bf16, fp32 and fp64 [dot-dtype]
    tl.dot(s, s)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Both operands must be same dtype. Got fp32 and fp16; cast one of them [dot-dtypes]
    tl.dot(x, h)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Both operands must be same dtype. Got fp8e4nv and fp16; cast one of them [dot-dtypes]
    tl.dot(e, h)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: only int8 supported! The operands are uint8 [dot-unsigned]
    tl.dot(u, u)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Only one of input_precision and allow_tf32 can be specified [dot-precision-twice]
    tl.dot(x, x, input_precision="ieee", allow_tf32=True)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: input_precision must be one of `tf32`, `tf32x3`, `ieee`, `bf16x3` and `bf16x6`. Got fp19 [dot-precision]
    tl.dot(x, x, input_precision="fp19")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: out_dtype=bfloat16 is unsupported. Please use out_dtype=float32/float16 and cast with `.to(tl.bfloat16)` [dot-out-bfloat16]
    tl.dot(h, h, out_dtype=tl.bfloat16)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: a dot of fp16 cannot be int32; it is fp32 or fp16 [dot-out-type]
    tl.dot(h, h, out_dtype=tl.int32)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `acc` must have the type of the dot, `fp32[16, 16]`, but it is `fp16[16, 16]` [dot-accumulator]
    tl.dot(x, x, h)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `acc` must have the type of the dot, `fp32[16, 16]`, but it is `int` [dot-accumulator]
    tl.dot(x, x, 0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: max_num_imprecise_acc (128) must be <= K (16) [dot-imprecise-acc]
    tl.dot(e, e, max_num_imprecise_acc=128)

    wide = tl.load(e_ptr + i[:, None] * 64 + tl.arange(0, 64)[None, :])
    tall = tl.load(e_ptr + tl.arange(0, 64)[:, None] * 16 + i[None, :])
    two = tl.load(u_ptr + i[:, None] * 2 + tl.arange(0, 2)[None, :])
    four = tl.load(u_ptr + i[:, None] * 4 + tl.arange(0, 4)[None, :])
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: NYI: lhs_format e3m2; formats are `e2m1`, `e4m3`, `e5m2`, `bf16` and `fp16` [dot-scaled-format]
    tl.dot_scaled(wide, two, "e3m2", tall, two, "e4m3")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: e2m1 format must be packed as uint8. Got fp32 [dot-scaled-packed]
    tl.dot_scaled(x, None, "e2m1", tall, None, "e4m3")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Unexpected dtype for bf16. Got fp8e4nv; give the float type or its bits as an unsigned integer [dot-scaled-dtype]
    tl.dot_scaled(wide, two, "bf16", tall, two, "e4m3")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `rhs_scale` holds uint8 (powers of two, e8m0) or fp8e4nv, but it is fp32 [dot-scale-dtype]
    tl.dot_scaled(wide, two, "e4m3", tall, x, "e4m3")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `lhs_scale` has shape [16, 16]; it needs 16 rows with one scale for 16 or 32 of the 64 values along K [dot-scale-shape]
    tl.dot_scaled(wide, u, "e4m3", tall, two, "e4m3")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Both inputs must be either 2D or 3D; `lhs` has shape [16] [dot-scaled-rank]
    tl.dot_scaled(tl.load(e_ptr + i), two, "e4m3", tall, two, "e4m3")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: only mxfp4 inputs can be packed along a dimension different than K [dot-scaled-k-pack]
    tl.dot_scaled(wide, two, "e4m3", tall, two, "e4m3", rhs_k_pack=False)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Reduction dimension should pack the same number of elements; (lhs: [16, 64] vs rhs: [16, 16]) hold 64 and 16 values [dot-scaled-inner]
    tl.dot_scaled(wide, two, "e4m3", e, None, "e4m3")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Operands must have the same scale factor; (lhs: 16 vs rhs: 32) [dot-scale-factor]
    tl.dot_scaled(wide, four, "e4m3", tall, two, "e4m3")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: out_dtype of dot_scaled is fp32 only. Got fp16; cast the result [dot-scaled-out]
    tl.dot_scaled(wide, two, "e4m3", tall, two, "e4m3", out_dtype=tl.float16)
