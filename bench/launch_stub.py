"""The host's cost of a launch before the driver call, measured without a GPU: on the stub driver of
test/stub.

Usage: bench/launch_stub.py [--rounds N] [--driver-ns N]

Prints microseconds per launch. --driver-ns makes the stub take that long for each, as a real driver
takes 2000 to 2500.
"""
# SPDX-License-Identifier: MIT

import argparse
import itertools
import os
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "test", "python"))
os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="nereid-bench-"))

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from _stub_cuda import (  # noqa: E402
    InterfaceArray,
    compile_by_hand,
    exchange_array_class,
    use_stub,
)


@triton.jit
def add(x, y, out, n, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside) * scale + tl.load(y + at, mask=inside)
    tl.store(out + at, value, mask=inside)


@triton.jit
def empty():
    pass


def code(*words):
    return {"code": list(words)}


# Tensor maps of x, y and out as [n / 64, 64] in fp32, and a condition on n.
OWN = {
    "abi": "own",
    "conditions": [code(1, 3, 0, 64, 3)],
    "tensorMaps": [
        {
            "base": code(1, pointer),
            "extents": [code(0, 64), code(1, 3, 0, 64, 5)],
            "strides": [code(0, 256)],
            "box": [32, 64],
            "elementType": 7,
            "elementBytes": 4,
            "swizzleBytes": 128,
            "padsWithNan": False,
        }
        for pointer in range(3)
    ],
}


@triton.jit
def mapped(x, y, out, n, scale, BLOCK: tl.constexpr):
    tl.store(out, tl.load(x) * scale + tl.load(y) + n)


def microseconds(call, rounds, repeats=20000):
    """The mean of the best round."""
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(repeats):
            call()
        best = min(best, time.perf_counter() - began)
    return 1e6 * best / repeats


def contests():
    tensor = exchange_array_class()
    x, y, out = (tensor(0x7F0000000000 + (i << 20)) for i in range(3))
    grid = (96,)
    numbers = itertools.cycle(range(2, 1000, 2))
    launcher = add[grid]
    kernel = launcher(x, y, out, 98432, 0.5, BLOCK=1024)
    args = (x, y, out, 98432, 0.5, 1024)
    yield (
        "a Python call with as many arguments",
        lambda: (lambda *a, BLOCK: None)(*args[:5], BLOCK=1024),
    )
    yield "kernel[grid]: no arguments", lambda: empty[grid]()
    yield (
        "kernel[grid]: 3 pointers, 2 scalars",
        lambda: add[grid](x, y, out, 98432, 0.5, BLOCK=1024),
    )
    yield (
        "  with the grid from a function",
        lambda: add[lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)](
            x, y, out, 98432, 0.5, BLOCK=1024
        ),
    )
    yield "  from a kept kernel[grid]", lambda: launcher(x, y, out, 98432, 0.5, BLOCK=1024)
    yield (
        "  on a stream of one's own",
        lambda: add[grid](x, y, out, 98432, 0.5, BLOCK=1024, stream=0x50),
    )
    yield (
        "  with 3 tensor maps of the launcher",
        lambda: mapped[grid](x, y, out, 98432, 0.5, BLOCK=1024),
    )
    yield (
        "  with 3 tensor maps, always new ones",
        lambda: mapped[grid](x, y, out, 64 * next(numbers), 0.5, BLOCK=1024),
    )
    a, b, c = (InterfaceArray(0x7F0000000000 + (i << 20)) for i in range(3))
    yield "  __cuda_array_interface__", lambda: add[grid](a, b, c, 98432, 0.5, BLOCK=1024)
    run, function, packed = kernel.run, kernel.function, kernel.packed_metadata
    yield (
        "CompiledKernel.run: the same",
        lambda: run(96, 1, 1, 0, function, packed, None, None, None, *args),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--driver-ns", type=int, default=0)
    options = parser.parse_args()
    for stub in use_stub():
        plain, own = compile_by_hand(stub), compile_by_hand(stub, **OWN)
        triton.compiler.compile = lambda src, *args, **more: (own if src.fn is mapped else plain)(
            src, *args, **more
        )
        from triton._C import libtriton

        libtriton.driver_cuda.make_current(0)  # the state that torch leaves
        stub.configure(f"log=0 delay_ns={options.driver_ns}")
        for name, call in contests():
            call()
            print(f"{name:40} {microseconds(call, options.rounds):8.3f} us", flush=True)


if __name__ == "__main__":
    main()
