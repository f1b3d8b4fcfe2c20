# What became of each line on a CPU: vectors, masks that bound a loop, gathers with the reason, copies, dots.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:add --target cpu:x86-64-v3 --signature '*fp32,*fp32,*fp32,i32,1024' --emit plan.lines -o - | FileCheck %s
# RUN: nereid compile %s:gathered --target cpu:x86-64-v3 --signature '*fp32,*i32,*fp32,256' --emit plan.lines -o - | FileCheck %s --check-prefix=GATHER
# RUN: nereid compile %s:product --target cpu:x86-64-v3 --signature '*fp32,*fp32,32' --emit plan.lines -o - | FileCheck %s --check-prefix=DOT
import triton
import triton.language as tl


@triton.jit
def add(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = at < n
    tl.store(o + at, tl.load(x + at, mask=m) + tl.load(y + at, mask=m), mask=m)


@triton.jit
def gathered(x, index, o, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    chosen = tl.load(index + at)
    tl.store(o + at * 2, tl.load(x + chosen))


@triton.jit
def product(x, o, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a = tl.load(x + at)
    tl.store(o + at, tl.dot(a, a))


# CHECK: add for cpu:x86-64-v3
# CHECK: {{.*}}explain.py
# CHECK:     14      tl.store(o + at, tl.load(x + at, mask=m) + tl.load(y + at, mask=m), mask=m)
# CHECK:         - a copy is made first where a store may overwrite what is loaded (2 times in the code)
# CHECK:           reason: the arguments may overlap
# CHECK:         - load of 1024 elements, 32 elements at a time, at neighbouring addresses, the mask a bound of the loop (2 times in the code)
# CHECK:         - store of 1024 elements, 32 elements at a time, at neighbouring addresses, the mask a bound of the loop

# GATHER: gathered for cpu:x86-64-v3
# GATHER: {{.*}}explain.py
# GATHER:     20      chosen = tl.load(index + at)
# GATHER:         - load of 256 elements, 4 elements at a time, at neighbouring addresses
# GATHER:     21      tl.store(o + at * 2, tl.load(x + chosen))
# GATHER:         - load of 256 elements, 4 elements at a time, one address per element
# GATHER:           reason: the addresses are no sums of multiples of the indices
# GATHER:         - a tile of 256 elements is kept in memory
# GATHER:         - store of 256 elements, 32 elements at a time, strided
# GATHER:           reason: no dimension of the tile has neighbouring addresses

# DOT: product for cpu:x86-64-v3
# DOT: {{.*}}explain.py
# DOT:     27      a = tl.load(x + at)
# DOT:         - load of 32x32 elements, 32 elements at a time, at neighbouring addresses
# DOT:     28      tl.store(o + at, tl.dot(a, a))
# DOT:         - dot of 32x32 and 32x32 elements from memory
# DOT:         - store of 32x32 elements, 32 elements at a time, at neighbouring addresses
