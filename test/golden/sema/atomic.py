# Atomic accesses: the ops of each built-in for each kind of element.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp32,*i32,*u64,*bf16,i32' --target cpu --emit ttir --no-locations -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(f_ptr, i_ptr, u_ptr, b_ptr, n):
    # CHECK-LABEL: tt.func public @kernel
    # CHECK: %[[MASK:.+]] = arith.cmpi slt
    offsets = tl.arange(0, 16)
    mask = offsets < n
    # CHECK: tt.atomic_rmw fadd, acq_rel, gpu, %{{.+}}, %{{.+}}, %[[MASK]] : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, tensor<16xi1>) -> tensor<16xf32>
    tl.atomic_add(f_ptr + offsets, 1, mask=mask)
    # CHECK: tt.atomic_rmw add, relaxed, sys, %{{.+}}, %{{.+}} : (!tt.ptr<i32>, i32) -> i32
    tl.atomic_add(i_ptr, n, sem="relaxed", scope="sys")
    # CHECK: tt.atomic_rmw fadd, acquire, cta, %{{.+}}, %{{.+}} : (!tt.ptr<bf16>, bf16) -> bf16
    b_ptr.atomic_add(1.5, sem="acquire", scope="cta")
    # CHECK: tt.atomic_rmw max, release, gpu, {{.*}} -> i32
    tl.atomic_max(i_ptr, n, sem="release")
    # CHECK: tt.atomic_rmw umax, acq_rel, gpu, {{.*}} -> i64
    tl.atomic_max(u_ptr, 7)
    # CHECK: tt.atomic_rmw umin, acq_rel, gpu, {{.*}} -> i64
    tl.atomic_min(u_ptr, 7)
    # CHECK: tt.atomic_rmw and
    tl.atomic_and(i_ptr, 3)
    # CHECK: tt.atomic_rmw or
    tl.atomic_or(i_ptr, 3)
    # CHECK: tt.atomic_rmw xor
    tl.atomic_xor(i_ptr, 3)
    # CHECK: tt.atomic_rmw exch, {{.*}} -> f32
    tl.atomic_xchg(f_ptr, 2)
    # CHECK: tt.atomic_cas acq_rel, gpu, %{{.+}}, %{{.+}}, %{{.+}} : (!tt.ptr<i32>, i32, i32) -> i32
    tl.atomic_cas(i_ptr, 0, n)
    # Floats are ordered by their bits: one op for each sign.
    # CHECK: %[[NEGATIVE:.+]] = arith.cmpi slt, %{{.+}}, %{{.+}} : i32
    # CHECK: tt.atomic_rmw min, {{.*}} : (!tt.ptr<i32>, i32, i1) -> i32
    # CHECK: tt.atomic_rmw umax, acq_rel, gpu, %{{.+}}, %{{.+}}, %[[NEGATIVE]] : (!tt.ptr<i32>, i32, i1) -> i32
    # CHECK: arith.select
    old = tl.atomic_min(f_ptr, n.to(tl.float32))
    tl.store(f_ptr, old)
    # CHECK: %[[NOW:.+]] = tt.atomic_load acquire, gpu, %{{.+}}, %[[MASK]] : (tensor<16x!tt.ptr<f32>>, tensor<16xi1>) -> tensor<16xf32>
    # CHECK: tt.atomic_store relaxed, sys, %{{.+}}, %[[NOW]], %[[MASK]] : tensor<16x!tt.ptr<f32>>
    now = tl.atomic_load(f_ptr + offsets, mask=mask)
    tl.atomic_store(f_ptr + offsets, now, mask=mask, sem="relaxed", scope="sys")
