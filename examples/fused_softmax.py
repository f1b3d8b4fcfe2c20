"""Fused softmax: every row is read once and written once, where the naive form passes over memory
five times.
"""
# SPDX-License-Identifier: MIT

import os
import sys
import tempfile
import time

import numpy as np
import triton
import triton.language as tl
from triton.runtime import driver

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]


@triton.jit
def softmax_kernel(
    output_ptr,
    input_ptr,
    input_row_stride,
    output_row_stride,
    n_rows,
    n_cols,
    BLOCK_SIZE: tl.constexpr,
    num_stages: tl.constexpr,
):
    row_start = tl.program_id(0)
    row_step = tl.num_programs(0)
    for row_idx in tl.range(row_start, n_rows, row_step, num_stages=num_stages):
        columns = tl.arange(0, BLOCK_SIZE)
        mask = columns < n_cols
        row = tl.load(
            input_ptr + row_idx * input_row_stride + columns, mask=mask, other=-float("inf")
        )
        numerator = tl.exp(row - tl.max(row, axis=0))
        denominator = tl.sum(numerator, axis=0)
        tl.store(
            output_ptr + row_idx * output_row_stride + columns, numerator / denominator, mask=mask
        )


def fused_softmax(x: np.ndarray, output: np.ndarray) -> None:
    n_rows, n_cols = x.shape
    row_stride = n_cols
    programs = min(n_rows, 4 * driver.active.utils.get_device_properties()["multiprocessor_count"])
    softmax_kernel[(programs,)](
        output,
        x,
        row_stride,
        row_stride,
        n_rows,
        n_cols,
        BLOCK_SIZE=triton.next_power_of_2(n_cols),
        num_stages=2,
    )


def naive_softmax(x: np.ndarray, output: np.ndarray) -> None:
    """Reads 5MN + 2M and writes 3MN + 2M elements."""
    z = x - x.max(axis=1)[:, None]
    numerator = np.exp(z)
    np.divide(numerator, numerator.sum(axis=1)[:, None], out=output)


def library_softmax(x: np.ndarray, output: np.ndarray) -> None:
    torch.ops.aten._softmax.out(torch.from_numpy(x), 1, False, out=torch.from_numpy(output))


def bytes_moved(name: str, rows: int, columns: int) -> int:
    elements = rows * columns
    return 4 * (8 * elements + 4 * rows if name == "naive" else 2 * elements)


def best_time(softmax, x: np.ndarray, output: np.ndarray) -> float:
    """Seconds, the best within about a fifth of a second."""
    softmax(x, output)
    best, end = float("inf"), time.perf_counter() + 0.2
    while time.perf_counter() < end:
        start = time.perf_counter()
        softmax(x, output)
        best = min(best, time.perf_counter() - start)
    return best


def contestants() -> dict:
    found = {"naive": naive_softmax, "fused": fused_softmax}
    if torch is not None:
        found["library"] = library_softmax
    return found


def check(x: np.ndarray) -> None:
    got, want = np.full_like(x, np.nan), np.empty_like(x)
    fused_softmax(x, got)
    naive_softmax(x, want)
    difference = np.abs(got - want).max()
    if not difference <= 1e-6:
        raise SystemExit(f"softmax is wrong: the largest difference is {difference}")
    print(
        f"largest difference between numpy and the kernel, {x.shape[0]} x {x.shape[1]}: "
        f"{difference:.2e}"
    )


def report(x: np.ndarray) -> None:
    output = np.empty_like(x)
    print(f"{'':8} {'ms':>8} {'MB moved':>9} {'GB/s':>6}")
    for name, softmax in contestants().items():
        seconds, moved = best_time(softmax, x, output), bytes_moved(name, *x.shape)
        print(f"{name:8} {seconds * 1e3:8.3f} {moved / 1e6:9.1f} {moved / seconds / 1e9:6.1f}")
    if torch is None:
        print("library: left out, torch is not installed")


def plot(random: np.random.Generator, path: str) -> None:
    """Rows per second over the row length."""
    try:
        import matplotlib
    except ImportError:
        print("plot: left out, matplotlib is not installed")
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    lengths = [128, 256, 512, 781, 1024, 2048, 4096]
    for name, softmax in contestants().items():
        rates = []
        for columns in lengths:
            x = random.standard_normal((512, columns), dtype=np.float32)
            rates.append(2 * x.nbytes / best_time(softmax, x, np.empty_like(x)) / 1e9)
        plt.plot(lengths, rates, marker="o", label=name)
    plt.xscale("log", base=2)
    plt.xlabel("columns")
    plt.ylabel("GB/s of input and output")
    plt.legend()
    plt.savefig(path)
    print(f"plot: {path}")


def main() -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal((1823, 781), dtype=np.float32)
    check(x)
    report(x)
    plot(
        random,
        sys.argv[1]
        if len(sys.argv) > 1
        else os.path.join(tempfile.gettempdir(), "fused_softmax.png"),
    )


if __name__ == "__main__":
    main()
