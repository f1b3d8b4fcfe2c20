# A tuple in the signature is several parameters, each specialised separately; its constants are not parameters.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s --signature '((*fp32:16,4,i32),*ki8),i64' --target cpu --emit ttir -o - | FileCheck %s
import triton
import triton.language as tl


# CHECK: tt.func public @kernel(
# CHECK-SAME: %pair.0.0: !tt.ptr<f32> {tt.divisibility = 16 : i32}
# CHECK-SAME: %pair.0.2: i32
# CHECK-SAME: %pair.1: !tt.ptr<i8>
# CHECK-SAME: %n: i64
@triton.jit
def kernel(pair, n):
    (out, factor, offset), source = pair
    # CHECK: arith.constant 4
    tl.store(out + offset + n, tl.load(source) * factor)
