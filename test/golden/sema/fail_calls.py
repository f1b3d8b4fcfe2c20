# Calls whose arguments do not fit the callee.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def callee(a, b: tl.constexpr = 2):
    return a + b


@triton.jit(noinline=True)
def outlined(a):
    return a


@triton.jit
def forever(a):
    return forever(a)


@triton.jit
def deeper(a, N: tl.constexpr):
    return deeper(a, N + 1)


@triton.jit
def three(a, b, c):
    return a


@triton.jit
def kernel(x_ptr, n):
    # CHECK: :[[#@LINE+1]]:18: error: `callee` takes 2 arguments, but 3 are given [too-many-arguments]
    callee(n, 1, 2)
    # CHECK: :9:5: note: `callee` is defined here
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `load` got an unexpected keyword argument `msk`; did you mean `mask`?; its parameters are {{.*}}`mask`{{.*}}[unknown-keyword]
    tl.load(x_ptr, msk=n > 1)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `callee` got multiple values for argument `a` [duplicate-argument]
    callee(n, a=n)
    # CHECK: :[[#@LINE+1]]:5: error: `callee` is missing the argument `a`; its parameters are `a`, `b` [missing-argument]
    callee(b=1)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `**` arguments are not supported in kernels{{.*}}[double-star-argument]
    callee(n, **n)
    # CHECK: :[[#@LINE+1]]:5: error: `int32` cannot be called [not-callable]
    n(1)
    # CHECK: :[[#@LINE+1]]:14: error: Function outlined is marked noinline, but was called with non-scalar argument a: int32[4] [noinline-tile]
    outlined(tl.arange(0, 4))
    # CHECK: error: `forever` calls itself with the same types and constants{{.*}}[runtime-recursion]
    forever(n)
    # CHECK: error: calls nest deeper than 200 at `deeper`{{.*}}[call-too-deep]
    deeper(n, 0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the combine function `three` must take 2 parameters (two for each operand), it takes 3 [combine-parameter-count]
    tl.reduce(tl.arange(0, 4), 0, three)
