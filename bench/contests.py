"""The sections and their cases: sizes, inputs, peers, and the results that are checked before
timing.
"""
# SPDX-License-Identifier: MIT

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import kernels
import numpy as np
import triton
from arrays import Device, fill, on_host, torch, wide

TOLERANCE = {"float32": 1e-5, "float16": 2e-3}
DTYPES = {"cpu": ("float32",), "cuda": ("float32", "float16")}
# Lengths next to a round size show the cost of alignment and masks.
LENGTHS = {
    "cpu": ("2^12", "2^16", "2^20-1", "2^20", "2^20+1", "2^25"),
    "cuda": ("2^12", "2^16", "2^20", "2^24-1", "2^24", "2^24+1", "2^26"),
}
COLUMNS = (128, 781, 1023, 1024, 1025, 4095, 4096, 4097, 12672)
ELEMENTS = {"cpu": 1 << 22, "cuda": 1 << 25}  # of the matrices of softmax and layernorm
ORDERS, QUICK_ORDERS = (128, 256, 512, 1024, 2048), (64, 128)  # of square matrices
QUICK_LENGTHS, QUICK_COLUMNS, QUICK_ELEMENTS = ("2^10-1", "2^10"), (63, 64), 1 << 10


@dataclass
class Contest:
    """A case with its memory: `calls` are timed by `clock`; each of `checked` fills `out` with `expected`."""

    clock: str  # kernel | launch | own
    calls: dict[str, Callable]
    checked: dict[str, Callable]
    out: object
    expected: np.ndarray
    tolerance: float
    moved_bytes: int = 0
    flops: int = 0  # where they and not the bytes are what a figure counts

    def check(self) -> None:
        scale = np.abs(self.expected) + np.abs(self.expected).mean()
        for who, call in self.checked.items():
            fill(self.out, float("nan"))
            call()
            error = np.abs(wide(self.out) - self.expected) / scale
            wrong = ~(error <= self.tolerance)
            if wrong.any():
                raise ArithmeticError(
                    f"{'the kernel' if who == 'ours' else who} is wrong in {wrong.sum()} of {wrong.size} elements, the first at "
                    f"{np.argmax(wrong)}: the largest relative error is {error.max():.3g}, "
                    f"{self.tolerance:.3g} is allowed"
                )


@dataclass
class Case:
    section: str
    name: str
    group: str  # cases of one group are one line of a plot
    prepare: Callable[[Device], Contest] = field(repr=False)

    @property
    def title(self) -> str:
        return " ".join(filter(None, (self.section, self.group, self.name)))


def elementwise_case(section, length, dtype) -> Case:
    kernel, inputs = (kernels.add, 2) if section == "add" else (kernels.gelu, 1)
    n = length_of(length)

    def prepare(device):
        block = 4096 if device.kind == "cpu" else 1024
        arrays = [device.normal(n, dtype) for _ in range(inputs)]
        out, grid = device.empty(n, dtype), (triton.cdiv(n, block),)
        calls = {"ours": lambda: kernel[grid](*arrays, out, n, BLOCK=block)}
        return kernel_contest(section, calls, device, arrays, out, dtype)

    return Case(section, length, dtype, prepare)


def length_of(text: str) -> int:
    """`2^20+1` as a number."""
    power, sign, offset = re.fullmatch(r"2\^(\d+)([+-]?)(\d*)", text).groups()
    return (1 << int(power)) + int(sign + (offset or "0"))


