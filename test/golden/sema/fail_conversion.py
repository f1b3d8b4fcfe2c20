# Numbers and tensors without a conversion to the requested type.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32,fp32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, f):
    tile = tl.arange(0, 16)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: cannot convert 'text' of type `str` to tensor{{.*}}[not-a-tensor]
    tl.exp("text")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: integer 36893488147419103232 does not fit in 64 bits{{.*}}[integer-too-wide]
    tl.to_tensor(2**65)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Scalar 300 is out of range for type int8{{.*}}[scalar-range]
    tile.to(tl.int8) + 300
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: float 1.5 is no value of type int32{{.*}}[float-as-integer]
    tl.full((16, ), 1.5, tl.int32)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: cannot cast fp32 to pointer<fp32>{{.*}}[cannot-cast]
    f.to(x_ptr.dtype)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Invalid rounding mode: up. Supported rounding modes are 'rtne' and 'rtz' [rounding-mode]
    f.to(tl.float16, fp_downcast_rounding="up")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: fp_downcast_rounding should be set only for truncating fp conversions. Source scalar type is fp32 and destination type is fp64 [rounding-not-narrowing]
    f.to(tl.float64, fp_downcast_rounding="rtz")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Cannot bitcast data-type of size 32 to data-type of size 16{{.*}}[bitcast-size]
    f.to(tl.float16, bitcast=True)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `dtype` must be of type `dtype`, but it is the str `'float16'`; use `tl.float16` [wrong-constant]
    f.to("float16")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `end` must be a compile-time constant of type `int`, but it is a tensor `int32`{{.*}}[not-constant]
    tl.arange(0, n)
