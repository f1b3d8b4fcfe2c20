# Elements at computed indices: gather, scatter_add and histogram.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*fp32,*u8' --target cpu --emit ttir --no-locations -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, byte_ptr):
    # CHECK-LABEL: tt.func public @kernel
    at = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    x = tl.load(x_ptr + at)
    # CHECK: %[[I:.+]] = arith.xori
    # CHECK: tt.gather %{{.+}}[%[[I]]] {axis = 1 : i32} : (tensor<4x8xf32>, tensor<4x8xi32>) -> tensor<4x8xf32>
    tl.store(x_ptr + at, tl.gather(x, at ^ 3, axis=-1))
    # An unsigned index is zero-extended, since IR integers are signless.
    # CHECK: %[[BYTE:.+]] = tt.load %{{.+}} : tensor<4x8x!tt.ptr<i8>>
    # CHECK: %[[WIDE:.+]] = arith.extui %[[BYTE]] : tensor<4x8xi8> to tensor<4x8xi32>
    # CHECK: tt.gather %{{.+}}[%[[WIDE]]] {axis = 0 : i32}
    bytes = tl.load(byte_ptr + at)
    tl.store(x_ptr + at, x.gather(bytes, 0))
    # CHECK: %[[FLAT:.+]] = tt.reshape
    # CHECK: %[[MASK:.+]] = arith.cmpi
    # CHECK: tt.histogram %{{.+}}, %{{.+}} : tensor<32xi32> -> tensor<16xi32>
    flat = tl.ravel(bytes)
    counts = tl.histogram(flat, 16, mask=flat < 9)
    tl.store(x_ptr + tl.arange(0, 16), counts.to(tl.float32))
    # Tiles are flattened, and 16-bit floats added in 32 bits.
    # CHECK: %[[SRC:.+]] = tt.reshape %{{.+}} : tensor<4x8xf32> -> tensor<32xf32>
    # CHECK: %[[INDEX:.+]] = tt.reshape %{{.+}} : tensor<4x8xi32> -> tensor<32xi32>
    # CHECK: %[[SUMS:.+]] = tt.scatter_add %[[SRC]][%[[INDEX]]] : (tensor<32xf32>, tensor<32xi32>) -> tensor<16xf32>
    # CHECK: arith.truncf %[[SUMS]] : tensor<16xf32> to tensor<16xf16>
    sums = tl.scatter_add(x.to(tl.float16), bytes, 16)
    tl.store(x_ptr + tl.arange(0, 16), sums)
