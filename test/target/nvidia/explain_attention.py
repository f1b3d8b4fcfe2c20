# What became of each line of attention where warps differ: roles, the reasons where they do not, lanes of each role.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s --signature '*fp16:16,*fp16:16,*fp16:16,*fp16:16,i32:16,128,128,128' --target cuda:90 --num-warps 8 --num-stages 2 --emit plan.lines -o - 2>%t.err | FileCheck %s
# RUN: nereid compile %s --signature '*fp16:16,*fp16:16,*fp16:16,*fp16:16,i32:16,128,64,64' --target cuda:90 --num-warps 4 --emit plan.lines -o - 2>%t.err | FileCheck %s --check-prefix=ALIKE
# RUN: count 0 < %t.err
import triton
import triton.language as tl


@triton.jit
def attention(q, k, v, o, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0) * M + tl.arange(0, M)
    d = tl.arange(0, D)
    a = tl.load(q + m[:, None] * D + d[None, :])
    high = tl.full((M,), -float("inf"), tl.float32)
    total = tl.zeros((M,), tl.float32)
    acc = tl.zeros((M, D), tl.float32)
    for start in range(0, n, N):
        at = (start + tl.arange(0, N))[:, None] * D + d[None, :]
        s = tl.dot(a, tl.trans(tl.load(k + at)))
        now = tl.maximum(high, tl.max(s, 1))
        p = tl.exp2(s - now[:, None])
        scale = tl.exp2(high - now)
        total = total * scale + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), tl.load(v + at), acc * scale[:, None])
        high = now
    tl.store(o + m[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16))


# CHECK: attention for sm_90a, 12 warps, 163904 bytes of shared memory
# CHECK:   default: warps 0 to 7, 232 registers
# CHECK:   partition 0: warps 8 to 11, 40 registers
# CHECK: {{.*}}explain_attention.py
# CHECK:     11  def attention(q, k, v, o, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
# CHECK:         - warps specialised: 4 warps load for the other 8
# CHECK:     14      a = tl.load(q + m[:, None] * D + d[None, :])
# CHECK:         - load of 128x128xf16 in vectors of 16 bytes; ~683 cycles of memory copies
# CHECK:         - write of 128x128xf16 to shared memory; ~256 cycles of shared memory
# CHECK:         - arithmetic on tiles; ~131 cycles of FMA/ALU
# CHECK:     19          at = (start + tl.arange(0, N))[:, None] * D + d[None, :]
# CHECK:         - arithmetic on tiles; ~130 cycles of FMA/ALU
# CHECK:     20          s = tl.dot(a, tl.trans(tl.load(k + at)))
# CHECK:         - dot of 128x128xf16 and 128x128xf16, by wgmma m64n128k16, both operands from shared memory, asynchronous (2 times in the code); ~1024 cycles of tensor cores
# CHECK:         - copy of 128x128xf16 in vectors of 16 bytes, asynchronous (cp.async), to 2 buffers in shared memory; ~683 cycles of memory copies
# CHECK:         - barrier between the threads' accesses
# CHECK:         - arithmetic on tiles; ~128 cycles of FMA/ALU
# CHECK:     21          now = tl.maximum(high, tl.max(s, 1))
# CHECK:         - reduction of 128x128xf32 along dimension 1, within threads and warps; ~128 cycles of FMA/ALU
# CHECK:     22          p = tl.exp2(s - now[:, None])
# CHECK:         - arithmetic on tiles; ~128 cycles of FMA/ALU
# CHECK:         - exp2 of tiles; ~1024 cycles of special functions
# CHECK:     23          scale = tl.exp2(high - now)
# CHECK:         - exp2 of tiles; ~8 cycles of special functions
# CHECK:     24          total = total * scale + tl.sum(p, 1)
# CHECK:         - reduction of 128x128xf32 along dimension 1, within threads and warps; ~128 cycles of FMA/ALU
# CHECK:     25          acc = tl.dot(p.to(tl.float16), tl.load(v + at), acc * scale[:, None])
# CHECK:         - dot of 128x128xf16 and 128x128xf16, by wgmma m64n128k16, operands from registers and shared memory, asynchronous (2 times in the code); ~1024 cycles of tensor cores
# CHECK:         - copy of 128x128xf16 in vectors of 16 bytes, asynchronous (cp.async), to 2 buffers in shared memory; ~683 cycles of memory copies
# CHECK:         - arithmetic on tiles; ~128 cycles of FMA/ALU
# CHECK:     27      tl.store(o + m[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16))
# CHECK:         - layout of 128x128xf16 converted through 32768 bytes of shared memory; ~512 cycles of shared memory
# CHECK:         - store of 128x128xf16 in vectors of 16 bytes; ~683 cycles of memory copies
# CHECK:         - barrier between the threads' accesses
# CHECK:         - arithmetic on tiles; ~257 cycles of FMA/ALU
# CHECK:         - divf of tiles; ~1024 cycles of special functions
# CHECK: loop at line 18: an iteration takes ~2830 cycles; 2 iterations, 79 cycles a column
# CHECK:   default     tensor cores      |{{.*}}|
# CHECK:   default     FMA/ALU           |{{.*}}|
# CHECK:   default     special functions |{{.*}}|
# CHECK:   partition 0 memory copies     |{{.*}}|
# CHECK:   partition 0 FMA/ALU           |{{.*}}|
# CHECK:   tensor cores: ~2048 cycles of an iteration, 72 %
# CHECK:   memory copies: ~1366 cycles of an iteration, 48 %
# CHECK:   FMA/ALU: ~1030 cycles of an iteration, 36 %
# CHECK:   special functions: ~1032 cycles of an iteration, 36 %

# ALIKE:         - pipelined: loads run up to 2 iterations ahead
# ALIKE:         - all warps do the same, none only loads: num_warps is 4, not 8 [warps-alike]
# ALIKE:         - exp2 of tiles; ~512 cycles of special functions
# ALIKE:         - exp2 of tiles; ~8 cycles of special functions
# ALIKE: loop at line 18: an iteration takes ~1452 cycles, loads run up to 2 iterations ahead; 2 iterations, 40 cycles a column
# ALIKE:   all warps   tensor cores      |{{.*}}|
# ALIKE:   all warps   memory copies     |{{.*}}|
# ALIKE:   all warps   FMA/ALU           |{{.*}}|
# ALIKE:   all warps   special functions |{{.*}}|
