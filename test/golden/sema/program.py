# program_id and num_programs name the axis of the grid.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*i32' --target cpu --emit ttir --no-locations -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(out_ptr):
    # CHECK-LABEL: tt.func public @kernel
    # CHECK-DAG: %[[X:.+]] = tt.get_program_id x : i32
    # CHECK-DAG: %[[Z:.+]] = tt.get_num_programs z : i32
    # CHECK: arith.addi %[[X]], %[[Z]] : i32
    tl.store(out_ptr, tl.program_id(0) + tl.num_programs(axis=2))
