"""The roofline of a machine: the memory bandwidth and the rate of fused multiply-adds that it
reaches, measured with kernels of this package and NumPy's copy.
"""
# SPDX-License-Identifier: MIT

import time

import kernels
import numpy as np
import triton

LENGTH, QUICK_LENGTH = 1 << 26, 1 << 12  # three arrays of the former exceed caches
BLOCK, TILE = 4096, 64  # operands and accumulator of a dot of 64 x 64 x 64 fit in L1 and L2
PROGRAMS, REPEATS, QUICK_REPEATS = 64, 400, 2
ROUNDS = 8


def best_rate(call, amount: float, rounds: int = ROUNDS) -> float:
    """`amount` per second in the fastest of several calls, the first two left out."""
    seconds = []
    for _ in range(rounds + 2):
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
    return amount / min(seconds[2:])


def bytes_per_second(length: int) -> float:
    """The higher one of a triad and a copy; each input and output counts once."""
    x, y, out = np.ones((3, length), np.float32)
    grid = (triton.cdiv(length, BLOCK),)
    triad = lambda: kernels.scaled_add[grid](x, y, out, length, 0.5, BLOCK=BLOCK)  # noqa: E731
    return max(
        best_rate(triad, 3 * x.nbytes),
        best_rate(lambda: np.copyto(out, x), 2 * x.nbytes),
    )


def flops_per_second(repeats: int) -> float:
    """Dots of float32 whose operands stay in the caches; a multiply-add is two operations."""
    a, b = np.full((2, TILE, TILE), 1 / TILE, np.float32)
    out = np.empty((PROGRAMS, TILE, TILE), np.float32)
    dots = lambda: kernels.dots_in_cache[(PROGRAMS,)](a, b, out, repeats, TILE=TILE)  # noqa: E731
    rate = best_rate(dots, 2 * TILE**3 * repeats * PROGRAMS)
    np.testing.assert_allclose(out, repeats / TILE, rtol=1e-4)
    return rate


def measure(quick: bool) -> dict[str, float]:
    return {
        "bytes": bytes_per_second(QUICK_LENGTH if quick else LENGTH),
        "flops": flops_per_second(QUICK_REPEATS if quick else REPEATS),
    }
