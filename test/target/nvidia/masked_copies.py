# A masked copy takes its predicate; PTX before 7.5 takes the size of the source instead.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:dots --signature '*bf16:16,*bf16:16,*fp32:16,i32' --target cuda:90 --emit ptx -o - | FileCheck %s
# RUN: nereid compile %s:dots --signature '*bf16:16,*bf16:16,*fp32:16,i32' --target cuda:80 --emit ptx -o - | FileCheck %s --check-prefix=SIZE
import triton
import triton.language as tl


@triton.jit
def dots(a, b, c, n):
    at = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    total = tl.zeros([64, 64], tl.float32)
    for _ in range(n):
        total = tl.dot(tl.load(a + at), tl.load(b + at), total)
        a += 4096
        b += 4096
    tl.store(c + at, total)


# CHECK: .version 8.0
# CHECK: cp.async.cg.shared.global [%r{{[0-9]+}} + {{[0-9]+}}], [%rd{{[0-9]+}}{{.*}}], 16, %p{{[0-9]+}};
# SIZE: .version 7.4
# SIZE: selp.b32 [[SIZE:%r[0-9]+]], 16, 0, %p
# SIZE: cp.async.cg.shared.global [%r{{[0-9]+}}+{{[0-9]+}}], [%rd{{[0-9]+}}{{.*}}], 16, [[SIZE]];
