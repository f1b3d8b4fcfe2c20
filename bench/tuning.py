"""Autotuning, by kernel: how near the search by the model comes to the best configuration, and how long tuning takes.

    python bench/tuning.py [--site DIR] [--peer [PYTHON]] [--only WORD] [--json FILE] [--quick] [--divide N]
        [--device cuda|cpu]

DIR holds unpacked libraries (fla-core, einops, mamba-ssm, liger-kernel, packaging), whose kernels are tuned with their own lists; without it
only the kernels of tuning_kernels.py are. For each kernel with more than three configurations, at its first key:

- `model` and `exhaustive`: a tuning of either kind with empty caches: seconds, how many were timed, what was chosen;
- the truth: every configuration timed for long, in two rounds;
- `--peer`: another process runs the same under Triton (NEREID=0, or the `triton` of PYTHON), and says how long its tuner takes.

A line of JSON for each kernel goes to FILE, with the time and the estimate of each configuration. Exit status 1: a program of ours failed.
"""
# SPDX-License-Identifier: MIT

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
LEAST_CONFIGS = 4
CPU_ROUNDS = 25


def run_programs(options, record):
    """Runs each program and prints a line of JSON for each kernel that it tunes."""
    sys.path[:0] = [str(HERE)]
    if options.site:
        sys.path.append(str(options.site))  # last: it must not override torch or triton
    if options.device == "cpu":  # libraries ask for a GPU
        sys.path.append(str(HERE.parent / "test" / "libraries"))
        import device_guard

        device_guard.pretend()
    import tuning_cases

    tuning_cases.DEVICE, tuning_cases.QUICK = options.device, options.quick
    tuning_cases.DIVISOR = options.divide
    failed = 0
    for name, function in tuning_cases.PROGRAMS.items():
        if not any(word in name for word in options.only.split(",")):
            continue
        record.program = name
        try:
            function()
        except Exception as error:
            traceback.print_exc()
            print(json.dumps({"program": name, "error": f"{type(error).__name__}: {error}"[:300]}))
            failed += 1
        sys.stdout.flush()
    return failed


class Recorder:
    """Measures the first tuning of each kernel, in place of its first call."""

    program = ""

    def __init__(self, options):
        self.seen = set()
        self.is_on_cpu = options.device == "cpu"
        self.warmup, self.rep = (1, 5) if options.quick else (10, 60)

    def is_new(self, tuner, configs):
        name = (self.program, tuner.base_fn.__name__)
        if name in self.seen or len(configs) < LEAST_CONFIGS:
            return False
        self.seen.add(name)
        return True

    def print(self, tuner, key, **found):
        row = {
            "program": self.program,
            "kernel": tuner.base_fn.__name__,
            "key": [str(k) for k in key],
        }
        print(json.dumps({**row, **found}), flush=True)


class OurRecorder(Recorder):
    def install(self):
        from triton.runtime.autotuner import Autotuner

        choose = Autotuner._choose

        def measured(tuner, key, args, kwargs):
            configs = tuner.prune_configs(kwargs)
            if not self.is_new(tuner, configs):
                return choose(tuner, key, args, kwargs)
            best = self.measure(tuner, key, configs, args, kwargs)
            meta = {**(tuner.nargs or {}), **kwargs, **best.all_kwargs()}
            tuner.pre_hook(meta, reset_only=True)
            tuner.cache[key] = best
            return None

        Autotuner._choose = measured

    def measure(self, tuner, key, configs, args, kwargs):
        from triton.runtime.tuning.samples import best_of

        found = {"configs": len(configs)}
        for mode in ("model", "exhaustive"):
            with empty_caches(tuner):
                begin = time.perf_counter()
                search = self.search(tuner, configs, args, kwargs, mode)
                timings = search.timings()
                found[mode] = {
                    "seconds": time.perf_counter() - begin,
                    "timed": sum(one.outcome in ("timed", "cut") for one in search.candidates),
                    "chosen": str(best_of(timings)),
                    "among": [str(one.config) for one in search.candidates if one.samples.times],
                }
                if mode == "model":
                    estimates = [one.estimate for one in search.candidates]
        times = self.truth(tuner, configs, args, kwargs)
        rows = [
            {"config": str(config), "ms": None if math.isinf(ms) else ms, "estimate": estimate}
            for config, ms, estimate in zip(configs, times, estimates, strict=True)
        ]
        self.print(tuner, key, **found, candidates=rows)
        return configs[times.index(min(times))]

    @staticmethod
    def search(tuner, configs, args, kwargs, mode):
        from triton.runtime.tuning.search import Search

        search = Search(tuner, configs, args, kwargs)
        search.run(mode)
        return search

    def truth(self, tuner, configs, args, kwargs):
        """Milliseconds of each configuration: the better median of two rounds; on a CPU, where other programs
        run, the least time of any call in many short rounds.
        """
        own, tuner._do_bench = tuner._do_bench, least if self.is_on_cpu else self.median
        try:
            rounds = [
                [tuner._bench(*args, config=config, **kwargs)[0] for config in configs]
                for _ in range(CPU_ROUNDS if self.is_on_cpu else 2)
            ]
        finally:
            tuner._do_bench = own
        return [min(times) for times in zip(*rounds, strict=True)]

    def median(self, call, quantiles):
        from triton.testing import do_bench

        return do_bench(call, warmup=self.warmup, rep=self.rep, quantiles=quantiles)


