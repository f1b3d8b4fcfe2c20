# Tensor descriptors created in kernels: ops, attributes, methods, functions that take and return them.
# SPDX-License-Identifier: MIT
# RUN: env PYTHONSAFEPATH=1 %python %s | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def make(ptr, m, n, stride):
    return tl.make_tensor_descriptor(ptr, [m, n], [stride, 1], [8, 16], padding_option="nan")


@triton.jit
def copy(source, target, i, j):
    target.store([i, j], source.load([i, j]))


@triton.jit
def kernel(x_ptr, u_ptr, b_ptr, n, stride):
    # CHECK-LABEL: tt.func public @kernel
    # CHECK: tt.call @{{.*}}make__{{.*}} -> (!tt.tensordesc<8x16xf16>, i32, i32, i64, i64)
    x = make(x_ptr, n, n, stride)
    tl.static_assert(x.dtype == tl.float16)
    tl.static_assert(x.block_shape[0] == 8 and x.block_shape[1] == 16)
    tl.static_assert(x.block_type.shape[1] == 16)
    tl.static_assert(len(x.shape) == 2)
    tl.static_assert(isinstance(x, tl.tensor_descriptor))
    # CHECK: tt.call @{{.*}}copy__TD{{.*}}
    copy(x, x, 0, n)
    # CHECK: %[[U:.+]] = tt.make_tensor_descriptor %arg1, [%arg3], [%{{.+}}] : <i32>, <16xui32>
    u = tl.make_tensor_descriptor(u_ptr, (n,), (1,), (16,))
    # CHECK: tt.descriptor_load %[[U]][%arg3] : !tt.tensordesc<16xui32> -> tensor<16xi32>
    v = tl.load_tensor_descriptor(u, [n])
    # CHECK: tt.descriptor_store %[[U]][%{{.+}}], %{{.+}} : !tt.tensordesc<16xui32>, tensor<16xi32>
    tl.store_tensor_descriptor(u, [0], v + 1)
    # CHECK: tt.descriptor_reduce add, %[[U]][%{{.+}}]
    u.atomic_add([0], v)
    # CHECK: tt.descriptor_reduce min
    u.atomic_min([0], v)
    # CHECK: tt.descriptor_reduce max
    u.atomic_max([0], v)
    # CHECK: tt.descriptor_reduce and
    u.atomic_and([0], v)
    # CHECK: tt.descriptor_reduce or
    u.atomic_or([0], v)
    # CHECK: tt.descriptor_reduce xor
    u.atomic_xor([0], v)
    rows = tl.make_tensor_descriptor(b_ptr, [n, n], [stride, 1], [1, 32])
    # CHECK: tt.descriptor_gather %{{.+}}[%{{.+}}, %arg3] : (!tt.tensordesc<1x32xsi8>, tensor<8xi32>, i32) -> tensor<8x32xi8>
    g = rows.gather(tl.arange(0, 8).to(tl.int16), n)
    # CHECK: tt.descriptor_scatter %{{.+}}[%{{.+}}, %{{.+}}], %{{.+}} : !tt.tensordesc<1x32xsi8>, tensor<8xi32>, i32, tensor<8x32xi8>
    rows.scatter(g, tl.arange(8, 16), 0)
    # The extent of a descriptor is an ordinary value.
    # CHECK: tt.store %arg1, %arg3
    tl.store(u_ptr, u.shape[0])


if __name__ == "__main__":
    from triton._C import libtriton

    triton.runtime.driver.set_active_to_cpu()
    target = triton.runtime.driver.active.get_current_target()
    types = {"x_ptr": "*fp16", "u_ptr": "*u32", "b_ptr": "*i8", "n": "i32", "stride": "i64"}
    context = libtriton.ir.context()
    libtriton.ir.load_dialects(context)
    print(libtriton.make_ir(kernel, types, {}, {}, target, {}, context).str_nodebug())
