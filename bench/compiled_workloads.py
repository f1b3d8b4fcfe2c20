"""Times functions that torch.compile compiles for the CPU: Triton kernels by this package, C++, eager.

usage: compiled_workloads.py [--only softmax,conv] [--dtypes f32,bf16] [--rounds 3] [--quick]

Prints one JSON line per workload, then geometric means and the workloads below 0.9. Results of
both compiled forms are compared with eager ones in float32 before anything is timed. Run times
are the best samples of all rounds, taken in alternation in one process. Compile times are those
of a first call with empty caches, after a small function that loads each compiler and, for C++,
writes the precompiled header. A ratio is the other's time over this package's.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
import triton
from measure import by_clock

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
TOLERANCES = {"f32": 2e-4, "bf16": 3e-2}  # of the largest expected element
WORST = 0.9  # ratios below are listed at the end
BACKENDS = {"ours": "triton", "cpp": "cpp"}


@dataclasses.dataclass
class Workload:
    """A function with the shapes of its floating-point inputs, and inputs of other kinds."""

    function: Callable
    shapes: list[tuple[int, ...]]
    others: Callable = tuple
    backward: bool = False
    random: bool = False  # only mean and deviation of the result are compared

    def inputs(self, dtype) -> tuple:
        scaled = [
            torch.randn(shape) * (shape[-1] ** -0.5 if _is_weight(shape) else 1)
            for shape in self.shapes
        ]
        return (*(value.to(dtype) for value in scaled), *self.others())


def _is_weight(shape) -> bool:
    """Square or wide matrices are weights: their products keep the inputs' deviation."""
    return len(shape) == 2 and max(shape) <= 2048


def chain(x, y):
    return torch.sigmoid(x * y + x) * torch.tanh(y) - x.abs().sqrt()


def gelu_mlp(x, up, down):
    return F.linear(F.gelu(F.linear(x, up)), down)


def rms_norm(x, weight):
    return x * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-6).to(x.dtype) * weight


def layer_norm(x, weight, bias):
    return F.layer_norm(x, x.shape[-1:], weight, bias)


def attention(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5, -1) @ v


def rotary(x, cosine, sine):
    low, high = x.chunk(2, -1)
    return x * cosine + torch.cat((-high, low), -1) * sine


def swiglu(x):
    gate, value = x.chunk(2, -1)
    return F.silu(gate) * value


