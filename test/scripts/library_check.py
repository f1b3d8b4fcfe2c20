#!/usr/bin/env python3
"""Runs the kernels of public libraries against torch references and prints a table of passes.

    python test/scripts/library_check.py --site DIR [--device cpu|cuda] [--library NAME] [--case WORD]

DIR holds the unpacked libraries (listed in test/scripts/requirements-libraries.txt). PYTHONPATH alone selects the triton.
A case that hangs or crashes does not affect the others: its process is replaced.
"""
# SPDX-License-Identifier: MIT

import argparse
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKER = ROOT / "test" / "libraries" / "worker.py"
if not WORKER.exists():  # a bundle: this file is next to the folder `libraries`
    WORKER = pathlib.Path(__file__).resolve().parent / "libraries" / "worker.py"


class Results:
    """The result of every case, printed as it arrives."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.rows = []

    def add(self, library: str, case: str, passed: bool, seconds: float, reason: str = "") -> None:
        with self.lock:
            self.rows.append(
                {
                    "library": library,
                    "case": case,
                    "passed": passed,
                    "seconds": seconds,
                    "reason": reason,
                }
            )
            verdict = "PASS" if passed else "FAIL"
            print(f"{verdict} {library} {case} {seconds:.1f}s {reason}".rstrip(), flush=True)

    def table(self) -> str:
        libraries = sorted({row["library"] for row in self.rows})
        width = max((len(name) for name in libraries), default=7)
        lines = [f"{'library':{width}}  passed  failed"]
        for name in libraries + ["total"]:
            rows = [row for row in self.rows if name in (row["library"], "total")]
            passed = sum(row["passed"] for row in rows)
            lines.append(f"{name:{width}}  {passed:6}  {len(rows) - passed:6}")
        return "\n".join(lines)


def worker_command(options: argparse.Namespace, driver: str, *rest: str) -> list[str]:
    command = [
        sys.executable,
        str(WORKER),
        driver,
        "--device",
        options.device,
        "--site",
        str(options.site),
    ]
    if options.configs:
        command += ["--configs", str(options.configs)]
    if options.record:
        command += ["--record", str(options.record)]
    return [*command, *rest]


def list_cases(options: argparse.Namespace, driver: str) -> tuple[list[str] | None, str]:
    """The names of a driver's cases, or the reason why it could not be imported."""
    try:
        done = subprocess.run(
            worker_command(options, driver, "--list"),
            capture_output=True,
            text=True,
            timeout=options.timeout + 120,
        )
    except subprocess.TimeoutExpired:
        return None, f"the import took more than {options.timeout + 120} s"
    if done.returncode:
        return None, (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1][
            :300
        ]
    return json.loads(done.stdout.strip().splitlines()[-1]), ""


def run_cases(options: argparse.Namespace, driver: str, names: list[str], results: Results) -> None:
    """Runs cases in one process after another: a case that hangs or crashes ends its process, the
    next process continues.
    """
    left = list(names)
    while left:
        process = subprocess.Popen(
            worker_command(options, driver, "--cases", json.dumps(left)),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        lines = queue.Queue()
        errors = []
        threading.Thread(
            target=lambda p=process, q=lines: ([q.put(x) for x in p.stdout], q.put(None))
        ).start()
        threading.Thread(target=lambda p=process, e=errors: e.extend(p.stderr)).start()
        start = time.monotonic()
        limit = options.timeout + 60  # the import is in the first case's time
        while left:
            try:
                line = lines.get(timeout=max(0.1, start + limit - time.monotonic()))
            except queue.Empty:
                os.killpg(process.pid, 9)
                results.add(driver, left.pop(0), False, time.monotonic() - start, "time limit")
                break
            if line is None:
                process.wait()
                last = (errors or [""])[-1].strip()
                reason = f"the process ended with {process.returncode}: {last}"[:300]
                results.add(driver, left.pop(0), False, time.monotonic() - start, reason)
                break
            if not line.startswith("@"):
                continue
            row = json.loads(line[1:])
            if "passed" in row:
                results.add(driver, left.pop(0), row["passed"], row["seconds"], row["reason"])
            start, limit = time.monotonic(), options.timeout
        process.wait()


def main() -> bool:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--site", type=pathlib.Path, required=True, help="folder of the unpacked libraries"
    )
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--library", action="append", help="only these drivers")
    parser.add_argument("--case", default="", help="only cases with this word in their name")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=60, help="seconds for a case")
    parser.add_argument(
        "--configs", type=int, default=0, help="autotuners time only their first N configurations"
    )
    parser.add_argument("--json", type=pathlib.Path, help="also write all results there")
    parser.add_argument(
        "--record", type=pathlib.Path, help="a folder for the kernels that the cases compile"
    )
    options = parser.parse_args()
    options.site = options.site.resolve()
    drivers = options.library or sorted(
        path.stem.removeprefix("drive_") for path in WORKER.parent.glob("drive_*.py")
    )
    begin = time.monotonic()
    results = Results()
    work = queue.Queue()

    def prepare(driver: str) -> None:
        names, reason = list_cases(options, driver)
        if names is None:
            results.add(driver, "import", False, 0, reason)
            return
        names = [name for name in names if options.case in name]
        groups = max(1, min(4, options.processes // 2, len(names) // 4))
        for k in range(groups):
            work.put((driver, names[k::groups]))

    def serve() -> None:
        while True:
            try:
                driver, names = work.get_nowait()
            except queue.Empty:
                return
            run_cases(options, driver, names, results)

    def all_of(target: Callable[..., None], arguments: list[tuple[str, ...]]) -> None:
        threads = [threading.Thread(target=target, args=args) for args in arguments]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    for at in range(0, len(drivers), options.processes):
        all_of(prepare, [(driver,) for driver in drivers[at : at + options.processes]])
    all_of(serve, [()] * options.processes)
    print(results.table())
    failed = sum(not row["passed"] for row in results.rows)
    passed = len(results.rows) - failed
    print(f"{passed} passed, {failed} failed, {options.device}, {time.monotonic() - begin:.0f} s")
    if options.json:
        options.json.write_text(json.dumps(results.rows, indent=1))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
