"""Texts of dots, read and run."""
# SPDX-License-Identifier: MIT

import numpy as np
from _ttir_texts import from_text, kernel  # noqa: F401
from harness import check, empty_like, values


@from_text("matmul")
def test_matmul(kernel, device):
    m, n, k = 70, 50, 40
    a, b = values("float16", m, k), values("float16", k, n, seed=1)
    result = a.astype(np.float64) @ b.astype(np.float64)
    want = np.where(result >= 0, result, 0.01 * result)
    arguments = dict(a=a, b=b, c=np.zeros((m, n), np.float16), M=m, N=n, K=k)
    arguments |= dict(a_row=k, b_row=n, c_row=n)
    check(kernel, (6,), arguments, dict(c=want), device=device, rtol=2e-3, atol=2e-3)


@from_text("attention")
def test_attention(kernel, device):
    q, k, v = (values("float16", 64, 16, seed=seed) for seed in range(3))
    score = q.astype(np.float64) @ k.astype(np.float64).T * 0.25
    score[np.triu_indices(64, 1)] = -np.inf
    power = np.exp(score - score.max(1, keepdims=True))
    want = power / power.sum(1, keepdims=True) @ v.astype(np.float64)
    arguments = dict(q=q, k=k, v=v, out=np.zeros((64, 16), np.float32), scale=0.25)
    check(kernel, (2,), arguments, dict(out=want), device=device, rtol=5e-3, atol=5e-3)


@from_text("dot_precisions")
def test_dot_precisions(kernel, device):
    a, b = values("float32", 16, 16), values("float32", 16, 16, seed=1)
    wide = a.astype(np.float64)
    batch = wide.reshape(2, 8, 16)
    result = batch @ batch.transpose(0, 2, 1)
    want = 2 * wide @ b + np.stack([result, result], -1).reshape(16, 16)
    check(kernel, (1,), dict(a=a, b=b, c=empty_like(a)), dict(c=want), device=device, rtol=1e-4, atol=1e-4)


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def from_e4m3(bits):
    sign, exponent, mantissa = bits >> 7, bits >> 3 & 15, bits & 7
    value = np.where(exponent == 0, mantissa / 8 * 2.0**-6, (1 + mantissa / 8) * 2.0 ** (exponent - 7.0))
    return np.where(sign, -value, value)


@from_text("attention_backward")
def test_attention_backward(kernel, device):
    n, d, scale = 64, 16, 0.25
    q, k, v, do = (values("float16", n, d, seed=seed, low=-1, high=1) for seed in range(4))
    wide_q, wide_k, wide_v, gradient = (x.astype(np.float64) for x in (q, k, v, do))
    score = wide_q @ wide_k.T * scale
    lse = np.log(np.exp(score).sum(1))
    share = np.exp(score - lse[:, None])
    delta = (share @ wide_v * gradient).sum(1)
    dscore = share * (gradient @ wide_v.T - delta[:, None]) * scale
    arguments = dict(q=q, k=k, v=v, do=do, lse=lse.astype(np.float32), delta=delta.astype(np.float32))
    arguments |= {name: np.zeros((n, d), np.float32) for name in ("dq", "dk", "dv")}
    expected = dict(dq=dscore @ wide_k, dk=dscore.T @ wide_q, dv=share.T @ gradient)
    check(kernel, (2,), dict(arguments, scale=scale), expected, device=device, rtol=5e-3, atol=2e-3)


@from_text("dot_scales")
def test_dot_scales(kernel, device):
    random = np.random.default_rng(0)
    a = random.integers(0, 0x70, (32, 64)).astype(np.uint8) | random.integers(0, 2, (32, 64)).astype(np.uint8) << 7
    b = random.integers(0, 256, (32, 32)).astype(np.uint8)
    a_scale, b_scale = (random.integers(120, 130, (32, 2)).astype(np.uint8) for _ in "ab")
    nibbles = np.stack([b & 15, b >> 4], 1).reshape(64, 32)
    right = np.where(nibbles & 8, -1, 1) * E2M1[nibbles & 7]
    left = from_e4m3(a.astype(np.int64)) * np.repeat(np.exp2(a_scale - 127.0), 32, 1)
    want = left @ (right * np.repeat(np.exp2(b_scale - 127.0), 32, 1).T)
    arguments = dict(a=a, a_scale=a_scale, b=b, b_scale=b_scale, c=np.zeros((32, 32), np.float32))
    check(kernel, (1,), arguments, dict(c=want), device=device, rtol=1e-5, atol=1e-3)


@from_text("rarer_forms")
def test_rarer_forms(kernel, device):
    n = 20  # values are multiples of 1/4 below 4: exact in every format here
    x = np.round(values("float32", n, n) * 4) / 4
    v = np.zeros((32, 32))
    v[:n, :n] = x
    whole = np.trunc(v)
    r = v + v.max(0, keepdims=True) + v.sum() + np.maximum(v, 0.5) + np.minimum(v, 1)
    r += rounded_to_e5m2(v) @ rounded_to_e5m2(v).T + whole @ whole + whole * 8
    r += n * np.trunc(x[0, 1]) + (32 - n)
    want = np.full((32, 32), 7, np.float32)
    want[:n, :n] = r[:n, :n]
    arguments = dict(x=x, out=np.full((32, 32), 7, np.float32), n=n)
    check(kernel, (1,), arguments, dict(out=want), device=device, rtol=1e-5, atol=1e-4)


def rounded_to_e5m2(v):
    step = np.exp2(np.floor(np.log2(np.maximum(np.abs(v), 2.0**-14))) - 2)
    return np.round(v / step) * step
