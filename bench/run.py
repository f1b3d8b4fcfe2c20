"""Times kernels on the CPU in turns with NumPy, torch eager and torch.compile, and prints one table.

Usage: bench/run.py [--rounds N] [contest ...]      contests: launch compile add gelu softmax layernorm
A ratio is the best peer's time over ours: above 1 we are faster. All write into memory that exists already.
"""
# SPDX-License-Identifier: MIT

import argparse
import os
import tempfile
import time

os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="nereid-bench-"))

import numpy as np  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402

try:
    import torch
except ImportError:
    torch = None


@triton.jit
def empty(a, n):
    pass


@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)


@triton.jit
def gelu(a, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(a + at, mask=inside)
    inner = 0.7978845608028654 * x * (1 + 0.044715 * x * x)
    tl.store(out + at, x * tl.sigmoid(2 * inner), mask=inside)


@triton.jit
def softmax(a, out, pitch, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * pitch
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(a + row + at, mask=inside, other=-float("inf"))
    powers = tl.exp(x - tl.max(x, axis=0))
    tl.store(out + row + at, powers / tl.sum(powers, axis=0), mask=inside)


@triton.jit
def layernorm(a, weight, bias, out, pitch, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * pitch
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(a + row + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(inside, x - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    w = tl.load(weight + at, mask=inside)
    b = tl.load(bias + at, mask=inside)
    tl.store(out + row + at, centred * scale * w + b, mask=inside)


def seconds(call, at_least=0.01):
    """Time of one call, over as many calls as take `at_least` seconds."""
    began = time.perf_counter()
    call()
    repeats = max(1, int(at_least / max(time.perf_counter() - began, 1e-7)))
    began = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - began) / repeats


def race(name, rounds, **contestants):
    for call in contestants.values():
        call()
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(rounds):
        for who, call in contestants.items():
            best[who] = min(best[who], seconds(call))
    ours = best.pop("ours")
    peers = "  ".join(f"{who} {1e3 * taken:.4f}" for who, taken in best.items())
    ratio = f"{min(best.values()) / ours:6.2f}" if best else "     -"
    print(f"{name:32} {1e3 * ours:10.4f} {ratio}   {peers}", flush=True)


def normal(*shape):
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def contest_launch(rounds):
    a = normal(16)
    peers = {"numpy": lambda: np.add(a, a, out=a)}
    race("launch, 1 pointer, 1 integer", rounds, ours=lambda: empty[(1,)](a, 16), **peers)


def contest_compile(rounds):
    a = normal(16)
    for block in (1024, 16384):
        taken = []
        for _ in range(rounds):
            triton.knobs.cache.dir = tempfile.mkdtemp(prefix="nereid-bench-")
            add.device_caches.clear()
            began = time.perf_counter()
            add.warmup(a, a, a, 16, BLOCK=block, grid=(1,))
            taken.append(time.perf_counter() - began)
        print(f"{f'compile add, BLOCK={block}':32} {1e3 * min(taken):10.4f}", flush=True)


def contest_add(rounds):
    for bits in (12, 20, 25):
        n = 1 << bits
        a, b, out = normal(n), normal(n), np.empty(n, np.float32)
        peers = {"numpy": lambda: np.add(a, b, out=out)}
        if torch:
            ta, tb, to = map(torch.from_numpy, (a, b, out))
            peers["torch"] = lambda: torch.add(ta, tb, out=to)
        race(f"add f32, 2^{bits}", rounds, ours=lambda: add[(triton.cdiv(n, 4096),)](a, b, out, n, BLOCK=4096), **peers)


def contest_gelu(rounds):
    n = 1 << 22
    a, out = normal(n), np.empty(n, np.float32)
    peers = {}
    if torch:
        ta, to = torch.from_numpy(a), torch.from_numpy(out)
        peers["torch"] = lambda: torch.ops.aten.gelu.out(ta, approximate="tanh", out=to)
    race("gelu f32, 2^22", rounds, ours=lambda: gelu[(triton.cdiv(n, 4096),)](a, out, n, BLOCK=4096), **peers)


def contest_softmax(rounds):
    for rows, columns in ((4096, 781), (2048, 4096), (512, 12672)):
        a, out = normal(rows, columns), np.empty((rows, columns), np.float32)
        peers = {}
        if torch:
            ta, to = torch.from_numpy(a), torch.from_numpy(out)
            compiled = torch.compile(lambda x, y: y.copy_(torch.softmax(x, 1)))
            peers["torch"] = lambda: torch.ops.aten._softmax.out(ta, 1, False, out=to)
            peers["compiled"] = lambda: compiled(ta, to)
        block = triton.next_power_of_2(columns)
        race(f"softmax f32, {rows} x {columns}", rounds, ours=lambda: softmax[(rows,)](a, out, columns, columns, BLOCK=block), **peers)


def contest_layernorm(rounds):
    rows, columns = 2048, 4096
    a, out = normal(rows, columns), np.empty((rows, columns), np.float32)
    weight, bias = normal(columns), normal(columns)
    peers = {}
    if torch:
        ta, to, tw, tb = map(torch.from_numpy, (a, out, weight, bias))
        mean, scale = torch.empty(rows, 1), torch.empty(rows, 1)
        peers["torch"] = lambda: torch.ops.aten.native_layer_norm.out(ta, (columns,), tw, tb, 1e-5, out0=to, out1=mean, out2=scale)
    call = lambda: layernorm[(rows,)](a, weight, bias, out, columns, columns, 1e-5, BLOCK=4096)  # noqa: E731
    race(f"layernorm f32, {rows} x {columns}", rounds, ours=call, **peers)


if __name__ == "__main__":
    contests = {name.removeprefix("contest_"): function for name, function in globals().items() if name.startswith("contest_")}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contest", nargs="*", help=f"any of {', '.join(contests)}")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    print(f"{'':32} {'ours, ms':>10} {'ratio':>6}   peers, ms")
    for name in options.contest or contests:
        if name not in contests:
            parser.error(f"no contest `{name}`; there are {', '.join(contests)}")
        contests[name](options.rounds)
