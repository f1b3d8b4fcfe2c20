# Block pointers: arithmetic and masks in 64 bits; advanced, passed to functions and carried by a loop.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp16,*i1,i32,i32,i64' --target cpu --emit ttir --no-locations -o - 2>%t | FileCheck %s
# RUN: FileCheck %s --check-prefix=WARN < %t
import triton
import triton.language as tl


@triton.jit
def further(block, step):
    return tl.advance(block, (0, step))


@triton.jit
def kernel(x_ptr, bool_ptr, m, n, stride):
    # WARN: :[[#@LINE+1]]:{{[0-9]+}}: warning: tl.make_block_ptr is deprecated{{.*}}[make-block-ptr-deprecated]
    x = tl.make_block_ptr(x_ptr, (m, n), (stride, 1), (0, 8), (4, 16), (1, 0))
    tl.static_assert(x.dtype.element_ty == tl.float16)
    tl.static_assert(x.block_shape[1] == 16)
    tl.static_assert(x.order[0] == 1)
    # CHECK-LABEL: tt.func public @kernel
    # CHECK: scf.for {{.*}} iter_args({{.*}}) -> (i64)
    for i in range(n):
        # CHECK: arith.cmpi sge, {{.*}} : tensor<16xi64>
        # CHECK: arith.cmpi slt, {{.*}} : tensor<16xi64>
        # CHECK: tt.load %{{.+}}, %{{.+}}, %{{.+}} {{.*}}cache_modifier = cg{{.*}} : tensor<4x16x!tt.ptr<f16>>
        v = tl.load(x, boundary_check=(1,), padding_option="zero", cache_modifier=".cg")
        # Without a boundary check there is no mask.
        # CHECK: tt.store %{{.+}}, %{{.+}} : tensor<4x16x!tt.ptr<f16>>
        tl.store(x, v + i)
        x = further(x, 16)
    # CHECK: tt.load %{{.+}}, %{{.+}} : tensor<8x!tt.ptr<i8>>
    # CHECK: arith.cmpi ne
    b = tl.load(tl.make_block_ptr(bool_ptr, [n], [1], [m], [8], [0]), boundary_check=[0])
    # CHECK: tt.store {{.*}} : tensor<8x!tt.ptr<i8>>
    tl.make_block_ptr(bool_ptr, [n], [1], [m], [8], [0]).store(b, boundary_check=(0,))