def transformer_block(x, qkv, out, up, down, first, second):
    batch, length, width = x.shape
    heads = F.linear(F.layer_norm(x, (width,), first), qkv).view(batch, length, 3, width // 64, 64)
    mixed = attention(*heads.permute(2, 0, 3, 1, 4)).transpose(1, 2).reshape(batch, length, width)
    x = x + F.linear(mixed, out)
    return x + gelu_mlp(F.layer_norm(x, (width,), second), up, down)


def conv(x, weight, scale, shift):
    return F.relu(F.conv2d(x, weight, padding=1) * scale[:, None, None] + shift[:, None, None])


def masked(x, y, mask):
    return torch.where(mask & (x > y) | ~mask & (x < -y), x * 2, y).masked_fill(x > 2, 0)


def numbers(limit, *shape):
    return lambda: (torch.randint(limit, shape),)


WORKLOADS = {
    "chain": Workload(chain, [(1 << 22,)] * 2),
    "chain small": Workload(chain, [(1 << 16,)] * 2),
    "gelu mlp": Workload(gelu_mlp, [(512, 512), (2048, 512), (512, 2048)], backward=True),
    "softmax": Workload(lambda x: torch.softmax(x, -1), [(4096, 1000)], backward=True),
    "layer norm": Workload(layer_norm, [(4096, 1024), (1024,), (1024,)], backward=True),
    "rms norm": Workload(rms_norm, [(4096, 4096), (4096,)]),
    "cross entropy": Workload(F.cross_entropy, [(1024, 8192)], numbers(8192, 1024), backward=True),
    "embedding sum": Workload(
        lambda table, at: F.embedding(at, table).sum(1), [(50000, 64)], numbers(50000, 4096, 16)
    ),
    "dropout": Workload(lambda x: F.dropout(x, 0.25), [(1 << 22,)], random=True),
    "column mean": Workload(lambda x: x.mean(0), [(4096, 1024)]),
    "column sum of products": Workload(lambda x, y: (x * y).sum(0), [(4096, 1024)] * 2),
    "variance": Workload(lambda x: torch.stack(torch.var_mean(x, 1)), [(4096, 1024)]),
    "argmax": Workload(lambda x: x.argmax(1), [(4096, 1024)]),
    "cumsum": Workload(lambda x: x.cumsum(1), [(2048, 2048)]),
    "transposed copy": Workload(lambda x: x.t().contiguous() * 2, [(2048, 2048)]),
    "transposed sum": Workload(lambda x, y: x.t() + y, [(2048, 2048)] * 2),
    "gather": Workload(lambda x, at: x.gather(1, at), [(4096, 1024)], numbers(1024, 4096, 1024)),
    "index select": Workload(
        lambda x, at: x.index_select(0, at) * 2, [(16384, 256)], numbers(16384, 16384)
    ),
    "concat": Workload(lambda x, y: F.silu(torch.cat((x, y), 1)) + 1, [(2048, 768), (2048, 512)]),
    "conv": Workload(conv, [(8, 32, 56, 56), (64, 32, 3, 3), (64,), (64,)]),
    "attention": Workload(attention, [(4, 8, 256, 64)] * 3),
    "rotary": Workload(rotary, [(4, 16, 512, 64), (512, 64), (512, 64)]),
    "swiglu": Workload(swiglu, [(4096, 2048)]),
    "transformer block": Workload(
        transformer_block,
        [(4, 128, 256), (768, 256), (256, 256), (1024, 256), (256, 1024), (256,), (256,)],
        backward=True,
    ),
    "group norm": Workload(lambda x: F.group_norm(x, 8), [(8, 64, 56, 56)]),
    "max pool": Workload(lambda x: F.max_pool2d(x, 3, 2, 1), [(8, 64, 112, 112)]),
    "masks": Workload(masked, [(1 << 22,)] * 2, lambda: (torch.rand(1 << 22) < 0.5,)),
}


def with_gradients(function: Callable, count: int, cotangent: torch.Tensor) -> Callable:
    """Calls the function and returns the gradients of its first `count` inputs."""

    def call(*inputs):
        result = function(*inputs)
        return torch.autograd.grad(result, inputs[:count], cotangent.to(result.dtype))

    return call


def compiled(workload: Workload, backend: str, call_of: Callable, inputs) -> tuple[Callable, float]:
    """The compiled function and the seconds of its first call."""
    torch._dynamo.reset()
    function = torch.compile(workload.function, fullgraph=True, options={"cpu_backend": backend})
    call = call_of(function)
    began = time.perf_counter()
    call(*inputs)
    return call, time.perf_counter() - began


def check(what: str, workload: Workload, found, expected, tolerance: float) -> None:
    """Raises AssertionError unless the results agree."""
    found, expected = (
        value if isinstance(value, tuple) else (value,) for value in (found, expected)
    )
    for index, (value, wanted) in enumerate(zip(found, expected, strict=True)):
        value, wanted = value.double(), wanted.double()
        assert value.shape == wanted.shape, (what, value.shape, wanted.shape)
        if workload.random:
            kept = (value != 0).double().mean(), (wanted != 0).double().mean()
            value, wanted = (
                torch.stack((v.std(), k)) for v, k in zip((value, wanted), kept, strict=True)
            )
            tolerance = 1e-2
        error = (value - wanted).abs().max() / wanted.abs().max()
        assert error < tolerance, (what, index, error.item())


def checked_calls(name: str, dtype: str, backward: bool) -> tuple[dict[str, Callable], dict]:
    """Calls without arguments of the compiled functions and the eager one, whose results agree; and
    the seconds of the first calls."""
    workload = WORKLOADS[name]
    torch.manual_seed(0)
    inputs = workload.inputs(DTYPES[dtype])
    count = len(workload.shapes)
    if backward:
        cotangent = torch.randn_like(workload.function(*inputs))
        inputs = tuple(
            value.requires_grad_() if i < count else value for i, value in enumerate(inputs)
        )

    def call_of(function):
        return with_gradients(function, count, cotangent) if backward else function

    precise = tuple(
        value.detach().float().requires_grad_(backward) if value.is_floating_point() else value
        for value in inputs
    )
    expected = call_of(workload.function)(*precise)
    calls, seconds = {}, {}
    for who, backend in BACKENDS.items():
        call, seconds[who] = compiled(workload, backend, call_of, inputs)
        check(f"{name} {dtype} {who}", workload, call(*inputs), expected, TOLERANCES[dtype])
        calls[who] = lambda call=call: call(*inputs)
    eager = call_of(workload.function)
    calls["eager"] = lambda: eager(*inputs)
    return calls, seconds


def measure(name: str, dtype: str, backward: bool, options) -> dict:
    with torch.set_grad_enabled(backward):
        calls, seconds = checked_calls(name, dtype, backward)
        best = dict.fromkeys(calls, math.inf)
        for _ in range(options.rounds):
            for who, samples in by_clock(calls, 1 if options.quick else 7, None).items():
                best[who] = min(best[who], *samples)
    return dict(
        what=f"{name}{' backward' if backward else ''} {dtype}",
        milliseconds={who: round(1e3 * value, 4) for who, value in best.items()},
        compile_seconds={who: round(value, 3) for who, value in seconds.items()},
        run=round(best["cpp"] / best["ours"], 3),
        run_to_eager=round(best["eager"] / best["ours"], 3),
        compile=round(seconds["cpp"] / seconds["ours"], 2),
    )


def geometric_mean(values) -> float:
    values = list(values)
    return round(math.exp(sum(map(math.log, values)) / len(values)), 3)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="parts of workloads' names, separated by commas")
    parser.add_argument("--dtypes", default="f32,bf16")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="one sample of each: does it run?")
    options = parser.parse_args()
    parts = options.only.split(",")
    rows, failed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(
            TORCHINDUCTOR_CACHE_DIR=folder + "/inductor", TRITON_CACHE_DIR=folder + "/triton"
        )
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        triton.enable_cpu_backend()  # each function names its backend all the same
        for backend in BACKENDS.values():
            compiled(Workload(lambda x: x + 1, []), backend, lambda call: call, (torch.zeros(64),))
        for name, workload in WORKLOADS.items():
            if not any(part in name for part in parts):
                continue
            for dtype in options.dtypes.split(","):
                for backward in (False, True) if workload.backward else (False,):
                    try:
                        rows.append(measure(name, dtype, backward, options))
                        print(json.dumps(rows[-1]), flush=True)
                    except Exception as error:
                        failed += 1
                        print(
                            json.dumps(dict(what=f"{name} {dtype}", failed=repr(error)[:500])),
                            flush=True,
                        )
    if rows:
        means = {
            key: geometric_mean(row[key] for row in rows)
            for key in ("run", "run_to_eager", "compile")
        }
        slow = {row["what"]: row["run"] for row in rows if row["run"] < WORST}
        print(json.dumps(dict(geometric_means=means, below={str(WORST): slow}, failed=failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
