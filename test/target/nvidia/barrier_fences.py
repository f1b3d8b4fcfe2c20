# Barriers of TMA are fenced for shared memory alone, unless threads have written global memory before; at the kernel's
# end they stay valid.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:multiply --signature '*bf16:16,*bf16:16,*fp32:16,i32:16' --target cuda:90 --abi own --emit ptx -o - | FileCheck %s
# RUN: nereid compile %s:write_and_multiply --signature '*bf16:16,*bf16:16,*fp32:16,i32:16' --target cuda:90 --abi own --emit ptx -o - | FileCheck %s --check-prefix=AFTER
import triton
import triton.language as tl


@triton.jit
def product(x, y, k):
    rows = tl.arange(0, 64)
    columns = tl.arange(0, 64)
    sums = tl.zeros((64, 64), dtype=tl.float32)
    for start in range(0, k, 64):
        a = tl.load(x + rows[:, None] * k + (start + columns)[None, :])
        b = tl.load(y + rows[None, :] * k + (start + columns)[:, None])
        sums = tl.dot(a, b, sums)
    return sums


# CHECK: mbarrier.init
# CHECK: fence.proxy.async.shared::cta;
# CHECK: cp.async.bulk.tensor
# CHECK-NOT: mbarrier.inval
@triton.jit
def multiply(x, y, out, k):
    numbers = tl.arange(0, 64)
    tl.store(out + numbers[:, None] * 64 + numbers[None, :], product(x, y, k))


# AFTER: mbarrier.init
# AFTER: fence.proxy.async;
# AFTER: cp.async.bulk.tensor
@triton.jit
def write_and_multiply(x, y, out, k):
    numbers = tl.arange(0, 64)
    tl.store(out + 4096 + numbers, numbers.to(tl.float32))
    tl.store(out + numbers[:, None] * 64 + numbers[None, :], product(x, y, k))
