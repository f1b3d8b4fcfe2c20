# Loops that cannot be compiled.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32,fp32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, f):
    acc = 0
    for i in range(n):
        # CHECK: :[[#@LINE+1]]:9: error: Loop-carried variable acc has initial type int32 but is re-assigned to fp32 in loop! Please make sure that the type stays consistent. [loop-changes-type]
        acc = acc + 1.5
    # CHECK: :[[#@LINE-4]]:5: note: `acc` gets its initial value here
    # CHECK: :[[#@LINE+1]]:14: error: Only `range` and `static_range` iterators are currently supported; found tuple;{{.*}} [iterator-not-range]
    for i in (1, 2):
        pass
    # CHECK: :[[#@LINE+1]]:14: error: the step of this range is zero [zero-step]
    for i in range(0, n, 0):
        pass
    # CHECK: :[[#@LINE+1]]:14: error: this loop would be unrolled 1000000 times; the limit is 100000{{.*}}[unroll-too-long]
    for i in tl.static_range(1000000):
        pass
    for i in tl.static_range(1000):
        # CHECK: :[[#@LINE+1]]:18: error: loops inside loops would be unrolled more than 100000 times together; use `range` for a runtime loop [unroll-nested]
        for j in tl.static_range(1000):
            pass
    # CHECK: :[[#@LINE+1]]:14: error: For loop bounds and step must all be ints: the upper bound is fp32; `/` gives a float, `//` an int [loop-bound-not-int]
    for i in range(0, f):
        pass
    # CHECK: :[[#@LINE+1]]:14: error: For loop bounds and step must all be ints: the step is fp32; `/` gives a float, `//` an int [loop-bound-not-int]
    for i in range(0, n, n / 2):
        pass
    # CHECK: :[[#@LINE+1]]:14: error: For loop bounds and step must all be ints: the upper bound is pointer<fp32> [loop-bound-not-int]
    for i in range(0, x_ptr):
        pass
    # CHECK: :[[#@LINE+1]]:14: error: For upper bound must be a scalar, but it is {{.*}}[loop-bound-not-scalar]
    for i in range(0, tl.arange(0, 4)):
        pass
    # CHECK: :[[#@LINE+1]]:5: error: `for` with `else` is not supported in kernels{{.*}}[loop-else]
    for i in range(n):
        pass
    else:
        pass
    c: tl.constexpr = 1
    for i in range(n):
        # CHECK: :[[#@LINE+1]]:9: error: cannot reassign constexpr c in the loop [constexpr-in-loop]
        c = i
    # CHECK: :[[#@LINE+1]]:11: error: the condition of this `while` is the constant True{{.*}}[while-constant]
    while True:
        pass