def least(call, quantiles):
    """The least of a few times, with cold caches as the tuner has them."""
    from triton.testing import _device_of, _times_by_clock

    device = _device_of(call)
    cache = device.get_empty_cache_for_benchmark()
    times = _times_by_clock(device, call, lambda: device.clear_cache(cache), 3)
    return [min(times)] * len(quantiles)


class empty_caches:  # noqa: N801
    """A context in which nothing of the kernel is compiled."""

    def __init__(self, tuner):
        self.fn = tuner.fn
        while not hasattr(self.fn, "device_caches"):
            self.fn = self.fn.fn

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.before = os.environ.get("TRITON_CACHE_DIR")
        os.environ["TRITON_CACHE_DIR"] = self.folder.name
        self.fn.device_caches.clear()

    def __exit__(self, *error):
        if self.before is None:
            del os.environ["TRITON_CACHE_DIR"]
        else:
            os.environ["TRITON_CACHE_DIR"] = self.before
        self.folder.cleanup()


class PeerRecorder(Recorder):
    """Of Triton's tuner: what it says of its own time."""

    def install(self):
        from triton.runtime.autotuner import Autotuner

        run = Autotuner.run

        def measured(tuner, *args, **kwargs):
            known = set(tuner.cache)
            result = run(tuner, *args, **kwargs)
            new = [key for key in tuner.cache if key not in known]
            if new and self.is_new(tuner, tuner.configs_timings):
                timings = tuner.configs_timings
                self.print(
                    tuner, new[0], configs=len(timings), seconds=tuner.bench_time,
                    chosen=str(tuner.best_config), ms=min(t[0] for t in timings.values()),
                )  # fmt: skip
            return result

        Autotuner.run = measured


# --- the parent ---


def worker(options, python, environment, kind):
    """The rows of a process, and whether it did all."""
    command = [
        python,
        __file__,
        "--worker",
        kind,
        "--device",
        options.device,
        "--only",
        options.only,
    ]
    command += ["--divide", str(options.divide)]
    command += ["--quick"] if options.quick else []
    command += ["--site", str(options.site)] if options.site else []
    rows = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as cache:
        settings = {
            **os.environ,
            **environment,
            "TRITON_CACHE_DIR": cache,
            "CUDA_CACHE_DISABLE": "1",
        }
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings)
        for line in process.stdout:
            if not line.startswith("{"):
                continue
            row = json.loads(line)
            rows.append(row)
            if options.json:
                with options.json.open("a") as file:
                    file.write(json.dumps({"of": kind, **row}) + "\n")
            print(describe(row), file=sys.stderr, flush=True)
        return rows, process.wait() == 0


def describe(row):
    if "error" in row:
        return f"{row['program']}: {row['error']}"
    if "candidates" not in row:
        return f"{row['program']} {row['kernel']}: {row['seconds']:.2f} s"
    quality = quality_of(row)
    return (
        f"{row['program']} {row['kernel']}: {row['configs']} configurations, proposed "
        f"{quality['proposed']:.3f}, model {quality['model']:.3f} in {row['model']['seconds']:.2f} s, exhaustive "
        f"{quality['exhaustive']:.3f} in {row['exhaustive']['seconds']:.2f} s"
    )


