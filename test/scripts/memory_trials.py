"""Runs imports, compilations and launches in processes whose address space ends near what they use.

python test/scripts/memory_trials.py [--count N] [--seed S] [--only WORD,...]

Every trial must end by itself within a time limit, with the right result or a Python exception that names the shortage;
after the limit is lifted, compiling and launching must work again. Prints each trial that does not, and counts.
"""

# SPDX-License-Identifier: MIT
# ruff: noqa: ANN001, ANN201, B023
from __future__ import annotations

import argparse
import collections
import errno
import os
import pathlib
import random
import resource
import select
import signal
import subprocess
import sys
import time

MIB = 1 << 20
SECONDS = 120
# What a compilation takes is some ten MiB beside a thread's stack of 256.
FREE_MIB = (0.05, 700)
KINDS = ("cpu", "cuda:90", "launch", "import")
REPORTED = (
    "MemoryError",
    "out-of-memory",
    "launch-memory",
    "load-binary",
    "Cannot allocate memory",
)
# What the dynamic loader says of a library that it has no room for.
LOADER_REPORTS = ("failed to map segment", "cannot allocate memory", "Cannot allocate memory")


def bytes_in_use() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def limit_free_memory(free: int) -> None:
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (bytes_in_use() + free, hard))


def lift_limit() -> None:
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


# --- The work of a trial -------------------------------------------------------------------------


