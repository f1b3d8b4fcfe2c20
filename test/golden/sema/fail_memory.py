# Loads and stores whose arguments do not fit the pointer.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,*kfp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, const_ptr, n):
    offsets = tl.arange(0, 16)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Unsupported ptr type int32 in `tl.load`{{.*}}[not-a-pointer]
    tl.load(n)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `boundary_check` argument is not supported by `tl.load` of `pointer<fp32>[16]`{{.*}}[not-a-block-pointer]
    tl.load(x_ptr + offsets, boundary_check=(0, ))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Mask must have boolean scalar type, but it is `int32[16]`{{.*}}[mask-not-bool]
    tl.load(x_ptr + offsets, mask=offsets)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `other` cannot be provided without `mask`{{.*}}[other-without-mask]
    tl.load(x_ptr + offsets, other=0.0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Mask argument cannot be block type if pointer argument is not a block; it is `int1[16]` [tile-for-scalar-pointer]
    tl.load(x_ptr, mask=offsets < n)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Value argument cannot be block type if pointer argument is not a block; it is `fp32[16]` [tile-for-scalar-pointer]
    tl.store(x_ptr, offsets)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Expected pointer argument to have shape [16, 16] but got [16]{{.*}}[store-shape]
    tl.store(x_ptr + offsets, tl.zeros((16, 16), tl.float32))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Cannot store to a constant pointer, `const_pointer<fp32>` [store-to-const]
    tl.store(const_ptr, 1.0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Cache modifier .wb not supported; it must be empty or one of `.ca`, `.cg`, `.cs`, `.cv` [cache-modifier]
    tl.load(x_ptr, cache_modifier=".wb")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Eviction policy never not supported{{.*}}[eviction-policy]
    tl.load(x_ptr, eviction_policy="never")
