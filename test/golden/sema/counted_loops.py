# A positive step gives a plain loop; one that is negative, or whose sign is not known, counts iterations.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:positive --signature '*i32,i32' --target cpu --emit ttir --no-locations -o - | FileCheck %s --check-prefix=POSITIVE
# RUN: nereid compile %s:unknown --signature '*i32,i32,i32' --target cpu --emit ttir --no-locations -o - | FileCheck %s --check-prefix=UNKNOWN
# RUN: nereid compile %s:back --signature '*i32,i32' --target cpu --emit ttir --no-locations -o - | FileCheck %s --check-prefix=BACK
import triton
import triton.language as tl


@triton.jit
def positive(x_ptr, n):
    # POSITIVE-NOT: div
    # POSITIVE: scf.for %{{.*}} = %c0_i32 to %n step %c3_i32
    for i in range(0, n, 3):
        tl.store(x_ptr + i, i)
    # POSITIVE: scf.for %{{.*}} = %{{.*}} to %n step %{{.*}}
    for i in range(tl.program_id(0) * 8, n, tl.num_programs(0) * 8):
        tl.store(x_ptr + i, i)
    # POSITIVE-NOT: div


@triton.jit
def unknown(x_ptr, n, step):
    # UNKNOWN: arith.cmpi slt, %step, %c0_i32
    # UNKNOWN: arith.divui
    # UNKNOWN: scf.for unsigned %[[k:.+]] = %c0_i32 to %{{.*}} step %c1_i32
    # UNKNOWN: arith.muli %[[k]], %step
    for i in range(0, n, step):
        tl.store(x_ptr + i, i)


@triton.jit
def back(x_ptr, n):
    # BACK-NOT: div
    # BACK: scf.for unsigned %[[k:.+]] = %c0_i32 to %{{.*}} step %c1_i32
    # BACK: arith.subi %n, %[[k]]
    for i in range(n, 0, -1):
        tl.store(x_ptr + i, i)
