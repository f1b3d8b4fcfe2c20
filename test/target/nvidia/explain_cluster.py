# The explanation of a kernel whose tiles are split over a cluster: what is split, and each exchange.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:softmax --signature '*fp32:16,*fp32:16,i32:16,8192' --target cuda:90 --num-ctas 4 --emit plan -o - 2>/dev/null | FileCheck %s
import triton
import triton.language as tl


# CHECK: {{[0-9]+}}  def softmax
# CHECK-NEXT: - num_ctas=4: the blocks of a cluster divide these tiles among them: fp32[8192] along dimension 0 [num-ctas-split]
@triton.jit
def softmax(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * n
    # CHECK: load of 2048xf32 in vectors of 16 bytes
    x = tl.load(x_ptr + row + at, mask=at < n, other=-float("inf"))
    # CHECK: {{[0-9]+}}      e = tl.exp
    # CHECK: - exchange of 1xf32 of each CTA with the cluster's other CTAs
    e = tl.exp(x - tl.max(x, 0))
    # CHECK: {{[0-9]+}}      tl.store
    # CHECK: - exchange of 1xf32 of each CTA with the cluster's other CTAs
    tl.store(out_ptr + row + at, e / tl.sum(e, 0), mask=at < n)