def kernels():
    import triton
    import triton.language as tl

    @triton.jit
    def small(x, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        value = tl.load(x + at, mask=at < n)
        tl.store(out + at, tl.exp(value) + 1, mask=at < n)

    @triton.jit
    def large(x, out, n, BLOCK: tl.constexpr):
        rows, columns = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
        total = tl.zeros((BLOCK, BLOCK), tl.float32)
        for k in range(0, n, BLOCK):
            tile = tl.load(x + rows * n + k + columns)
            total += tl.dot(tile, tl.trans(tile))
        tl.store(out + rows * BLOCK + columns, tl.sort(tl.cumsum(total, 0)))

    return small, large


def load_other_libraries() -> None:
    """What is not ours and ends the process, or stays half-imported, where memory is short."""
    import concurrent.futures
    import ctypes
    import hashlib
    import inspect
    import tokenize

    import numpy as np

    np.linalg.norm(np.ones((64, 64)) @ np.ones((64, 64)))
    assert all((concurrent.futures, ctypes, hashlib.sha256, inspect, tokenize))


def compile_for(target: str, kernel, block: int) -> None:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    where = GPUTarget("cpu", 0, 1) if target == "cpu" else GPUTarget("cuda", 90, 32)
    signature = {"x": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    options = {"debug": False}
    triton.compile(ASTSource(kernel, signature, {"BLOCK": block}), target=where, options=options)


def launch(kernel, block: int) -> None:
    import numpy as np

    x = np.linspace(0, 1, 1000, dtype=np.float32)
    out = np.zeros_like(x)
    kernel[(1000 + block - 1) // block,](x, out, 1000, BLOCK=block)
    if not np.allclose(out, np.exp(x) + 1):
        raise AssertionError("the launch gave wrong numbers")


def work(kind: str, pair, block: int) -> None:
    small, large = pair
    if kind == "launch":
        launch(small, block)
    else:
        compile_for(kind, large if block <= 64 else small, block)


def describe(error: BaseException) -> str:
    text = f"{type(error).__name__}: {error}"
    while error.__cause__ is not None:
        error = error.__cause__
        text += f" <- {type(error).__name__}: {error}"
    return " ".join(text.split())


def trial(kind: str, pair, free: int, block: int) -> str:
    """One line: `ok`, `reported ...` or `wrong ...`."""
    limit_free_memory(free)
    outcome = "ok"
    try:
        work(kind, pair, block)
    except Exception as error:
        lift_limit()
        text = describe(error)
        outcome = ("reported " if any(word in text for word in REPORTED) else "wrong ") + text
    lift_limit()
    try:
        work(kind, pair, block)
        launch(pair[0], 2 * block)
    except Exception as error:
        outcome = f"wrong afterwards: {describe(error)} (under the limit: {outcome})"
    return outcome


# --- Processes -----------------------------------------------------------------------------------


def in_child(function) -> str:
    """The line that `function` returns in a forked process, or how that process ended."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        os.dup2(writer, 2)
        try:
            os.write(writer, ("\nLINE " + function()).encode())
        except BaseException as error:
            lift_limit()
            os.write(writer, f"\nLINE wrong {describe(error)}".encode())
        os._exit(0)
    os.close(writer)
    text = read_until(reader, pid)
    os.close(reader)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return ending(text, status)


def read_until(reader: int, pid: int) -> str:
    deadline, text = time.monotonic() + SECONDS, b""
    while True:
        ready, _, _ = select.select([reader], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            os.kill(pid, signal.SIGKILL)
            return text.decode(errors="replace") + "\nhang"
        part = os.read(reader, 1 << 16)
        if not part:
            return text.decode(errors="replace")
        text += part


def ending(text: str, status: int) -> str:
    if text.endswith("\nhang"):
        return "hang"
    if status < 0:
        return f"died of {signal.Signals(-status).name}: " + " ".join(text.split())[-300:]
    return (
        text.rsplit("\nLINE ", 1)[-1].strip()
        if "\nLINE " in text
        else f"wrong exit {status}: {text[-300:]}"
    )


def import_under_limit(free: int) -> str:
    """Imports where memory is short, then again without the limit, and launches, all in this process."""
    limit_free_memory(free)
    outcome = "ok"
    try:
        import triton
        import triton.language
    except Exception as error:
        lift_limit()
        text = describe(error)
        outcome = ("reported " if names_shortage(error) else "wrong ") + text
    lift_limit()
    try:
        import triton
        import triton.language

        assert triton.language.load
        launch(kernels()[0], 64)
    except Exception as error:
        outcome = f"wrong afterwards: {describe(error)} (under the limit: {outcome})"
    return outcome


def names_shortage(error: BaseException) -> bool:
    """Whether an exception of an import is of missing memory: Python's loader and parser have words of their own."""
    text = describe(error)
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    if isinstance(error, ImportError) and any(word in text for word in LOADER_REPORTS):
        return True
    return any(word in text for word in REPORTED)


IMPORT = """
import sys
sys.path[:0] = {path!r}
import ctypes, numpy, json, ast, inspect, threading, re
import memory_trials as trials
print("\\nLINE " + trials.import_under_limit({free}))
"""


def import_trial(free: int) -> str:
    path = [os.path.dirname(os.path.abspath(__file__)), *filter(None, sys.path)]
    command = [sys.executable, "-c", IMPORT.format(path=path, free=free)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "hang"
    if done.returncode > 0:
        return f"wrong exit {done.returncode}: {done.stderr[-300:]}"
    return ending(done.stderr + done.stdout, done.returncode)


def run(count: int, seed: int, kinds: list[str]) -> int:
    random_number = random.Random(seed)
    load_other_libraries()
    pair = kernels()
    counts: collections.Counter[str] = collections.Counter()
    for number in range(count):
        kind = kinds[number % len(kinds)]
        low, high = FREE_MIB
        free = int(low * (high / low) ** random_number.random() * MIB)
        block = random_number.choice((16, 32, 64, 128, 1024))
        if (
            number == count // 2
        ):  # the second half finds what the first compilation of a process sets up
            for warm in ("cpu", "cuda:90"):
                compile_for(warm, pair[0], 256)
            launch(pair[0], 512)
        line = (
            import_trial(free)
            if kind == "import"
            else in_child(lambda: trial(kind, pair, free, block))
        )
        word = line.split()[0]
        counts[f"{kind} {word}"] += 1
        if word not in ("ok", "reported"):
            print(
                f"trial {number} of seed {seed}: {kind}, block {block}, {free} bytes free: {line}",
                flush=True,
            )
    for name, times in sorted(counts.items()):
        print(f"{times:6} {name}")
    return sum(times for name, times in counts.items() if name.split()[1] not in ("ok", "reported"))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(KINDS))
    given = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # its threads end the process without memory
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        os.environ["TRITON_ALWAYS_COMPILE"] = "1"
        return 1 if run(given.count, given.seed, given.only.split(",")) else 0


if __name__ == "__main__":
    root = pathlib.Path(__file__).resolve().parents[2]
    if (root / "build/dev/python").is_dir():
        sys.path.insert(0, str(root / "build/dev/python"))
    sys.exit(main())
