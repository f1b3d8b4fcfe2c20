# Atomic loads and stores are loads and stores with an order and a scope, of 8 bits and more, and write nothing else.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp16:16,*i8:16,*i64:16,*fp16:16' --target cuda:90 --emit ptx -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x, bytes, flag, out):
    at = tl.arange(0, 128)
    # CHECK-NOT: atom.
    # CHECK: ld.acquire.gpu.global.b16
    now = tl.atomic_load(x + at)
    # CHECK: ld.relaxed.sys.global.b8
    small = tl.atomic_load(bytes + at, sem="relaxed", scope="sys")
    tl.store(out + at, now + small)
    # CHECK: bar.sync
    # CHECK: st.release.cta.global.b64
    # CHECK-NOT: atom.
    tl.atomic_store(flag, 1, scope="cta")
