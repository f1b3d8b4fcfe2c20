# fp8 with integers, and a rounding mode without narrowing.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp8e5,*i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, i_ptr):
    x = tl.load(x_ptr)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: unexpected type fp8e5 and int32; an fp8 type and an integer have no common type, cast one of them [unexpected-types]
    x + tl.load(i_ptr)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: unexpected type int1 and fp8e5{{.*}}[unexpected-types]
    (tl.load(i_ptr) > 0) * x
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: fp_downcast_rounding should be set only for truncating fp conversions. Source scalar type is fp8e5 and destination type is fp8e4nv [rounding-not-narrowing]
    x.to(tl.float8e4nv, fp_downcast_rounding="rtne")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Expected dtype ['fp32', 'fp64'] but got fp8e5{{.*}}[expected-dtype]
    tl.exp(x)
