"""Times a grouped matmul whose addresses and strides come from memory, with hints in the loop over
K.

usage: grouped_gemm.py [--groups 4] [--sizes 1024,4096] [--rounds 5]

Prints one JSON line per case, in TFLOP/s of whatever `import triton` resolves to, and torch's next
to it; run it once for each implementation (selected by PYTHONPATH), in alternation on one GPU, and
compare. Results are checked before anything is timed.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import argparse
import json
import sys

import torch
import triton
import triton.language as tl

# (BLOCK_M, BLOCK_N, BLOCK_K, num_warps, num_stages)
CONFIGURATIONS = [(128, 128, 32, 4, 3), (128, 128, 64, 8, 3), (64, 64, 32, 4, 4)]


@triton.jit
def grouped_gemm(
    a_addresses,
    b_addresses,
    c_addresses,
    sizes,
    strides,
    groups,
    PROGRAMS: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    tile = tl.program_id(0)
    first = 0
    for group in range(groups):
        m = tl.load(sizes + group * 3)
        n = tl.load(sizes + group * 3 + 1)
        k = tl.load(sizes + group * 3 + 2)
        columns = tl.cdiv(n, BLOCK_N)
        count = tl.cdiv(m, BLOCK_M) * columns
        while tile >= first and tile < first + count:
            lda = tl.load(strides + group * 3)
            ldb = tl.load(strides + group * 3 + 1)
            ldc = tl.load(strides + group * 3 + 2)
            a = tl.load(a_addresses + group).to(tl.pointer_type(tl.float16))
            b = tl.load(b_addresses + group).to(tl.pointer_type(tl.float16))
            c = tl.load(c_addresses + group).to(tl.pointer_type(tl.float16))
            row = (tile - first) // columns * BLOCK_M + tl.arange(0, BLOCK_M)
            column = (tile - first) % columns * BLOCK_N + tl.arange(0, BLOCK_N)
            depth = tl.arange(0, BLOCK_K)
            a_at = a + row[:, None] * lda + depth[None, :]
            b_at = b + depth[:, None] * ldb + column[None, :]
            acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for _ in range(tl.cdiv(k, BLOCK_K)):
                tl.multiple_of(a_at, [16, 16])
                tl.multiple_of(b_at, [16, 16])
                acc += tl.dot(tl.load(a_at), tl.load(b_at))
                a_at += BLOCK_K
                b_at += BLOCK_K * ldb
            tl.store(c + row[:, None] * ldc + column[None, :], acc.to(tl.float16))
            tile += PROGRAMS
        first = first + count


def prepare(size: int, groups: int):
    """Matrices of `groups` matmuls, including halves of the sizes, and a launch for a
    configuration.
    """
    shapes = [(size >> (g % 2), size, size >> (g % 3 > 0)) for g in range(groups)]
    a = [torch.randn(m, k, device="cuda", dtype=torch.float16) for m, n, k in shapes]
    b = [torch.randn(k, n, device="cuda", dtype=torch.float16) for m, n, k in shapes]
    c = [torch.empty(m, n, device="cuda", dtype=torch.float16) for m, n, k in shapes]
    table = lambda values, dtype: torch.tensor(values, device="cuda", dtype=dtype)  # noqa: E731
    addresses = [table([x.data_ptr() for x in list_], torch.int64) for list_ in (a, b, c)]
    sizes = table([x for shape in shapes for x in shape], torch.int32)
    strides = table(
        [x.stride(0) for three in zip(a, b, c, strict=True) for x in three], torch.int32
    )
    programs = torch.cuda.get_device_properties(0).multi_processor_count

    def launch(block_m, block_n, block_k, warps, stages):
        grouped_gemm[(programs,)](
            *addresses,
            sizes,
            strides,
            groups,
            PROGRAMS=programs,
            BLOCK_M=block_m,
            BLOCK_N=block_n,
            BLOCK_K=block_k,
            num_warps=warps,
            num_stages=stages,
        )

    return a, b, c, launch, 2 * sum(m * n * k for m, n, k in shapes)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--groups", type=int, default=4)
    parser.add_argument("--sizes", default="1024,4096")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for size in map(int, options.sizes.split(",")):
        a, b, c, launch, flops = prepare(size, options.groups)

        def rate(call, flops=flops):
            times = [triton.testing.do_bench(call) for _ in range(options.rounds)]
            return flops / sorted(times)[len(times) // 2] / 1e9

        found = {}
        for configuration in CONFIGURATIONS:
            for out in c:
                out.fill_(float("nan"))
            launch(*configuration)
            for x, y, out in zip(a, b, c, strict=True):
                torch.testing.assert_close(out, x @ y, rtol=2e-2, atol=2e-1)
            found["x".join(map(str, configuration))] = rate(lambda: launch(*configuration))  # noqa: B023
        what = f"grouped gemm f16 {options.groups}x{size}"
        print(json.dumps(dict(what=what, value=max(found.values()), unit="TFLOP/s", all=found)))
        by_torch = rate(lambda: [torch.mm(x, y, out=z) for x, y, z in zip(a, b, c, strict=True)])  # noqa: B023
        print(json.dumps(dict(what=what + " torch", value=by_torch, unit="TFLOP/s")), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
