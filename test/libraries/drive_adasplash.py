"""adasplash: entmax, sparsemax and attention with them."""
# SPDX-License-Identifier: MIT

import adasplash
import cases
import torch
from cases import bf16, case, f16, f32, normal, same


def entmax(x, alpha=1.5):
    """By bisection, with the gradient of its closed form on the support."""
    with torch.no_grad():
        scaled = (alpha - 1) * x
        low = scaled.max(-1, keepdim=True).values - 1
        high = low + 1
        for _ in range(60):
            middle = (low + high) / 2
            total = (scaled - middle).clamp(min=0).pow(1 / (alpha - 1)).sum(-1, keepdim=True)
            low, high = torch.where(total >= 1, middle, low), torch.where(total >= 1, high, middle)
        p = (scaled - low).clamp(min=0).pow(1 / (alpha - 1))
        p = p / p.sum(-1, keepdim=True)
        weight = torch.where(p > 0, p.clamp(min=1e-30).pow(2 - alpha), torch.zeros_like(p))
    mean = (weight * x).sum(-1, keepdim=True) / weight.sum(-1, keepdim=True)
    change = weight * (x - mean)  # the value cancels out; the gradient is that of entmax
    return p + change - change.detach()


@case(alpha=[1.5, 1.333], columns=[50, 1024, 3000])
def entmax_rows(alpha, columns):
    same(
        lambda x: adasplash.triton_entmax(x, alpha=alpha, n_iter=6),
        lambda x: entmax(x, alpha),
        [normal(6, columns)],
        5e-3,
    )


@case(columns=[50, 1024])
def entmax_first_version(columns):
    same(
        lambda x: adasplash.triton_entmax_v1(x, n_iter=20, fast_math=False),
        entmax,
        [normal(6, columns)],
        1e-2,
    )


@case(columns=[50, 1024])
def sparsemax(columns):
    same(adasplash.triton_sparsemax, lambda x: entmax(x, 2.0), [normal(6, columns)], 1e-2)


def attention(causal):
    def reference(q, k, v):
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        if causal:
            scores = scores.masked_fill(~torch.ones(scores.shape[-2:]).tril().bool(), -1e9)
        return entmax(scores) @ v

    return reference


@case(length=[128, 256], causal=[False, True], dtype=[f32, f16])
def block_mask(length, causal, dtype):
    inputs = [normal(1, 2, length, 64, dtype=dtype) for _ in range(3)]
    same(
        lambda q, k, v: adasplash.adasplash_v1(q, k, v, is_causal=causal, niter=15),
        attention(causal),
        inputs,
        3e-2,
    )


@case(length=[128, 256], causal=[False, True])
def no_block_mask(length, causal):
    inputs = [normal(1, 2, length, 64) for _ in range(3)]
    same(
        lambda q, k, v: adasplash.adasplash_no_block_mask(q, k, v, is_causal=causal, niter=15),
        attention(causal),
        inputs,
        3e-2,
    )


def second_version(length, dtype):
    inputs = [normal(1, 2, length, 64, dtype=dtype) for _ in range(3)]
    same(lambda q, k, v: adasplash.adasplash_v2(q, k, v, niter=3), attention(True), inputs, 4e-2)


if cases.DEVICE == "cuda":  # its kernels hold inline PTX
    case(length=[128, 256], dtype=[f16, bf16])(second_version)