def quality_of(row):
    """Of each search: the time of the best configuration over that of the chosen one; "proposed": over that of the
    best one that the model timed.
    """
    ms = {one["config"]: one["ms"] for one in row["candidates"] if one["ms"] is not None}
    best = min(ms.values())
    found = {mode: best / ms[row[mode]["chosen"]] for mode in ("model", "exhaustive")}
    among = [ms[name] for name in row["model"].get("among", ()) if name in ms]
    return {**found, "proposed": best / min(among) if among else found["model"]}


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def report(rows, peers):
    rows = [row for row in rows if "candidates" in row]
    of_peer = {(row["program"], row["kernel"]): row for row in peers if "seconds" in row}
    columns = (
        "kernel",
        "configs",
        "timed",
        "proposed",
        "model",
        "exhaustive",
        "model s",
        "exhaustive s",
        "peer s",
        "peer/exh.",
    )
    print("  ".join([columns[0].ljust(60), *columns[1:]]))
    qualities, ratios = [], []
    for row in rows:
        quality, peer = quality_of(row), of_peer.get((row["program"], row["kernel"]))
        qualities.append(quality)
        ratio = peer["seconds"] / row["exhaustive"]["seconds"] if peer else math.nan
        ratios += [ratio] if peer else []
        print(
            f"{row['program'] + ' ' + row['kernel']:60}  {row['configs']:7}  {row['model']['timed']:5}  "
            f"{quality['proposed']:8.3f}  {quality['model']:5.3f}  {quality['exhaustive']:10.3f}  {row['model']['seconds']:7.2f}  "
            f"{row['exhaustive']['seconds']:12.2f}  {peer['seconds'] if peer else math.nan:6.2f}  {ratio:9.1f}"
        )
    for mode in ("proposed", "model", "exhaustive"):
        values = [quality[mode] for quality in qualities]
        print(
            f"{mode}: geometric mean {mean(values):.4f}, least {min(values, default=math.nan):.3f} of {len(values)}"
        )
    print(f"timed by the model: {max((row['model']['timed'] for row in rows), default=0)} at most")
    if ratios:
        ours = sum(
            row["exhaustive"]["seconds"]
            for row in rows
            if (row["program"], row["kernel"]) in of_peer
        )
        theirs = sum(
            of_peer[row["program"], row["kernel"]]["seconds"]
            for row in rows
            if (row["program"], row["kernel"]) in of_peer
        )
        print(
            f"tuning, peer over exhaustive: geometric mean {mean(ratios):.1f}, all together {theirs / ours:.1f}"
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--site", type=pathlib.Path)
    parser.add_argument(
        "--peer",
        nargs="?",
        const="",
        help="a Python whose triton is Triton; default: this one with NEREID=0",
    )
    parser.add_argument(
        "--only", default="", help="programs with one of these words in their names, by commas"
    )
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--peer-only", action="store_true", help="only the other process of --peer")
    parser.add_argument(
        "--report",
        type=pathlib.Path,
        nargs="+",
        help="only print the table of these FILEs of --json",
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--divide", type=int, default=1, help="divides sizes, as for a CPU")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--worker", choices=["ours", "peer"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        recorder = (OurRecorder if options.worker == "ours" else PeerRecorder)(options)
        recorder.install()
        return run_programs(options, recorder) > 0
    if options.report:
        lines = [
            json.loads(line) for file in options.report for line in file.read_text().splitlines()
        ]
        report(
            [row for row in lines if row["of"] == "ours"],
            [row for row in lines if row["of"] == "peer"],
        )
        return False
    rows, is_whole, peers = [], True, []
    if not options.peer_only:
        rows, is_whole = worker(options, sys.executable, {}, "ours")
    if options.peer is not None or options.peer_only:
        python = options.peer or sys.executable
        peers, _ = worker(options, python, {} if options.peer else {"NEREID": "0"}, "peer")
    report(rows, peers)
    return not is_whole


if __name__ == "__main__":
    sys.exit(main())
