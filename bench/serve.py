"""A model of a server: how its first request runs with kernels from a pack, and without one.

usage: serve.py FOLDER [tune record pack serve lazy warm cold] [--device cuda] [--work DIR] [--processes 5]

FOLDER is a checkout of LightLLM; its kernels are launched by its own functions with the tensors of
a small model. The steps run in this order, each in a process of its own:

tune    requests with an empty cache; the decisions of autotuners go to DIR/triton.lock
record  requests with these decisions; the variants that they need go to DIR/record.jsonl
pack    `nereid pack` compiles them into DIR/server.pack
serve   requests with the pack (kernels and decisions), an empty cache and TRITON_JIT=forbid; at the
        start the variants are readied: `triton.load_pack(FILE, preload=True)`
lazy    the same without it: TRITON_PACKS=FILE
warm    the same with the cache and the decisions of `record` instead of a pack, readied by
        `triton.preload`
cold    requests with an empty cache, neither pack nor decisions

Each line of JSON tells the first request and the median of the later ones in milliseconds, by the
clock and in the time of this process's threads, and the compilations and tunings that ran. A request
passes through `--layers` layers, each with all kernels of layers. Results are compared with torch's. Exit status 1: a result is
wrong, or `serve`, `lazy` or `warm` compiled or tuned.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

STEPS = ("tune", "record", "pack", "serve", "lazy", "warm", "cold")
SERVED = ("serve", "lazy", "warm")


class Counts:
    """Compilations and tunings of this process, and the kernels that it launched."""

    def __init__(self) -> None:
        from triton import knobs

        self.compiled: list[str] = []
        self.tuned: list[str] = []
        self.kernels: set[str] = set()
        knobs.compilation.listener = self._compilation
        knobs.autotuning.listener = self._tuning

    def _compilation(self, *, src: Any, cache_hit: bool, **_: Any) -> None:
        self.kernels.add(f"{src.fn.__module__}:{src.fn.__qualname__}")
        if not cache_hit:
            self.compiled.append(src.name)

    def _tuning(self, *, fn: Any, cache_hit: bool, **_: Any) -> None:
        if not cache_hit:
            self.tuned.append(fn.__name__)


def all_calls(device: str, layers: int) -> tuple[list[Any], list[Any]]:
    """Every call once, and those of a request in order."""
    import serve_calls as calls
    import serve_latent_calls as latent
    import serve_shared_calls as shared

    batch = calls.Batch(device)

    def of(*groups: Callable[[Any], Any]) -> list[Any]:
        return [call for group in groups for call in group(batch)]

    before, after = of(shared.steps), of(shared.sampling)
    layer = of(
        *(calls.llama_prefill, calls.bloom, calls.mistral, calls.phi3, calls.other_models),
        *(latent.latent_prefill, latent.experts, shared.quantised, shared.autotuned),
        *(shared.caches, calls.llama_decode, latent.latent_decode),
    )
    return [*before, *layer, *after], [*before, *(layer * layers), *after]


def warm_libraries(device: str) -> None:
    """Starts what is torch's own: its allocator, its matmul and its threads."""
    import torch

    a = torch.randn(51, 256, device=device).half()
    b, out = torch.randn(256, 256, device=device).half(), torch.empty_like(a)
    counts = torch.ones(2, dtype=torch.int32, device=device)
    for _ in range(3):
        torch.mm(a, b, out=out)
        out.fill_(0).zero_()
        torch.nn.functional.pad(torch.cumsum(counts, 0, dtype=torch.int32), (1, 0), value=0)
        (counts - counts).max().item()
        out.copy_(a.clone().float().half()).to(torch.bfloat16)


def timed(run: Callable[[], Any], wait: Callable[[], None]) -> tuple[float, float]:
    """Milliseconds of a call with the work that it started: by the clock, and of this process."""
    began, busy = time.perf_counter(), time.process_time()
    run()
    wait()
    return 1e3 * (time.perf_counter() - began), 1e3 * (time.process_time() - busy)


def requests(calls: list[Any], later: int, wait: Callable[[], None]) -> dict[str, Any]:
    def request() -> None:
        for call in calls:
            call.run()

    clock, busy = zip(
        timed(request, wait), *(timed(request, wait) for _ in range(later)), strict=True
    )
    row = {}
    for name, (first, *others) in (("", clock), ("busy_", busy)):
        steady = statistics.median(others)
        quarters = statistics.quantiles(others, n=4)
        row[f"{name}first"], row[f"{name}steady"] = first, steady
        row[f"{name}ratio"] = first / steady
        row[f"{name}spread"] = (quarters[2] - quarters[0]) / steady
    return row


def each_call(calls: list[Any], later: int, wait: Callable[[], None]) -> list[tuple[Any, ...]]:
    """Calls whose first run costs most beyond the median of the later ones, in milliseconds of this process."""
    rows = []
    for call in calls:
        first = timed(call.run, wait)[1]
        steady = statistics.median(timed(call.run, wait)[1] for _ in range(later))
        rows.append((round(first - steady, 3), round(first, 3), round(steady, 3), call.name))
    return sorted(rows, reverse=True)


