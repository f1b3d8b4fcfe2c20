"""Dropout, with a mask from memory and with one recomputed from a seed for the gradient."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values


@triton.jit
def masked_dropout(x_ptr, keep_ptr, out_ptr, n, p, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.load(keep_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)


@triton.jit
def seeded_dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)


def uniform(seed, count):
    """Philox 4x32-10 at counters (i, 0, 0, 0), as numbers in [0, 1)."""
    word = np.uint64(0xFFFFFFFF)
    counter = [np.arange(count, dtype=np.uint64), *(np.zeros(count, np.uint64) for _ in range(3))]
    keys = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32 & 0xFFFFFFFF)]
    for _ in range(10):
        low, high = counter[0] * np.uint64(0xD2511F53), counter[2] * np.uint64(0xCD9E8D57)
        counter = [
            (high >> np.uint64(32)) ^ counter[1] ^ keys[0], high & word,
            (low >> np.uint64(32)) ^ counter[3] ^ keys[1], low & word,
        ]  # fmt: skip
        keys = [(keys[0] + np.uint64(0x9E3779B9)) & word, (keys[1] + np.uint64(0xBB67AE85)) & word]
    bits = counter[0].astype(np.uint32).view(np.int32)
    return np.where(bits < 0, -bits - 1, bits).astype(np.float32) * np.float32(4.6566127342e-10)


@pytest.mark.parametrize("n", [1, 100, 1024, 1500])
def test_a_mask_that_is_read(n, device):
    x, keep = values("float32", n), values("bool", n, seed=1)
    out = np.where(keep, x / (np.float32(1) - np.float32(0.3)), 0).astype(np.float32)
    arguments = dict(x_ptr=x, keep_ptr=keep, out_ptr=np.full_like(x, 9), n=n, p=0.3, BLOCK=256)
    check(masked_dropout, (triton.cdiv(n, 256),), arguments, dict(out_ptr=out), device=device, ulps=2)


@pytest.mark.parametrize("seed", [0, 123, 2**31 - 1])
@pytest.mark.parametrize("p", [0.0, 0.25, 0.9])
def test_a_seed_gives_the_mask(p, seed, device):
    """The gradient is the same kernel applied to the gradient of the output."""
    n = 3000
    keep = uniform(seed, n) > np.float32(p)
    assert abs(keep.mean() - (1 - p)) < 0.05
    for x in (values("float32", n, low=1), values("float32", n, seed=7)):
        out = np.where(keep, x / (np.float32(1) - np.float32(p)), 0).astype(np.float32)
        arguments = dict(x_ptr=x, out_ptr=np.full_like(x, 9), n=n, p=p, seed=seed, BLOCK=1024)
        check(seeded_dropout, (3,), arguments, dict(out_ptr=out), device=device, ulps=2)
