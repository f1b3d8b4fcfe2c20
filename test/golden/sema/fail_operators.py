# Operators on unsupported operands, between tensors and between constants.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32,u32,fp32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, u, f):
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: invalid operands of type `pointer<fp32>` and `int32`{{.*}}[invalid-operands]
    x_ptr < n
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Cannot use /, #, or % with int32 and uint32 because they have different signedness{{.*}}[division-signedness]
    n // u
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Cannot perform a binary operation between an unsigned tensor and a negative scalar, `uint32` and -1{{.*}}[negative-scalar]
    u + -1
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: invalid operands of type `fp32` and `fp32`; `//` works on integers only{{.*}}[integers-only]
    f // 2
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: unsupported operand type(s) for **: `fp32` and `int`; use `libdevice.pow`, or multiply [unsupported-operator]
    f**2
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: unsupported operand type(s) for @: `fp32` and `fp32`; use `tl.dot` [unsupported-operator]
    f @ f
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `<` is not supported between `NoneType` and `int` [unsupported-comparison]
    None < 1
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: bad operand type for unary ~: `float` [unsupported-unary]
    ~1.5
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: wrong type argument to unary minus (pointer<fp32>){{.*}}[unary-minus]
    -x_ptr
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: wrong type argument to unary invert (fp32){{.*}}[unary-invert]
    ~f
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: cannot add pointers together: `pointer<fp32>` and `pointer<fp32>`{{.*}}[pointer-arithmetic]
    x_ptr + x_ptr
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: invalid operands of type `pointer<fp32>` and `fp32`{{.*}}[pointer-arithmetic]
    x_ptr + f
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: invalid operands of type `fp32` and `fp32`; `|` works on integers only{{.*}}[integers-only]
    n | f
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: AST unary operator - is not implemented on type tuple{{.*}}[unary-kind]
    -(0, 0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: division by zero: 1 // 0 [division-by-zero]
    1 // 0
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: negative shift count -1 [negative-shift]
    1 << -1
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the result of `**` has more than 16384 bits{{.*}}[integer-too-large]
    10**1000000000
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the result of `/` is too large for a float [float-overflow]
    2**2000 / 3
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: repeating 1000000000 times gives more than 1048576 elements [sequence-too-long]
    (1, 2) * 1000000000
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: warning: shift by 32 of a value with 32 bits; the result is undefined [wide-shift]
    n << 32
