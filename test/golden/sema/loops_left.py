# Early exits from loops: scf.while with a flag for `break`, scf.for for `continue`, results for `return`.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*i32,i32' --target cpu --emit ttir -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def search(x_ptr, n):
    for i in range(n):
        if tl.load(x_ptr + i) == 4:
            return i
    return -1


# CHECK-LABEL: tt.func public @kernel
@triton.jit
def kernel(x_ptr, n):
    total = 0
    # CHECK: scf.for {{.*}} iter_args
    # CHECK: scf.if
    for i in range(n):
        if i == 3:
            continue
        total += tl.load(x_ptr + i)
    # CHECK: scf.while ([[I:%[a-z0-9_]+]] = %c0_i32, [[GO:%[a-z0-9_]+]] = %true,
    # CHECK: [[IN:%[a-z0-9_]+]] = arith.cmpi slt, [[I]], %n
    # CHECK: [[BOTH:%[a-z0-9_]+]] = arith.andi [[IN]], [[GO]]
    # CHECK: scf.condition([[BOTH]])
    for i in range(n):
        if total > 5:
            break
        total += i
    # CHECK: [[FOUND:%[a-z0-9_]+]]:3 = scf.while
    # CHECK: arith.select [[FOUND]]#1, [[FOUND]]#2, %c-1_i32
    tl.store(x_ptr, total + search(x_ptr, n))
    # An unreachable `break` costs nothing.
    # CHECK: scf.for
    for i in range(n):
        if 0 == 1:
            break
        tl.store(x_ptr + i, 0)
    # CHECK-NOT: scf.while
    # CHECK: tt.return
