# The plan names the cases for which a nest has a version of its own.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:shifted --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,i32,1024' --emit plan -o - | FileCheck %s --check-prefix=EXACT
# RUN: nereid compile %s:shifted --target cpu:x86-64-v4 --signature '*fp32,*fp32,0,i32,1024' --emit plan -o - | FileCheck %s --check-prefix=SMALL
# RUN: nereid compile %s:rows --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,1024' --emit plan -o - | FileCheck %s --check-prefix=UNCOPIED
import triton
import triton.language as tl


# The number that is compared may overflow: as a prefix, the mask is right only where it does not.
@triton.jit
def shifted(x, y, shift, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, i + shift < n, 0))


# EXACT: nest 0 [1024]
# EXACT-NEXT: prefix d0 < -arg2 + arg3
# EXACT-NEXT: version where one of 1 comparisons is of sums that overflow
# EXACT-NEXT: load0

# SMALL: prefix d0 < arg2
# SMALL-NOT: version


# Either store may overwrite what the other nest reads, through addresses that are not affine.
@triton.jit
def rows(x, y, z, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i // 768 * 1280 + i % 768)
    tl.store(y + i, value)
    tl.store(z + i, value * 2)


# UNCOPIED: guard load0 copy b0 against 2 stores
# UNCOPIED-NEXT: nest 0
# UNCOPIED-NEXT: version without the copies of load0
# UNCOPIED: nest 1
# UNCOPIED-NEXT: version without the copies of load0
