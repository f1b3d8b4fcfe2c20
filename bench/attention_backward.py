"""Times the backward pass of attention: gradients of keys and values, then of queries, in one
kernel.

usage: attention_backward.py [--lengths 1024,4096] [--dims 64,128] [--rounds 3]

Prints one JSON line per case, in TFLOP/s of whatever `import triton` resolves to, with registers
and spills of each configuration, and torch's figure next to it; run it once for each
implementation (selected by PYTHONPATH), in alternation on one GPU, and compare. Results are
checked against torch before anything is timed. Inputs are normal numbers.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import argparse
import json
import sys

import torch
import triton
import triton.language as tl

# (BLOCK_OUTER, BLOCK_INNER, num_warps, num_stages)
CONFIGURATIONS = [(128, 32, 4, 3), (128, 32, 8, 3), (128, 64, 8, 2), (64, 64, 4, 2)]
LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def row_dots(out, grad, delta, D: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = rows[:, None].to(tl.int64) * D + tl.arange(0, D)[None, :]
    product = tl.load(out + at).to(tl.float32) * tl.load(grad + at).to(tl.float32)
    tl.store(delta + rows, tl.sum(product, 1))


@triton.jit
def add_key_gradients(
    dk,
    dv,
    q,
    do,
    lse,
    delta,
    k,
    v,
    keys,
    first,
    last,
    INNER: tl.constexpr,
    D: tl.constexpr,
    MASK: tl.constexpr,
):
    inner = tl.arange(0, INNER)
    column = tl.arange(0, D)
    for start in tl.range(first, last, INNER):
        rows = start + inner
        q_t = tl.load(q + rows[None, :] * D + column[:, None])
        p_t = tl.math.exp2(tl.dot(k, q_t) - tl.load(lse + rows)[None, :])
        if MASK:
            p_t = tl.where(rows[None, :] >= keys[:, None], p_t, 0.0)
        grad = tl.load(do + rows[:, None] * D + column[None, :])
        dv += tl.dot(p_t.to(grad.dtype), grad)
        dp_t = tl.dot(v, tl.trans(grad))
        ds_t = p_t * (dp_t - tl.load(delta + rows)[None, :])
        dk += tl.dot(ds_t.to(q_t.dtype), tl.trans(q_t))
    return dk, dv


@triton.jit
def add_query_gradients(
    dq,
    q,
    do,
    lse,
    delta,
    k,
    v,
    queries,
    first,
    last,
    INNER: tl.constexpr,
    D: tl.constexpr,
    MASK: tl.constexpr,
):
    inner = tl.arange(0, INNER)
    column = tl.arange(0, D)
    for start in tl.range(first, last, INNER):
        keys = start + inner
        k_t = tl.load(k + keys[None, :] * D + column[:, None])
        v_t = tl.load(v + keys[None, :] * D + column[:, None])
        p = tl.math.exp2(tl.dot(q, k_t) - lse[:, None])
        if MASK:
            p = tl.where(queries[:, None] >= keys[None, :], p, 0.0)
        ds = p * (tl.dot(do, v_t) - delta[:, None])
        dq += tl.dot(ds.to(k_t.dtype), tl.trans(k_t))
    return dq


@triton.jit
def attention_backward(
    Q,
    K,
    V,
    dO,
    dQ,
    dK,
    dV,
    LSE,
    DELTA,
    scale,
    N,
    OUTER: tl.constexpr,
    INNER: tl.constexpr,
    D: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """K is scaled by `scale` * log2(e) already."""
    block = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)
    base = head * N * D
    lse = LSE + head * N
    delta = DELTA + head * N
    begin = block * OUTER
    rows = begin + tl.arange(0, OUTER)
    at = base + rows[:, None] * D + tl.arange(0, D)[None, :]

    k = tl.load(K + at)
    v = tl.load(V + at)
    dk = tl.zeros([OUTER, D], dtype=tl.float32)
    dv = tl.zeros([OUTER, D], dtype=tl.float32)
    first = 0
    if CAUSAL:
        dk, dv = add_key_gradients(
            dk,
            dv,
            Q + base,
            dO + base,
            lse,
            delta,
            k,
            v,
            rows,
            begin,
            begin + OUTER,
            INNER,
            D,
            True,
        )
        first = begin + OUTER
    dk, dv = add_key_gradients(
        dk, dv, Q + base, dO + base, lse, delta, k, v, rows, first, N, INNER, D, False
    )
    tl.store(dV + at, dv.to(dV.dtype.element_ty))
    tl.store(dK + at, (dk * scale).to(dK.dtype.element_ty))

    q = tl.load(Q + at)
    do = tl.load(dO + at)
    row_lse = tl.load(lse + rows)
    row_delta = tl.load(delta + rows)
    dq = tl.zeros([OUTER, D], dtype=tl.float32)
    last = N
    if CAUSAL:
        dq = add_query_gradients(
            dq,
            q,
            do,
            row_lse,
            row_delta,
            K + base,
            V + base,
            rows,
            begin,
            begin + OUTER,
            INNER,
            D,
            True,
        )
        last = begin
    dq = add_query_gradients(
        dq, q, do, row_lse, row_delta, K + base, V + base, rows, 0, last, INNER, D, False
    )
    tl.store(dQ + at, (dq / LOG2E).to(dQ.dtype.element_ty))


def prepare(batch: int, heads: int, length: int, dim: int, causal: bool):
    """Inputs, torch's gradients and a launch for a configuration."""
    make = lambda: torch.randn(batch, heads, length, dim, device="cuda", dtype=torch.bfloat16)  # noqa: E731
    q, k, v = (make().requires_grad_() for _ in range(3))
    grad = make()
    scale = dim**-0.5
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    backward = lambda: torch.autograd.grad(out, (q, k, v), grad, retain_graph=True)  # noqa: E731
    expected = backward()
    scaled = (k.detach() * (scale * LOG2E.value)).contiguous()
    lse = torch.empty(batch, heads, length, device="cuda")
    for index in range(batch * heads):
        at = index // heads, index % heads
        scores = q.detach()[at].float() @ scaled[at].float().T
        if causal:
            scores = scores.masked_fill(
                ~torch.ones_like(scores, dtype=torch.bool).tril(), float("-inf")
            )
        lse[at] = torch.logsumexp(scores * 0.6931471805599453, -1) * LOG2E.value
    delta = torch.empty_like(lse)
    row_dots[(batch * heads * length // 128,)](out.detach(), grad, delta, D=dim, BLOCK=128)
    made = [torch.empty_like(q.detach()) for _ in range(3)]

    def launch(outer, inner, warps, stages):
        return attention_backward[(length // outer, batch * heads)](
            q.detach(),
            scaled,
            v.detach(),
            grad,
            *made,
            lse,
            delta,
            scale,
            length,
            OUTER=outer,
            INNER=inner,
            D=dim,
            CAUSAL=causal,
            num_warps=warps,
            num_stages=stages,
        )

    return launch, backward, made, expected


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lengths", default="1024,4096")
    parser.add_argument("--dims", default="64,128")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for length in map(int, options.lengths.split(",")):
        for dim in map(int, options.dims.split(",")):
            for causal in (False, True):
                batch, heads = 4, 16
                launch, backward, made, expected = prepare(batch, heads, length, dim, causal)
                flops = 10 * batch * heads * length * length * dim * (0.5 if causal else 1)

                def rate(call, flops=flops):
                    times = [triton.testing.do_bench(call, rep=40) for _ in range(options.rounds)]
                    return flops / sorted(times)[len(times) // 2] / 1e9

                what = f"attention backward bf16 N={length} D={dim} causal={causal}"
                found, resources = {}, {}
                for configuration in CONFIGURATIONS:
                    name = "x".join(map(str, configuration))
                    for gradient in made:
                        gradient.fill_(float("nan"))
                    try:
                        kernel = launch(*configuration)
                    except triton.runtime.errors.OutOfResources as error:
                        resources[name] = str(error)
                        continue
                    resources[name] = f"{kernel.n_regs} registers, {kernel.n_spills} spills"
                    for gradient, reference in zip(made, expected, strict=True):
                        error = (
                            gradient.float() - reference.float()
                        ).norm() / reference.float().norm()
                        assert error < 2e-2, (what, name, error.item())
                    found[name] = rate(lambda: launch(*configuration))  # noqa: B023
                best = max(found.values(), default=None)
                print(
                    json.dumps(
                        dict(what=what, value=best, unit="TFLOP/s", all=found, resources=resources)
                    )
                )
                print(
                    json.dumps(dict(what=what + " torch", value=rate(backward), unit="TFLOP/s")),
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
