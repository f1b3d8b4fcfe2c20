# Loops without dots: each iteration waits for its loads, with the reason; tl.range prefetches them.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:totals --signature '*fp32:16,*fp32:16,i32:16,1024,1' --target cuda:90 --emit plan.lines -o - | FileCheck %s
# RUN: nereid compile %s:totals --signature '*fp32:16,*fp32:16,i32:16,1024,2' --target cuda:90 --emit plan.lines -o - | FileCheck %s --check-prefix=AHEAD
import triton
import triton.language as tl


@triton.jit
def totals(x, o, n, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    acc = tl.zeros([BLOCK], tl.float32)
    for start in tl.range(0, n, BLOCK, num_stages=STAGES):
        acc += tl.load(x + start + tl.arange(0, BLOCK))
    tl.store(o + tl.arange(0, BLOCK), acc)


# CHECK: totals for sm_90a, 4 warps, 0 bytes of shared memory
# CHECK: {{.*}}explain_loops.py
# CHECK:     12      for start in tl.range(0, n, BLOCK, num_stages=STAGES):
# CHECK:         - each iteration waits for its own loads
# CHECK:           reason: num_stages of a kernel is for loops with a dot; tl.range(..., num_stages=N) is for any loop
# CHECK:     13          acc += tl.load(x + start + tl.arange(0, BLOCK))
# CHECK:         - load of 1024xf32 in vectors of 16 bytes; ~86 cycles of memory copies
# CHECK:         - arithmetic on tiles; ~16 cycles of FMA/ALU
# CHECK:     14      tl.store(o + tl.arange(0, BLOCK), acc)
# CHECK:         - store of 1024xf32 in vectors of 16 bytes; ~86 cycles of memory copies
# CHECK:         - arithmetic on tiles; ~8 cycles of FMA/ALU
# CHECK: loop at line 12: an iteration takes ~602 cycles; 2 iterations, 17 cycles a column
# CHECK:   all warps   memory copies     |{{.*}}|
# CHECK:   all warps   FMA/ALU           |{{.*}}|
# CHECK:   memory copies: ~86 cycles of an iteration, 14 %
# CHECK:   FMA/ALU: ~16 cycles of an iteration, 2 %

# AHEAD:         - the loads of the next iteration run beside this one
# AHEAD:         - load of 1024xf32 in vectors of 16 bytes, masked (2 times in the code); ~86 cycles of memory copies
# AHEAD:         - store of 1024xf32 in vectors of 16 bytes; ~86 cycles of memory copies
# AHEAD: loop at line 12: an iteration takes ~594 cycles; 2 iterations, 16 cycles a column
