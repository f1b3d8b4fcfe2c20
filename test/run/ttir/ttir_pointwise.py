"""Texts of pointwise kernels and reductions, read and run."""
# SPDX-License-Identifier: MIT

import numpy as np
from _ttir_texts import from_text, kernel  # noqa: F401
from harness import check, empty_like, values


@from_text("vector_add")
def test_vector_add(kernel, device):
    x, y = values("float32", 1000), values("float32", 1000, seed=1)
    check(kernel, (4,), dict(x=x, y=y, out=empty_like(x), n=1000), dict(out=x + y), device=device)


@from_text("fused_softmax")
def test_fused_softmax(kernel, device):
    x = values("float32", 7, 103)
    out = empty_like(x)
    want = out.copy()
    power = np.exp(x[:, :100] - x[:, :100].max(1, keepdims=True))
    want[:, :100] = power / power.sum(1, keepdims=True)
    arguments = dict(out=out, x=x, x_stride=103, rows=7, columns=100)
    check(kernel, (3,), arguments, dict(out=want), device=device, rtol=1e-5)


def philox(seed, offset, rounds=10):
    """The first of the four 32-bit numbers of Philox 4x32."""
    c = [offset.astype(np.uint64)] + [np.zeros(offset.size, np.uint64)] * 3
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    low = np.uint64(0xFFFFFFFF)
    for _ in range(rounds):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [
            (b >> np.uint64(32)) ^ c[1] ^ np.uint64(k0),
            b & low,
            (a >> np.uint64(32)) ^ c[3] ^ np.uint64(k1),
            a & low,
        ]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c[0].astype(np.uint32)


@from_text("seeded_dropout")
def test_seeded_dropout(kernel, device):
    x, p = values("float32", 500), np.float32(0.4)
    bits = philox(1234, np.arange(500)).view(np.int32)
    uniform = np.where(bits < 0, ~bits, bits).astype(np.float32) * np.float32(4.6566127342e-10)
    want = np.where(uniform > p, x / (1 - p), 0).astype(np.float32)
    arguments = dict(x=x, out=empty_like(x), n=500, p=0.4, seed=1234)
    check(kernel, (2,), arguments, dict(out=want), device=device, rtol=1e-6)


@from_text("layer_norm")
def test_layer_norm(kernel, device):
    x = values("float16", 5, 200)
    w, b = values("float16", 200, seed=1), values("float16", 200, seed=2)
    wide = x.astype(np.float64)
    mean, variance = wide.mean(1), wide.var(1)
    rstd = 1 / np.sqrt(variance + 1e-5)
    want = (wide - mean[:, None]) * rstd[:, None] * w + b
    arguments = dict(x=x, y=empty_like(x), w=w, b=b, mean=np.zeros(5, np.float32))
    arguments |= dict(rstd=np.zeros(5, np.float32), stride=200, columns=200, eps=1e-5)
    expected = dict(y=want.astype(np.float16), mean=mean, rstd=rstd)
    check(kernel, (5,), arguments, expected, device=device, rtol=2e-3, atol=2e-3)


@from_text("reductions")
def test_reductions(kernel, device):
    x = values("float32", 32, 32)
    x[3, 5] = x[3, 9] = 100  # the first of equal elements
    seen = x.copy()
    seen[30:] = 0
    sums = seen.astype(np.float64).sum(1) + seen.max(1)
    where = (seen.argmax(1) + seen.argmin(1)).astype(np.int32)
    sums[30:], where[30:] = 7, 7
    arguments = dict(x=x, sums=np.full(32, 7, np.float32), where=np.full(32, 7, np.int32), rows=30)
    check(kernel, (1,), arguments, dict(sums=sums, where=where), device=device, rtol=1e-5, atol=1e-4)
