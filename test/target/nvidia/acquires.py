# An acquire covers the accesses of all threads of the CTA: a barrier follows it, also where the next access is an
# asynchronous copy. The result of the atomic access is not used, so that no exchange between threads has a barrier.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:copy --signature '*fp16:16,*fp16:16,*fp32:16,*i32:16,i32' --target cuda:80 --emit ptx -o - | FileCheck %s
# RUN: nereid compile %s:copy_relaxed --signature '*fp16:16,*fp16:16,*fp32:16,*i32:16,i32' --target cuda:80 --emit ptx -o - | FileCheck %s --check-prefix=RELAXED
import triton
import triton.language as tl


@triton.jit
def multiply(a, b, out, depth):
    at = tl.arange(0, 64)
    tile = at[:, None] * 64 + at[None, :]
    total = tl.zeros((64, 64), tl.float32)
    for step in range(depth):
        total = tl.dot(tl.load(a + tile + step * 4096), tl.load(b + tile + step * 4096), total)
    tl.store(out + tile, total)


@triton.jit
def copy(a, b, out, flag, depth):
    tl.atomic_xchg(flag, 1, sem="acquire")
    multiply(a, b, out, depth)


# CHECK: atom.acquire.gpu.global.exch
# CHECK-NOT: cp.async
# CHECK: bar.sync
# CHECK: cp.async


@triton.jit
def copy_relaxed(a, b, out, flag, depth):
    tl.atomic_xchg(flag, 1, sem="relaxed")
    multiply(a, b, out, depth)


# RELAXED: atom.relaxed.gpu.global.exch
# RELAXED-NOT: bar.sync
# RELAXED: cp.async
