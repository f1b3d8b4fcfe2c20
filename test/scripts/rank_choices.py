"""Lets several ranks tune the same kernels at one moment and counts where their choices differ, without and with a lock.

python test/scripts/rank_choices.py --ranks 4 [--device cuda] [--keys 22]
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"ROWS": rows, "COLUMNS": columns}, num_warps=warps)
    for rows in (1, 4)
    for columns in (64, 128, 256)
    for warps in (2, 4)
]


@triton.autotune(CONFIGS, key=["rows", "columns"])
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    mask = (row < rows)[:, None] & (column < columns)[None, :]
    at = row[:, None] * columns + column[None, :]
    total = tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask)
    tl.store(out_ptr + at, total, mask=mask)


def arrays(device: str, rows: int, columns: int) -> tuple[Any, Any, Any]:
    if device == "cpu":
        x = np.ones((rows, columns), np.float32)
        return x, x, np.empty_like(x)
    import torch

    count = torch.cuda.device_count()
    ones = torch.ones(rows, columns, device=f"cuda:{int(os.environ['RANK']) % count}")
    torch.cuda.set_device(ones.device)
    return ones, ones, torch.empty_like(ones)


def tune_all(device: str, keys: int) -> None:
    """What a rank does: one choice for each key, as JSON."""
    if device == "cpu":
        triton.runtime.driver.set_active_to_cpu()
    choices = []
    for number in range(keys):
        rows, columns = 16 + number, 100 + 37 * number
        x, y, out = arrays(device, rows, columns)

        def grid(meta: dict[str, Any], rows: int = rows, columns: int = columns) -> tuple[int, int]:
            return triton.cdiv(rows, meta["ROWS"]), triton.cdiv(columns, meta["COLUMNS"])

        add_kernel[grid](x, y, out, rows, columns)
        assert float(out.sum()) == 2.0 * rows * columns
        choices.append(str(add_kernel.best_config))
    print(json.dumps(choices))


def run(given: argparse.Namespace, what: str, lock: str) -> int:
    """Prints in how many keys the ranks differ, and returns it."""
    begin = time.monotonic()
    command = [sys.executable, __file__, "--work", "--device", given.device, "--keys", str(given.keys)]  # fmt: skip
    processes = [
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "TRITON_LOCK": lock,
                "RANK": str(rank),
                "WORLD_SIZE": str(given.ranks),
            },
        )
        for rank in range(given.ranks)
    ]
    outputs = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        sys.exit(f"{what}: a rank failed")
    choices = [json.loads(output) for output in outputs]
    differing = sum(len(set(each)) > 1 for each in zip(*choices, strict=True))
    print(
        f"{what}: {given.ranks} ranks differ in {differing} of {given.keys} keys, {time.monotonic() - begin:.1f} s"
    )
    return differing


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--keys", type=int, default=22)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        tune_all(given.device, given.keys)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "cache")
        run(given, "without a lock", "")
        differing = run(given, "with a lock", os.path.join(folder, "triton.lock"))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
