# Compile-time values are computed as in Python and emit no ops.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*i32,*fp32,i32,1000' --target cpu --emit ttir --no-locations -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(out, f_ptr, n, N: tl.constexpr):
    # CHECK: 1024 16 -4 1 0.5 (1, 2, 3) tab
    tl.static_print(triton.next_power_of_2(N), 2**4, -7 // 2, -7 % 2, 1 / 2, (1, ) + (2, 3), "tab")
    # CHECK-NEXT: True False True int32 3 7
    tl.static_print(isinstance(n, tl.tensor), hasattr(n, "nothing"), n.dtype == tl.int32, n.dtype.name,
                    max(1, 3, 2), getattr(n, "nothing", 7))
    tl.static_assert(len((1, 2)) == 2 and "a" + "b" == "ab" and not None is N)
    tl.static_assert(int("42") == 42 and float("1e3") == 1000.0 and 1 < 2.5 and (1, 2) < (1, 3))
    # CHECK-LABEL: tt.func public @kernel
    # CHECK-DAG: arith.constant 63 : i32
    # CHECK-DAG: arith.constant 1.000000e+00 : f32
    tl.store(out, tl.cdiv(N, 16))
    tl.store(f_ptr, 0.1 + 0.9)
    # CHECK: arith.minsi %n, %{{.+}} : i32
    tl.store(out, min(n, N))
