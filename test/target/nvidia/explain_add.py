# What became of each line of an addition: 16-byte vectors, or single elements with the reason.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s --signature '*fp32:16,*fp32:16,*fp32:16,i32:16,1024' --target cuda:90 --emit plan.lines -o - | FileCheck %s
# RUN: nereid compile %s --signature '*fp32:16,*fp32:16,*fp32:16,i32,1024' --target cuda:90 --emit plan.lines -o - | FileCheck %s --check-prefix=MASK
# RUN: nereid compile %s --signature '*fp32,*fp32:16,*fp32:16,i32:16,1024' --target cuda:80 --emit plan.lines -o - | FileCheck %s --check-prefix=ALIGN
# RUN: nereid compile %s --signature '*fp32:16,*fp32:16,*fp32:16,i32:16,64' --target cuda:80 --emit plan.lines -o - | FileCheck %s --check-prefix=SMALL
import triton
import triton.language as tl


@triton.jit
def add(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = at < n
    a = tl.load(x + at, mask=m)
    b = tl.load(y + at, mask=m)
    tl.store(o + at, a + b, mask=m)


# CHECK: add for sm_90a, 4 warps, 0 bytes of shared memory
# CHECK: {{.*}}explain_add.py
# CHECK:     13      at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
# CHECK:         - arithmetic on tiles; ~8 cycles of FMA/ALU
# CHECK:     14      m = at < n
# CHECK:         - arithmetic on tiles; ~8 cycles of FMA/ALU
# CHECK:     15      a = tl.load(x + at, mask=m)
# CHECK:         - load of 1024xf32 in vectors of 16 bytes, masked; ~86 cycles of memory copies
# CHECK:         - arithmetic on tiles; ~8 cycles of FMA/ALU
# CHECK:     16      b = tl.load(y + at, mask=m)
# CHECK:         - load of 1024xf32 in vectors of 16 bytes, masked; ~86 cycles of memory copies
# CHECK:         - arithmetic on tiles; ~8 cycles of FMA/ALU
# CHECK:     17      tl.store(o + at, a + b, mask=m)
# CHECK:         - store of 1024xf32 in vectors of 16 bytes, masked; ~86 cycles of memory copies
# CHECK:         - arithmetic on tiles; ~16 cycles of FMA/ALU

# MASK:         - load of 1024xf32 in vectors of 4 bytes, masked; ~86 cycles of memory copies
# MASK:           reason: the mask may change after every element; it is constant over more where its bound is known to be a multiple of 4, as by tl.multiple_of or an argument divisible by 16
# MASK:         - load of 1024xf32 in vectors of 4 bytes, masked; ~86 cycles of memory copies
# MASK:           reason: the mask may change after every element; it is constant over more where its bound is known to be a multiple of 4, as by tl.multiple_of or an argument divisible by 16
# MASK:         - store of 1024xf32 in vectors of 4 bytes, masked; ~86 cycles of memory copies
# MASK:           reason: the mask may change after every element; it is constant over more where its bound is known to be a multiple of 4, as by tl.multiple_of or an argument divisible by 16

# ALIGN: add for sm_80, 4 warps, 0 bytes of shared memory
# ALIGN:         - load of 1024xf32 in vectors of 4 bytes, masked; ~86 cycles of memory copies
# ALIGN:           reason: the addresses are not known to be multiples of more than 4 bytes; tl.multiple_of, or arguments divisible by 16, say more
# ALIGN:         - load of 1024xf32 in vectors of 4 bytes, masked; ~86 cycles of memory copies
# ALIGN:           reason: its layout, which other accesses share, has neighbouring elements in different threads
# ALIGN:         - store of 1024xf32 in vectors of 4 bytes, masked; ~86 cycles of memory copies
# ALIGN:           reason: its layout, which other accesses share, has neighbouring elements in different threads

# SMALL:         - load of 64xf32 in vectors of 4 bytes, masked; ~6 cycles of memory copies
# SMALL:           reason: the tile is too small to give each thread a vector of 16 bytes; a larger tile or fewer warps do
# SMALL:         - load of 64xf32 in vectors of 4 bytes, masked; ~6 cycles of memory copies
# SMALL:           reason: the tile is too small to give each thread a vector of 16 bytes; a larger tile or fewer warps do
# SMALL:           reason: the tile is too small to give each thread a vector of 16 bytes; a larger tile or fewer warps do
