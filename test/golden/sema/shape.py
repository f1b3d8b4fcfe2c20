# Changes of shape: broadcast, expand_dims, reshape, permute, item and the stdlib functions built on them.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir --no-locations -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    # CHECK-LABEL: tt.func public @kernel
    # CHECK: %[[X:.+]] = tt.load %{{.+}} : tensor<4x8x!tt.ptr<f32>>
    grid = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    x = tl.load(x_ptr + grid)
    # CHECK: %[[T:.+]] = tt.trans %[[X]] {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
    # CHECK: %[[FLAT:.+]] = tt.reshape %[[T]] : tensor<8x4xf32> -> tensor<32xf32>
    flat = x.T.reshape(32)
    tl.store(x_ptr + tl.arange(0, 32), flat)
    # CHECK: %[[ANY:.+]] = tt.reshape %[[X]] allow_reorder : tensor<4x8xf32> -> tensor<32xf32>
    # CHECK: tt.store %{{.+}}, %[[ANY]]
    tl.store(x_ptr + tl.arange(0, 32), x.view(32))
    # CHECK: %[[RAVEL:.+]] = tt.reshape %[[X]] : tensor<4x8xf32> -> tensor<32xf32>
    # CHECK: tt.store %{{.+}}, %[[RAVEL]]
    tl.store(x_ptr + tl.arange(0, 32), tl.ravel(x))
    # CHECK: %[[CUBE:.+]] = tt.reshape %[[X]] : tensor<4x8xf32> -> tensor<2x2x8xf32>
    # CHECK: %[[TURNED:.+]] = tt.trans %[[CUBE]] {order = array<i32: 2, 0, 1>} : tensor<2x2x8xf32> -> tensor<8x2x2xf32>
    # CHECK: tt.reshape %[[TURNED]] : tensor<8x2x2xf32> -> tensor<4x8xf32>
    cube = tl.permute(x.reshape(2, 2, 8), 2, 0, 1)
    tl.store(x_ptr + grid, cube.reshape((4, 8)))
    # CHECK: tt.expand_dims %{{.+}} {axis = 0 : i32} : tensor<8xf32> -> tensor<1x8xf32>
    # CHECK: tt.broadcast %{{.+}} : tensor<1x8xf32> -> tensor<4x8xf32>
    row, whole = tl.broadcast(tl.arange(0, 8).to(tl.float32)[None, :], x)
    tl.store(x_ptr + grid, row + tl.broadcast_to(n.to(tl.float32), 4, 8))
    # CHECK: tt.unsplat %{{.+}} : tensor<1x1xf32>
    one = tl.expand_dims(tl.load(x_ptr), (0, 1)) + tl.load(x_ptr + tl.arange(0, 1))[None, :]
    tl.store(x_ptr, one.item())
    # CHECK: tt.reshape %{{.+}} : tensor<1x8xf32> -> tensor<8xf32>
    tl.store(x_ptr + tl.arange(0, 8), tl.squeeze(tl.load(x_ptr + tl.unsqueeze(tl.arange(0, 8), 0)), 0))
