# The error for too much shared memory names the op that takes most of it.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*i32,*i32' --target cuda:90 --emit ptx -o %t 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 128))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: remark: `kernel` needs {{[0-9]+}} bytes of shared memory, of which this takes 262144; sm_90a has 232448: smaller tiles or fewer stages may help, or it cannot be launched [shared-memory-exceeded]
    counts = tl.histogram(x, 65536)
    tl.store(out_ptr + tl.arange(0, 65536), counts)
