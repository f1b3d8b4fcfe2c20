# Divisions by one number share its reciprocal; two divisions do not pay for it.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:by_rows --signature '*fp32:16,*fp32:16' --target cuda:90 --emit llir -o - | FileCheck %s --check-prefix=FLOAT
# RUN: nereid compile %s:remainders --signature '*i32:16,i32' --target cuda:90 --emit llir -o - | FileCheck %s --check-prefix=SIGNED
# RUN: nereid compile %s:quotients --signature '*u32:16,u32' --target cuda:90 --emit llir -o - | FileCheck %s --check-prefix=UNSIGNED
# RUN: nereid compile %s:two --signature '*i32:16,i32' --target cuda:90 --emit llir -o - | FileCheck %s --check-prefix=TWO
# RUN: nereid compile %s:by_quotients --signature '*fp32:16,*fp32:16' --target cuda:90 --emit ptx -o - | FileCheck %s --check-prefix=NESTED
import triton
import triton.language as tl


@triton.jit
def by_rows(x, y):
    at = tl.arange(0, 32)[:, None] * 128 + tl.arange(0, 128)[None, :]
    row = tl.load(y + tl.arange(0, 32))
    tl.store(x + at, tl.load(x + at) / row[:, None])


# FLOAT: call float @llvm.fabs.f32(float [[B:%.*]])
# FLOAT: [[S:%.*]] = select i1 {{.*}}, float 2.500000e-01, float
# FLOAT: [[D:%.*]] = fmul float [[B]], [[S]]
# FLOAT: [[R:%.*]] = call float @llvm.nvvm.rcp.approx.ftz.f(float [[D]])
# FLOAT: [[A:%.*]] = fmul float {{.*}}, [[S]]
# FLOAT: fmul float [[A]], [[R]]
# FLOAT-NOT: call float @llvm.nvvm.div.full


@triton.jit
def by_quotients(x, y):
    at = tl.arange(0, 64)[:, None] * 128 + tl.arange(0, 128)[None, :]
    v = tl.load(x + at)
    row = tl.max(v, axis=1) / 448.0
    tl.store(x + at, v / row[:, None])
    tl.store(y + tl.arange(0, 64), row)


# The divisors are quotients by one divisor themselves.
# NESTED-NOT: div.full
# NESTED: rcp.approx.ftz.f32
# NESTED-NOT: div.full


@triton.jit
def remainders(x, n):
    at = tl.arange(0, 512)
    tl.store(x + at, tl.load(x + at) % n)


# SIGNED: call float @llvm.nvvm.rcp.approx.ftz.f
# SIGNED-COUNT-5: call i32 @llvm.nvvm.mulhi.ui
# SIGNED-NOT: call i32 @llvm.nvvm.mulhi
# SIGNED-NOT: srem i32


@triton.jit
def quotients(x, n):
    at = tl.arange(0, 512)
    tl.store(x + at, tl.load(x + at) // n)


# UNSIGNED: call float @llvm.nvvm.rcp.approx.ftz.f
# UNSIGNED-COUNT-5: call i32 @llvm.nvvm.mulhi.ui
# UNSIGNED-NOT: ashr
# UNSIGNED-NOT: udiv i32


@triton.jit
def two(x, n):
    at = tl.arange(0, 256)
    tl.store(x + at, tl.load(x + at) % n)


# TWO-NOT: rcp
# TWO-COUNT-2: srem i32
