# Elementwise and mathematical functions on unsupported element types.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32,fp32,fp16' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, f, h):
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Unexpected propagate_nan 3{{.*}}[propagate-nan]
    tl.maximum(f, 0.0, propagate_nan=3)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: warning: tl.where with a non-boolean condition `int32` is deprecated{{.*}}[where-condition]
    tl.where(n, f, 0.0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Unexpected dtype int32. Only floating point clamp is supported{{.*}}[clamp-type]
    tl.clamp(n, 0, 1)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Expected dtype ['fp32', 'fp64'] but got fp16 in `tl.exp`{{.*}}[expected-dtype]
    tl.exp(h)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Expected dtype ['fp32'] but got int32 in `tl.sqrt_rn`{{.*}}[expected-dtype]
    tl.math.sqrt_rn(n)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `tl.abs` needs numbers, but its operand is `pointer<fp32>` [expected-numbers]
    tl.abs(x_ptr)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `tl.fma` needs floats, but its operands are computed as `int32`{{.*}}[expected-floats]
    tl.fma(n, n, n)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: both operands of fdiv must have floating scalar type, and the same one, but they are `fp32` and `fp16`{{.*}}[fdiv-types]
    tl.fdiv(f, h)
