# SPDX-License-Identifier: MIT
import triton
import triton.language as tl


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, n, pitch, M: tl.constexpr, K: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [n, n], [pitch, 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [n, n], [n, 1], [K, M])
    c = tl.make_tensor_descriptor(c_ptr, [n, n], [n, 1], [M, M])
    acc = tl.dot(a.load([0, 0]), b.load([0, pitch]))
    c.store([0, 0], acc)


@triton.jit
def copy(x_ptr, y_ptr, n, pitch):
    x = tl.make_tensor_descriptor(x_ptr, [n, n], [pitch, 1], [16, 16])
    y = tl.make_tensor_descriptor(y_ptr, [n, n], [n, 1], [16, 32])
    y.store([0, pitch], tl.join(x.load([0, 0]), x.load([0, 16])).reshape(16, 32))
