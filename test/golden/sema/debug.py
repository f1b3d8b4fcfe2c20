# Printing and asserting when a kernel runs, assumptions, barriers.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp32,*u8,i32,fp8e4b15' --target cpu --emit ttir --no-locations -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, u_ptr, n, f):
    # CHECK-LABEL: tt.func public @kernel(
    x = tl.load(x_ptr + tl.arange(0, 8))
    # CHECK: tt.print " x: " {hex = false, isSigned = array<i32: 0>} : %{{.+}} : tensor<8xf32>
    tl.device_print("x", x)
    # CHECK: tt.print " both: " {hex = true, isSigned = array<i32: 1, 0>} : %n, %{{.+}} : i32, i8
    print("both: ", n, tl.load(u_ptr), hex=True)
    # CHECK: tt.print ": " {hex = false, isSigned = array<i32: 1>} : %n : i32
    print("", n)
    # CHECK: tt.print " alone" {hex = false, isSigned = array<i32>}
    print("alone")
    # Without the option debug there are no assertions.
    # CHECK-NOT: tt.assert
    tl.device_assert(n > 0, "n")
    assert n > 1, "n"
    # CHECK: llvm.intr.assume
    tl.assume(n > 0)
    # CHECK: ttg.barrier {{"?all"?}}
    tl.debug_barrier()
