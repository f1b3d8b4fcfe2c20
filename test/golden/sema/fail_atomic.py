# Atomic accesses that Triton does not have.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,*kfp32,*i16,*fp16,*i32,*i8,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(f_ptr, const_ptr, s_ptr, h_ptr, i_ptr, c_ptr, n):
    offsets = tl.arange(0, 16)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Unsupported ptr type int32 in `tl.atomic_add`{{.*}}[not-a-pointer]
    tl.atomic_add(n, 1)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Cannot store to a constant pointer, `const_pointer<fp32>` [store-to-const]
    tl.atomic_add(const_ptr, 1.0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: atomic_add does not support int16; it takes floats of 16 to 64 bits and integers of 32 and 64 bits [atomic-type]
    tl.atomic_add(s_ptr, 1)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: atomic_max does not support fp16; it takes fp32, fp64 and integers of 32 and 64 bits [atomic-type]
    tl.atomic_max(h_ptr, 1.0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: atomic_xor does not support fp32; it takes integers of 32 and 64 bits [atomic-type]
    tl.atomic_xor(f_ptr, 1)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Memory semantic strict not supported; it must be {{.*}}[atomic-semantic]
    tl.atomic_add(f_ptr, 1.0, sem="strict")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Memory scope node not supported; it must be {{.*}}[atomic-scope]
    tl.atomic_add(f_ptr, 1.0, scope="node")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Mask must have boolean scalar type, but it is `int32[16]`{{.*}}[mask-not-bool]
    tl.atomic_add(f_ptr + offsets, 1.0, mask=offsets)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `fp32[16]` does not fit into the shape of the pointers `pointer<fp32>`; {{.*}}[atomic-shape]
    tl.atomic_add(f_ptr, offsets.to(tl.float32))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `int1[4, 16]` does not fit into the shape of the pointers `pointer<fp32>[16]`; {{.*}}[atomic-shape]
    tl.atomic_add(f_ptr + offsets, 1.0, mask=tl.full((4, 16), True, tl.int1))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: atomic_cas only supports elements with width {16, 32, 64}, but int8 has 8 bits [atomic-cas-width]
    tl.atomic_cas(c_ptr, 0, 1)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `cmp` of atomic_cas is int64, but the pointer points to int32; cast it [atomic-cas-type]
    tl.atomic_cas(i_ptr, n.to(tl.int64), 1)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Cannot store to a constant pointer, `const_pointer<fp32>` [store-to-const]
    tl.atomic_cas(const_ptr, 0.0, 1.0)
