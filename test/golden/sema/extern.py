# Functions of libdevice and assembly: symbols by argument types, promotion, results.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp32,*fp64,*i32,*i8' --target cpu --emit ttir --no-locations -o - | FileCheck %s
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def kernel(f_ptr, d_ptr, i_ptr, b_ptr):
    # CHECK-LABEL: tt.func public @kernel(
    i = tl.arange(0, 8)
    f = tl.load(f_ptr + i)
    d = tl.load(d_ptr + i)
    n = tl.load(i_ptr + i)
    # CHECK: tt.extern_elementwise %[[F:.+]] {libname = "", libpath = "", pure = true, symbol = "__nv_tanhf"} : (tensor<8xf32>) -> tensor<8xf32>
    tl.store(f_ptr + i, libdevice.tanh(f))
    # CHECK: {{.*}}symbol = "__nv_tanh"} : (tensor<8xf64>) -> tensor<8xf64>
    tl.store(d_ptr + i, tl.extra.cuda.libdevice.tanh(d))
    # The tuple of types matches exactly: nothing is promoted.
    # CHECK: {{.*}}symbol = "__nv_powif"} : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>
    tl.store(f_ptr + i, libdevice.pow(f, n))
    # CHECK: arith.extf %{{.+}} : tensor<8xf32> to tensor<8xf64>
    # CHECK: {{.*}}symbol = "__nv_pow"} : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
    tl.store(d_ptr + i, libdevice.pow(f, d))
    # CHECK: {{.*}}symbol = "__nv_isnanf"} : (tensor<8xf32>) -> tensor<8xi32>
    # CHECK: arith.cmpi ne
    tl.store(i_ptr + i, libdevice.isnan(f))
    # CHECK: tt.elementwise_inline_asm "addl $2, $0" {constraints = "=r,0,r", packed_element = 1 : i32, pure = true} %{{.+}}, %{{.+}} : tensor<8xi32>, tensor<8xi32> -> tensor<8xi32>
    tl.store(i_ptr + i, tl.inline_asm_elementwise("addl $2, $0", "=r,0,r", [n, 3], tl.int32, is_pure=True, pack=1))
