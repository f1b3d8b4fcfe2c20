# Wrong uses of external functions, assembly and names of other targets.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp16,*i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def kernel(h_ptr, i_ptr):
    h = tl.load(h_ptr)
    n = tl.load(i_ptr)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: input arg type does not match. Expect one of [(fp32,), (fp64,)], got (fp16,) [extern-types]
    libdevice.tanh(h)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: input arg type does not match. Expect one of [(fp32, fp32), (fp64, fp64)], got (int32, int32) [extern-types]
    libdevice.atan2(n, n)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: arg_type_symbol_dict is {{.*}}; it must map tuples of types to (symbol, type) [extern-dict]
    tl.core.extern_elementwise("", "", [n], 3, True)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `pack` must be a positive number of at most 32 elements, but it is 0 [asm-pack]
    tl.inline_asm_elementwise("nop", "=r,r", [n], tl.int32, is_pure=True, pack=0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the constraints `=r` do not fit 1 results and 1 operands: they name 1 and 0 [asm-constraints]
    tl.inline_asm_elementwise("nop", "=r", [n], tl.int32, is_pure=True, pack=1)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the constraints `=` do not fit 1 results and 1 operands: they are malformed [asm-constraints]
    tl.inline_asm_elementwise("nop", "=", [n], tl.int32, is_pure=True, pack=1)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: this assembly is PTX (`mad.lo.u32`), but the target is `cpu`; {{.*}}[asm-ptx]
    tl.inline_asm_elementwise("{ .reg .b32 t; mad.lo.u32 $0, $1, 2, 0; }", "=r,r", [n], tl.int32, is_pure=True, pack=1)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `tl.extra.hip.memrealtime` does not exist on the target `cpu`; it is an instruction of AMD GPUs [target-name]
    tl.extra.hip.memrealtime()
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `tl.extra.hip.smid` does not exist on the target `cpu`; {{.*}}[target-name]
    tl.extra.hip.smid()
