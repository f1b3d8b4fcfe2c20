"""Texts of changes of shape, scans, sorts and histograms, read and run."""
# SPDX-License-Identifier: MIT

import numpy as np
from _ttir_texts import from_text, kernel  # noqa: F401
from harness import check, empty_like, values


@from_text("scans")
def test_scans(kernel, device):
    x, y = values("float32", 64, low=0.5, high=1.5), values("int32", 64, low=-99, high=99)
    wide, chained, product, shift = x.astype(np.float64), [], None, None
    for v in wide:
        product, shift = (v, v + 1) if product is None else (product * v, shift * v + v + 1)
        chained.append(shift)
    arguments = dict(x=x, y=y, sums=empty_like(y), products=empty_like(x), chained=empty_like(x))
    expected = dict(sums=np.cumsum(y[::-1])[::-1], products=np.cumprod(wide))
    expected |= dict(chained=np.array(chained))
    check(kernel, (1,), arguments, expected, device=device, rtol=1e-5)


@from_text("shapes")
def test_shapes(kernel, device):
    x, y = values("int32", 32, low=0, high=99), values("int32", 32, low=0, high=99, seed=1)
    transposed = (x.reshape(4, 8).T + np.arange(4)).reshape(-1)
    parts = [np.stack([x, y], 1).reshape(-1), x[0::2] - x[1::2], transposed, y[(x * 7) % 32], x[::-1]]
    parts.append(y.reshape(2, 4, 4).transpose(2, 0, 1).reshape(-1))
    want = np.concatenate(parts).astype(np.int32)
    check(kernel, (1,), dict(x=x, y=y, out=empty_like(want)), dict(out=want), device=device)


@from_text("histogram")
def test_histogram(kernel, device):
    x = values("int32", 64, low=0, high=16)
    want = np.concatenate([np.bincount(x, minlength=16), np.bincount(x[::2], minlength=16)])
    want = want.astype(np.int32)
    check(kernel, (1,), dict(x=x, out=empty_like(want)), dict(out=want), device=device)


@from_text("concatenated")
def test_concatenated(kernel, device):
    x = values("int32", 64, low=-99, high=99)
    want = np.array([(x.astype(np.int64) ** 2).sum()], np.int32)
    check(kernel, (1,), dict(x=x, out=empty_like(want)), dict(out=want), device=device)


@from_text("sorting")
def test_sorting(kernel, device):
    x = values("float32", 4, 8)
    want = np.sort(x, 1)[:, ::-1]
    best = np.empty((4, 2), np.float32)
    arguments = dict(x=x, ordered=empty_like(x), best=empty_like(best))
    check(kernel, (1,), arguments, dict(ordered=want, best=want[:, :2]), device=device)


@from_text("map_elements")
def test_map_elements(kernel, device):
    x, y = values("int32", 32, low=0, high=9), values("int32", 32, low=0, high=9, seed=1)
    arguments = dict(x=x, y=y, low=empty_like(x), rest=empty_like(x))
    expected = dict(low=np.minimum(x, y), rest=np.maximum(x - y, 0))
    check(kernel, (1,), arguments, expected, device=device)
