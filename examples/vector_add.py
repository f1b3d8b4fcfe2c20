"""Vector add: one kernel, compiled and run on this CPU with numpy arrays."""
# SPDX-License-Identifier: MIT

import os
import time

import numpy as np
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)


def add(x: np.ndarray, y: np.ndarray, output: np.ndarray):
    """Launches the kernel and returns the compiled kernel."""
    n = x.size
    return add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)](
        x, y, output, n, BLOCK_SIZE=4096
    )


def compile_time(x: np.ndarray, from_disk: bool) -> float:
    """Milliseconds until the kernel is ready, with an empty memory cache."""
    add_kernel.device_caches.clear()
    with triton.knobs.compilation.scope():
        triton.knobs.compilation.always_compile = not from_disk
        start = time.perf_counter()
        add_kernel.warmup(x, x, x, x.size, BLOCK_SIZE=4096, grid=(1,))
        return (time.perf_counter() - start) * 1e3


def launch_time(x: np.ndarray, y: np.ndarray, output: np.ndarray) -> float:
    """Microseconds per launch, the best of many."""
    best = float("inf")
    for _ in range(200):
        start = time.perf_counter()
        add(x, y, output)
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def main() -> None:
    random = np.random.default_rng(0)
    x, y = random.random(98432, dtype=np.float32), random.random(98432, dtype=np.float32)
    output = np.full_like(x, np.nan)
    compile_time(x, from_disk=False)  # the first one also loads the compiler
    cold = compile_time(x, from_disk=False)
    kernel = add(x, y, output)
    warm = compile_time(x, from_disk=True)
    difference = np.abs(x + y - output).max()
    if not difference == 0:
        raise SystemExit(f"vector add is wrong: the largest difference is {difference}")
    print(f"largest difference between numpy and the kernel, {x.size} floats: {difference}")
    print(f"compiled in {cold:.1f} ms, read from the disk cache in {warm:.2f} ms")
    one_launch, one_add = launch_time(x, y, output), launch_time_of_numpy(x, y, output)
    gigabytes = 3 * x.nbytes / 1e9
    print(
        f"one launch: {one_launch:.1f} us ({gigabytes / one_launch * 1e6:.1f} GB/s); numpy.add: "
        f"{one_add:.1f} us"
    )
    files = kernel.metadata_group
    print("stages:", ", ".join(kernel.asm))
    print(
        "files in:",
        os.path.dirname(next(iter(files.values())))
        if files
        else "nowhere (the cache folder cannot be written)",
    )


def launch_time_of_numpy(x: np.ndarray, y: np.ndarray, output: np.ndarray) -> float:
    best = float("inf")
    for _ in range(200):
        start = time.perf_counter()
        np.add(x, y, out=output)
        best = min(best, time.perf_counter() - start)
    return best * 1e6


if __name__ == "__main__":
    main()