def row_case(section, columns, elements, dtype) -> Case:
    rows = max(1, elements // columns)
    kernel, vectors, more = (kernels.softmax, 0, ())
    if section == "layernorm":
        kernel, vectors, more = (kernels.layernorm, 2, (kernels.EPS,))

    def prepare(device):
        arrays = [device.normal((rows, columns), dtype)]
        arrays += [device.normal(columns, dtype) for _ in range(vectors)]
        out = device.empty((rows, columns), dtype)
        options = {"BLOCK": triton.next_power_of_2(columns)}
        if device.kind == "cuda":
            options["num_warps"] = min(16, max(4, options["BLOCK"] // 512))
        calls = {"ours": lambda: kernel[(rows,)](*arrays, out, columns, *more, **options)}
        return kernel_contest(section, calls, device, arrays, out, dtype)

    return Case(section, f"{rows}x{columns}", dtype, prepare)


def matmul_case(n, dtype) -> Case:
    def prepare(device):
        arrays = [device.normal((n, n), dtype) for _ in range(2)]
        out, tile = device.empty((n, n), dtype), 64
        tiles = {"M_TILE": tile, "N_TILE": tile, "K_TILE": tile}
        calls = {
            "ours": lambda: kernels.matmul[(n // tile, n // tile)](*arrays, out, n, n, **tiles)
        }
        contest = kernel_contest("matmul", calls, device, arrays, out, dtype)
        contest.flops = 2 * n**3
        return contest

    return Case("matmul", str(n), dtype, prepare)


def kernel_contest(section, calls, device, arrays, out, dtype) -> Contest:
    """Adds the libraries' calls; the reference is NumPy's form in double precision."""
    by_numpy = getattr(kernels, f"{section}_by_numpy")
    if device.kind == "cpu":
        seen = [on_host(array) for array in (*arrays, out)]
        calls["numpy"] = lambda: by_numpy(*seen)
    if torch is not None:
        calls["torch"] = getattr(kernels, f"{section}_of_torch")(*arrays, out)
    expected = np.empty(out.shape)
    by_numpy(*map(wide, arrays), expected)
    moved = sum(on.size if isinstance(on, np.ndarray) else on.numel() for on in (*arrays, out))
    moved *= np.dtype(dtype).itemsize
    return Contest("kernel", calls, calls, out, expected, TOLERANCE[dtype], moved)


def small_contest(device, clock, calls_of) -> Contest:
    """16 elements: `calls_of(x, out)` returns the calls to time, the call that is checked, and its
    result.
    """
    x, out = device.normal(16, "float32"), device.empty(16, "float32")
    calls, proof, expected = calls_of(x, out)
    return Contest(clock, calls, {"ours": proof}, out, expected, TOLERANCE["float32"])


def launch_case(name, launch) -> Case:
    """`launch(x, out)` is the call of this package; the libraries' is an addition of as many
    elements.
    """

    def calls_of(x, out):
        calls = {"ours": launch(x, out)}
        if isinstance(x, np.ndarray) or x.device.type == "cpu":
            seen, into = on_host(x), on_host(out)
            calls["numpy"] = lambda: np.add(seen, seen, out=into)
        if torch is not None:
            calls["torch"] = lambda: torch.add(x, x, out=out)
        proof = lambda: kernels.scaled_add[(1,)](x, x, out, 16, 0.5, BLOCK=16)  # noqa: E731
        return calls, proof, 1.5 * wide(x)

    return Case("launch", name, "", lambda device: small_contest(device, "launch", calls_of))


def launch_cases():
    scaled = kernels.scaled_add
    yield launch_case("no arguments", lambda x, out: lambda: kernels.empty[(1,)]())
    yield launch_case(
        "3 pointers, 2 scalars", lambda x, out: lambda: scaled[(1,)](x, x, out, 16, 0.5, BLOCK=16)
    )
    yield launch_case(
        "grid from a function",
        lambda x, out: (
            lambda: scaled[lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)](
                x, x, out, 16, 0.5, BLOCK=16
            )
        ),
    )


def compile_case(section, inputs, block) -> Case:
    """Cold: the kernel is in no cache, in memory or on disk."""
    kernel = getattr(kernels, section)
    more = (kernels.EPS,) if section == "layernorm" else ()

    def calls_of(x, out):
        arguments = (*[x] * inputs, out, 16, *more)

        def compile_cold():
            kernel.device_caches.clear()
            with triton.knobs.compilation.scope():
                triton.knobs.compilation.always_compile = True
                began = time.perf_counter()
                kernel.warmup(*arguments, BLOCK=block, grid=(1,))
                return time.perf_counter() - began

        expected = np.empty((1, 16))
        getattr(kernels, f"{section}_by_numpy")(*[wide(x)[None]] * inputs, expected)
        return {"ours": compile_cold}, lambda: kernel[(1,)](*arguments, BLOCK=block), expected[0]

    name = f"{section}, BLOCK={block}"
    return Case("compile", name, "", lambda device: small_contest(device, "own", calls_of))


FRESH = """import sys, time
sys.path.insert(0, sys.argv[1])
import arrays
device = arrays.Device(sys.argv[2])
x, out = device.normal(16, "float32"), device.empty(16, "float32")
began = time.perf_counter()
import triton
if device.kind == "cpu":
    triton.runtime.driver.set_active_to_cpu()
import kernels
kernels.add[(1,)](x, x, out, 16, BLOCK=16)
device.synchronize()
print(time.perf_counter() - began)
"""


def fresh_process_case() -> Case:
    def prepare(device):
        def first_result():
            with tempfile.TemporaryDirectory(prefix="nereid-bench-") as cache:
                done = subprocess.run(
                    [sys.executable, "-c", FRESH, str(Path(__file__).parent), device.kind],
                    env=dict(os.environ, TRITON_CACHE_DIR=cache),
                    capture_output=True,
                    text=True,
                )
            if done.returncode:
                raise RuntimeError(f"the fresh process failed: {done.stderr.strip()[-500:]}")
            return float(done.stdout.split()[-1])

        def calls_of(x, out):
            proof = lambda: kernels.add[(1,)](x, x, out, 16, BLOCK=16)  # noqa: E731
            return {"ours": first_result}, proof, 2 * wide(x)

        return small_contest(device, "own", calls_of)

    return Case("compile", "import to first result", "", prepare)


def compile_cases():
    yield compile_case("add", 2, 1024)
    yield compile_case("softmax", 1, 1024)
    yield compile_case("layernorm", 3, 4096)
    yield fresh_process_case()


def cases_of(section: str, kind: str, quick: bool) -> list[Case]:
    if section in ("launch", "compile"):
        return list(launch_cases() if section == "launch" else compile_cases())
    dtypes = DTYPES[kind]
    if section == "matmul":  # on GPUs tiles and warps would have to be tuned to the machine
        orders = (QUICK_ORDERS if quick else ORDERS) if kind == "cpu" else ()
        return [matmul_case(n, dtype) for dtype in dtypes for n in orders]
    if section in ("add", "gelu"):
        lengths = QUICK_LENGTHS if quick else LENGTHS[kind]
        return [elementwise_case(section, n, dtype) for dtype in dtypes for n in lengths]
    columns = QUICK_COLUMNS if quick else COLUMNS
    elements = QUICK_ELEMENTS if quick else ELEMENTS[kind]
    return [row_case(section, n, elements, dtype) for dtype in dtypes for n in columns]
