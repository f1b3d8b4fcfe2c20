# Pipelined loads that go to LDS without registers: 16 bytes a lane on gfx950, 4 on gfx942 where the user asks for it.
# SPDX-License-Identifier: MIT
# DEFINE: %{compile} = nereid compile --num-warps 4 --emit amdgcn -o -
# RUN: %{compile} %s:matmul --num-stages 2 --signature '*fp16:16:S,*fp16:16:S,*fp16:16:S,i32:16,i32:16,128,128,64' --target hip:gfx950 | FileCheck %s --check-prefixes=WIDE
# RUN: %{compile} %s:matmul --num-stages 2 --signature '*fp16:16:S,*fp16:16:S,*fp16:16:S,i32:16,i32:16,64,64,64' --target hip:gfx942 --async-copy 1 | FileCheck %s --check-prefixes=NARROW
# RUN: %{compile} %s:matmul --num-stages 3 --signature '*fp16:16:S,*fp16:16:S,*fp16:16:S,i32:16,i32:16,64,64,64' --target hip:gfx950 | FileCheck %s --check-prefixes=DEEP
# RUN: %{compile} %s:matmul --num-stages 2 --signature '*fp16:16:S,*fp16:16:S,*fp16:16:S,i32:16,i32:16,64,64,64' --target hip:gfx942 | FileCheck %s --check-prefixes=NONE
# RUN: %{compile} %s:matmul --num-stages 2 --signature '*fp16:16:S,*fp16:16:S,*fp16:16:S,i32:16,i32:16,128,128,64' --target hip:gfx950 --async-copy 0 | FileCheck %s --check-prefixes=NONE
# RUN: %{compile} %s:matmul --num-stages 2 --signature '*fp16:16:S,*fp16:16:S,*fp16:16:S,i32:16,i32:16,128,128,64' --target hip:gfx950 --no-buffer-ops | FileCheck %s --check-prefixes=NONE
# RUN: %{compile} %s:matmul --num-stages 2 --signature '*fp16:16,*fp16:16,*fp16:16,i32:16,i32:16,128,128,64' --target hip:gfx950 | FileCheck %s --check-prefixes=NONE
import triton
import triton.language as tl


# The loop waits for the loads of the iteration before, meets the other waves, and starts those of the next iteration;
# reads of LDS do not wait for these.
# WIDE-NOT: ds_write
# WIDE: buffer_load_dwordx4 {{.*}} lds
# WIDE-NOT: ds_write
# WIDE: .LBB0_[[LOOP:[0-9]+]]:
# WIDE: s_waitcnt vmcnt(0)
# WIDE: s_barrier
# WIDE-COUNT-8: buffer_load_dwordx4 {{.*}} lds
# WIDE-NOT: vmcnt
# WIDE: v_mfma
# WIDE-NOT: vmcnt
# WIDE: s_cbranch_{{scc[01]|vcc.*}} .LBB0_[[LOOP]]
# With three stages the loads of one iteration, four of a thread, may be pending.
# DEEP: .LBB0_[[LOOP:[0-9]+]]:
# DEEP: s_waitcnt vmcnt(4)
# DEEP: s_barrier
# DEEP-COUNT-4: buffer_load_dwordx4 {{.*}} lds
# DEEP-NOT: vmcnt
# DEEP: s_cbranch_{{scc[01]|vcc.*}} .LBB0_[[LOOP]]
# NARROW: buffer_load_dword {{.*}} lds
# NARROW-NOT: buffer_load_dwordx4
# NONE-NOT: lds{{$}}
# NONE: ds_write_b128
@triton.jit
def matmul(a, b, o, k, stride, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    tl.assume(stride >= 0)
    m, n, d = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x, y = a + m[:, None] * stride + d[None, :], b + n[:, None] * stride + d[None, :]
    sums = tl.zeros((M, N), dtype=tl.float32)
    for i in range(0, k, K):
        sums = tl.dot(tl.load(x), tl.load(y).T, sums)
        x += K
        y += K
    tl.store(o + m[:, None] * N + n[None, :], sums.to(tl.float16))
