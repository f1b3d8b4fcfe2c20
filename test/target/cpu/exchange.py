# Partners at an index XOR a constant are lanes of one register, whatever the distance; many steps share few buffers.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:exchange --target cpu:x86-64-v3 --signature '*fp32,64' --emit plan,llir -o - | FileCheck %s
# RUN: nereid compile %s:network --target cpu:x86-64-v3 --signature '*fp32,256' --emit plan -o - | FileCheck %s --check-prefix=NETWORK
import triton
import triton.language as tl


@triton.jit
def exchange(x, N: tl.constexpr):
    at = tl.arange(0, N)
    y = tl.load(x + at) * 2
    tl.store(x + at, tl.gather(y, at ^ 3, 0))


# CHECK: b0 [64] f32 gathered
# CHECK-NOT: b1
# CHECK: materialise arith.mulf in b0
# CHECK: store
# CHECK: shufflevector {{.*}} <i32 3, i32 2, i32 1, i32 0, i32 7, i32 6, i32 5, i32 4
# CHECK-NOT: gather


@triton.jit
def network(x, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(x + at, tl.sort(tl.load(x + at)))


# 36 steps of a network on integer keys, each of which reads the buffer of the previous one.
# NETWORK: b35 [256] i32 gathered
# NETWORK-NOT: b36
# NETWORK: arena 2048 bytes
# NETWORK: nest {{.*}} [256] loops (d0) vector d0 x32
