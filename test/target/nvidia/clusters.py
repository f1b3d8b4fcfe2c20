# A program of two CTAs: its id is that of the cluster, the second CTA exits at once, the kernel states its cluster size.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:where --signature '*i32:16' --target cuda:90 --num-ctas 2 --emit ptx -o - 2>%t | FileCheck %s
# RUN: FileCheck %s --check-prefix=SAYS < %t
# RUN: not nereid compile %s:where --signature '*i32:16' --target cuda:80 --num-ctas 2 --emit ptx -o - 2>&1 | FileCheck %s --check-prefix=OLDER
# RUN: not nereid compile %s:where --signature '*i32:16' --target cuda:90 --num-ctas 3 --emit ptx -o - 2>&1 | FileCheck %s --check-prefix=THREE
import triton
import triton.language as tl


@triton.jit
def where(out):
    tl.store(out + tl.program_id(0), tl.num_programs(0) + tl.program_id(1))


# CHECK: .explicitcluster
# CHECK: .reqnctapercluster 2
# CHECK-NOT: %ctaid.x
# CHECK-NOT: %nctaid.x
# CHECK: mov.u32 [[RANK:%r[0-9]+]], %cluster_ctarank;
# CHECK: setp.{{eq|ne}}.b32 [[IS:%p[0-9]+]], [[RANK]], 0;
# CHECK: bra
# CHECK-NOT: %ctaid.x
# CHECK-NOT: %nctaid.x
# CHECK-DAG: %clusterid.x
# CHECK-DAG: %nclusterid.x
# CHECK-DAG: %ctaid.y

# SAYS: clusters.py:12:5: remark: num_ctas=2: a program runs in the first block of its cluster, {{.*}} [num-ctas-idle]
# OLDER: clusters.py:12:5: error: num_ctas is 2; sm_80 has no clusters of blocks, which came with sm_90
# THREE: clusters.py:12:5: error: num_ctas is 3; it must be a power of two up to 16