def wrong_results(calls: list[Any]) -> list[str]:
    """Calls with a reference that differ from it by more than 2% of its largest value."""
    found = []
    for call in calls:
        if call.expected is not None:
            result, expected = (value.double() for value in call.expected())
            error = ((result - expected).abs().max() / expected.abs().max()).item()
            if not error < 0.02:
                found.append(f"{call.name}: {error:.3g}")
    return found


def ready(options: argparse.Namespace) -> None:
    """What a server does before it takes requests."""
    import triton

    if options.step == "serve":
        triton.load_pack(str(options.work / "server.pack"), preload=True)
    else:
        for problem in triton.preload(str(options.work / "record.jsonl")):
            print(problem)


def work(options: argparse.Namespace) -> int:
    """One step, in this process; the environment has been set by `environment`."""
    began = time.perf_counter()
    import torch
    import triton
    from serve_engine import open_engine

    imported = time.perf_counter()
    wait = torch.cuda.synchronize if options.device == "cuda" else lambda: None
    if options.device == "cpu":
        triton.runtime.driver.set_active_to_cpu()
    open_engine(options.folder, options.device)
    counts = Counts()
    warm_libraries(options.device)
    calls, request = all_calls(options.device, options.layers)
    wait()
    started = time.perf_counter()
    if options.step in ("serve", "warm"):
        ready(options)
        wait()
    loaded = time.perf_counter()
    row = {
        "step": options.step,
        "import_s": imported - began,
        "start_s": started - imported,
        "preload_s": loaded - started,
    }
    if options.each:
        for line in each_call(calls, options.later, wait)[: options.each]:
            print(*line)
    else:
        row |= requests(request, options.later, wait)
    wrong = wrong_results(calls)
    row |= {"kernels": len(counts.kernels), "compiled": len(counts.compiled)}
    row |= {"tuned": len(counts.tuned), "calls": len(calls), "wrong": wrong}
    print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}))
    return 1 if wrong or (options.step in SERVED and (counts.compiled or counts.tuned)) else 0


def environment(options: argparse.Namespace, step: str) -> dict[str, str]:
    """What a step's process gets: an empty cache, but for `warm`, and the files of earlier steps."""
    cache = options.work / "cache" / ("record" if step == "warm" else step)
    if step != "warm":
        shutil.rmtree(cache, ignore_errors=True)
    result = {k: v for k, v in os.environ.items() if not k.startswith("TRITON_")}
    result["TRITON_CACHE_DIR"] = str(cache)
    if step in ("tune", "record", "warm"):
        result["TRITON_LOCK"] = str(options.work / "triton.lock")
    if step == "record":
        result["TRITON_RECORD"] = str(options.work / "record.jsonl")
    if step in SERVED:
        result["TRITON_JIT"] = "forbid"
    if step == "lazy":
        result["TRITON_PACKS"] = str(options.work / "server.pack")
    if options.threads:
        result["OMP_NUM_THREADS"] = str(options.threads)
    return result


def pack(options: argparse.Namespace) -> list[str]:
    """The command that compiles the record. The hook lets it import the engine's files."""
    hook = Path(__file__).with_name("serve_engine.py")
    record, lock = options.work / "record.jsonl", options.work / "triton.lock"
    return [
        *(sys.executable, str(hook), options.folder, options.device, "pack", str(record)),
        *("--lock", str(lock), "-o", str(options.work / "server.pack")),
    ]


def run_step(options: argparse.Namespace, step: str) -> int:
    for stale in {"tune": ["triton.lock"], "record": ["record.jsonl"]}.get(step, []):
        (options.work / stale).unlink(missing_ok=True)
    began = time.perf_counter()
    if step == "pack":
        status = subprocess.run(pack(options), env=environment(options, step)).returncode
        print(json.dumps({"step": step, "seconds": round(time.perf_counter() - began, 1)}))
        return status
    status = 0
    for _ in range(options.processes if step in SERVED else 1):
        command = [sys.executable, __file__, *sys.argv[1:], "--child", step]
        status |= subprocess.run(command, env=environment(options, step)).returncode
    return status


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", help="a checkout of LightLLM")
    parser.add_argument("steps", nargs="*", help=f"of {', '.join(STEPS)}; default: all")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--work", type=Path, default=Path("build/serve"))
    parser.add_argument("--later", type=int, default=20, help="requests after the first one")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--processes", type=int, default=3, help="of serve, lazy and warm")
    parser.add_argument("--threads", type=int, default=0, help="OMP_NUM_THREADS; 0: as it is")
    parser.add_argument("--each", type=int, default=0, help="show this many of the worst calls")
    parser.add_argument("--child", dest="step", choices=STEPS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if unknown := [step for step in options.steps if step not in STEPS]:
        parser.error(f"unknown step {', '.join(unknown)}; there are {', '.join(STEPS)}")
    options.work = options.work.resolve()
    if options.step:
        return work(options)
    options.work.mkdir(parents=True, exist_ok=True)
    return max(run_step(options, step) for step in (options.steps or STEPS))


if __name__ == "__main__":
    sys.exit(main())
