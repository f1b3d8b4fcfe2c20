"""Texts with descriptors and atomics, read and run."""
# SPDX-License-Identifier: MIT

import numpy as np
from _ttir_texts import from_text, kernel  # noqa: F401
from harness import check, empty_like, launch, values
from triton.tools.tensor_descriptor import TensorDescriptor


@from_text("device_descriptors")
def test_device_descriptors(kernel, device):
    x = values("float32", 24, 72)
    want = x * 2
    added = np.zeros((24, 32), np.float32)
    added[:] = x[:, 32:64]
    want[:, :32] += added
    arguments = dict(x=x, out=empty_like(x), rows=24, columns=72)
    check(kernel, (2,), arguments, dict(out=want), device=device, rtol=1e-6)


@from_text("descriptor_gather")
def test_descriptor_gather(kernel, device):
    x, out = values("float32", 40, 64), np.zeros((40, 64), np.float32)
    index = np.random.default_rng(0).permutation(40)[:16].astype(np.int32)
    want = out.copy()
    want[index, :32] = x[index, 32:]
    arguments = dict(x=x, out=out, index=index, rows=40, columns=64)
    check(kernel, (1,), arguments, dict(out=want), device=device)


@from_text("atomics")
def test_atomics(kernel, device):
    n = 50
    counts = values("int32", 324, low=-100, high=100)
    counts[256:260] = [-1000, 1000, 5, 5]
    unsigned = np.array([3, 3, 0xFFFFFFF0], np.uint32)
    sums = np.array([0.5, -100], np.float32)
    i = np.arange(n, dtype=np.int32)
    want = counts.copy()
    want[:n] += i + 1
    want[64 : 64 + n] &= 12
    want[128 : 128 + n] |= 3
    want[192 : 192 + n] ^= i
    want[256:260] = [n - 6, -5, 77, 6]
    old = np.zeros(64, np.int32)
    before = old.copy()
    before[:n] = counts[:n]
    arguments = dict(counts=counts, unsigned=unsigned, sums=sums, old=old, n=n)
    expected = dict(counts=want, unsigned=np.array([n - 2, n - 1, 7], np.uint32), old=before)
    expected |= dict(sums=np.array([0.5 + i.sum(), n - 1 - 3.5], np.float32))
    check(kernel, (1,), arguments, expected, device=device)


@from_text("host_descriptors")
def test_host_descriptors(kernel, device):
    x, out = values("float16", 40, 48), np.zeros((32, 64), np.float16)
    want = out.copy()
    want[24:, :32] = x[24:32, 8:40] + np.float16(1)
    described = {name: TensorDescriptor.from_tensor(array, [16, 32]) for name, array in (("x", x), ("out", out))}
    if launch(kernel, (1,), **described, row=24, device=device):
        np.testing.assert_array_equal(out, want)
