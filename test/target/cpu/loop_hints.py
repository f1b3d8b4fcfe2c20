# Loop hints of the author become metadata of the back edge; other loops have none.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:hinted --target cpu:x86-64-v3 --signature '*fp32,i32' --emit llir -o - | FileCheck %s
# RUN: nereid compile %s:plain --target cpu:x86-64-v3 --signature '*fp32,i32' --emit llir -o - | FileCheck %s --check-prefix=PLAIN
import triton
import triton.language as tl


# CHECK: br label %{{.*}}!llvm.loop ![[LOOP:[0-9]+]]
# CHECK: ![[LOOP]] = distinct !{![[LOOP]], ![[LICM:[0-9]+]], ![[COUNT:[0-9]+]]}
# CHECK: ![[LICM]] = !{!"llvm.licm.disable"}
# CHECK: ![[COUNT]] = !{!"llvm.loop.unroll.count", i32 4}
@triton.jit
def hinted(x_ptr, n):
    total = 0.0
    for i in tl.range(n, disable_licm=True, loop_unroll_factor=4):
        total += tl.load(x_ptr + i)
    tl.store(x_ptr, total)


# RUN: nereid compile %s:waiting --target cpu:x86-64-v3 --signature '*fp32,i32' --emit llir -o - | FileCheck %s --check-prefix=WAITING
# WAITING: br {{.*}}!llvm.loop ![[LOOP:[0-9]+]]
# WAITING: ![[LOOP]] = distinct !{![[LOOP]], ![[LICM:[0-9]+]]}
# WAITING: ![[LICM]] = !{!"llvm.licm.disable"}
@triton.jit
def waiting(x_ptr, n):
    i = n - 1
    while tl.condition(i > tl.load(x_ptr), disable_licm=True):
        i -= 1
    tl.store(x_ptr, i.to(tl.float32))


# PLAIN-NOT: llvm.licm.disable
# PLAIN-NOT: llvm.loop.unroll.count
@triton.jit
def plain(x_ptr, n):
    total = 0.0
    for i in range(n):
        total += tl.load(x_ptr + i)
    tl.store(x_ptr, total)
