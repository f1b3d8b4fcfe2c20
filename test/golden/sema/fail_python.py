# Loop iterators and Python's own functions with invalid arguments.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    x = tl.arange(0, 16)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: {{.*}} used as tl.static_range end value is not a constexpr{{.*}}[static-range-bound]
    tl.static_range(n)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `num_stages` must be a small positive number, but it is -1 [loop-count]
    tl.range(n, num_stages=-1)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: {{.*}}has no len(){{.*}}[no-length]
    len(x)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: cannot convert {{.*}} to int while compiling{{.*}}[cannot-convert]
    int(n)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: cannot convert {{.*}}'one'{{.*}} to float while compiling{{.*}}[cannot-convert]
    float("one")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: isinstance() cannot test for {{.*}}[not-a-class]
    isinstance(n, 3)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: getattr expected at most 3 arguments, got 4 [getattr-arguments]
    getattr(n, "dtype", 1, 2)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: max of compile-time numbers cannot order nan{{.*}}[unclear-order]
    max(1.0, float("nan"))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: min needs at least two arguments, got 1; `tl.min` reduces a tile [extreme-arguments]
    min(n)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: warning: `max` of tiles compares them element by element; write `tl.maximum` to say so [extreme-of-tiles]
    max(x, 0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the first argument of device_print is not string, it is {{.*}}[print-prefix]
    print(n)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: next_power_of_2 needs a number in [0, 2**62], got -1 [next-power-of-2]
    triton.next_power_of_2(-1)
