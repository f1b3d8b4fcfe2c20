# A release covers the accesses of all threads of the CTA: a barrier precedes it.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:hand_on --signature '*fp32:16,*i32:16' --target cuda:90 --emit ptx -o - | FileCheck %s
# RUN: nereid compile %s:count --signature '*fp32:16,*i32:16,*fp32:16' --target cuda:90 --emit ptx -o - | FileCheck %s --check-prefix=RELAXED
# RUN: nereid compile %s:scatter --signature '*fp32:16,*fp32:16' --target cuda:90 --emit ptx -o - | FileCheck %s --check-prefix=SCATTER
import triton
import triton.language as tl


@triton.jit
def hand_on(data, flag):
    at = tl.arange(0, 256)
    x = tl.load(data + at)
    tl.atomic_xchg(flag, 1, sem="release")
    tl.store(data + 256 + at, x)


# CHECK: ld.global
# CHECK: bar.sync
# CHECK: atom.release.gpu.global.exch
# CHECK-NOT: bar.sync
# CHECK: st.global


@triton.jit
def count(data, flag, out):
    at = tl.arange(0, 256)
    x = tl.load(data + at)
    tl.atomic_add(flag, 1, sem="relaxed")
    tl.store(out + at, x)


# RELAXED: ld.global
# RELAXED-NOT: bar.sync
# RELAXED: {{atom|red}}.relaxed.gpu.global.add
# RELAXED-NOT: bar.sync
# RELAXED: st.global


@triton.jit
def scatter(data, out):
    at = tl.arange(0, 2048)
    tl.atomic_add(out + at, tl.load(data + at))


# One fence orders all of a thread's additions.
# SCATTER: bar.sync
# SCATTER: fence.acq_rel.gpu
# SCATTER-COUNT-4: red.relaxed.gpu.global.add.v4.f32
# SCATTER-NOT: fence
