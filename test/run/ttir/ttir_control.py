"""Texts with branches between basic blocks, calls and hints, read and run."""
# SPDX-License-Identifier: MIT

import numpy as np
from _ttir_texts import from_text, kernel  # noqa: F401
from harness import check, empty_like, values


@from_text("early_return")
def test_early_return(kernel, device):
    x = values("int32", 4, 32, low=-100, high=100)
    out = empty_like(x)
    want = out.copy()
    want[:3] = x[:3] * 2
    want[1] = -x[1]
    check(kernel, (4,), dict(x=x, out=out, n=3), dict(out=want), device=device)


def steps_of(value, limit):
    steps = 0
    while value != 1 and steps < limit:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        steps += 1
    return steps


@from_text("calls")
def test_calls(kernel, device):
    x = np.array([7, -27, 1, 16, 0, -1], np.int32)
    want = [int(np.sign(v)) * 1000 + steps_of(abs(int(v)), 40) for v in x]
    arguments = dict(x=x, out=empty_like(x), limit=40)
    check(kernel, (6,), arguments, dict(out=np.array(want, np.int32)), device=device)


@from_text("loop_hints")
def test_loop_hints(kernel, device):
    x = values("float32", 5, 64)
    want = x.astype(np.float64).sum(0) * 2.5
    arguments = dict(x=x, out=np.zeros(64, np.float32), n=5)
    check(kernel, (1,), arguments, dict(out=want), device=device, rtol=1e-5, atol=1e-5)


@from_text("block_pointers")
def test_block_pointers(kernel, device):
    x = values("float32", 20, 40)
    padded = np.zeros((20, 48))
    padded[:, :40] = x
    want = padded[:, :16] + padded[:, 16:32] + padded[:, 32:]
    arguments = dict(x=x, out=np.zeros((20, 16), np.float32), rows=20, columns=40)
    check(kernel, (2,), arguments, dict(out=want), device=device, rtol=1e-6, atol=1e-6)


@from_text("layer_norm_backward")
def test_layer_norm_backward(kernel, device):
    rows, columns = 6, 50
    x, dy = values("float32", rows, columns), values("float32", rows, columns, seed=1)
    w = values("float32", columns, seed=2)
    wide = x.astype(np.float64)
    mean, rstd = wide.mean(1, keepdims=True), 1 / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    normal, weighted = (wide - mean) * rstd, dy * w.astype(np.float64)
    c1, c2 = (normal * weighted).mean(1, keepdims=True), weighted.mean(1, keepdims=True)
    part_w, part_b = dy * normal, dy.astype(np.float64)
    arguments = dict(dx=empty_like(x), dy=dy, dw=np.zeros((2, columns), np.float32))
    arguments |= dict(db=np.zeros((2, columns), np.float32), x=x, w=w)
    arguments |= dict(mean=mean.astype(np.float32), rstd=rstd.astype(np.float32))
    arguments |= dict(lock=np.zeros(4, np.int32), stride=columns, columns=columns)
    expected = dict(dx=(weighted - (normal * c1 + c2)) * rstd)
    expected |= dict(dw=np.stack([part_w[0::2].sum(0), part_w[1::2].sum(0)]))
    expected |= dict(db=np.stack([part_b[0::2].sum(0), part_b[1::2].sum(0)]))
    expected |= dict(lock=np.array([0, 0, 1, 1], np.int32))
    check(kernel, (rows,), arguments, expected, device=device, rtol=1e-4, atol=1e-4)


@from_text("column_sums")
def test_column_sums(kernel, device):
    dw = values("float32", 6, 50)
    arguments = dict(dw=dw, final=np.zeros(50, np.float32), groups=6, columns=50)
    check(kernel, (2,), arguments, dict(final=dw.sum(0)), device=device, rtol=1e-5, atol=1e-6)


@from_text("masked_dropout")
def test_masked_dropout(kernel, device):
    x, keep = values("float32", 100), values("bool", 100)
    arguments = dict(x=x, keep=keep, out=empty_like(x), n=100, p=0.25)
    expected = dict(out=np.where(keep, x / np.float32(0.75), np.float32(0)))
    check(kernel, (2,), arguments, expected, device=device, rtol=1e-6)
