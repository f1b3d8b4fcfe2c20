"""One process with one `triton`: prepares, checks and times the cases read from standard input, a
JSON object per line.

Usage: bench/worker.py DEVICE(cpu|cuda|active) [--quick]; started by run.py, so that each `triton`
has a process of its own.
"""
# SPDX-License-Identifier: MIT

import json
import os
import sys
import tempfile
import traceback
from contextlib import suppress


def take_stdout():
    """Redirects output of libraries to stderr: stdout carries only the replies."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return answers


def device_kind(wanted: str) -> str:
    from triton.runtime import driver

    if wanted == "cpu":
        # A triton for GPUs only lacks this function, and fails at the first launch.
        getattr(driver, "set_active_to_cpu", lambda: None)()
        return wanted
    backend = driver.active.get_current_target().backend
    if wanted not in ("active", backend):
        raise RuntimeError(f"the active device is {backend}, {wanted} was requested")
    return backend


class Cases:
    """Answers requests; the memory of the latest case is kept for its next round."""

    def __init__(self, wanted: str, quick: bool):
        import arrays
        import triton

        self.device, self.quick = arrays.Device(device_kind(wanted)), quick
        self.hello = {
            "device": self.device.kind,
            "machine": self.device.machine(),
            "inputs": arrays.DISTRIBUTION,
            "triton": {"version": triton.__version__, "file": os.path.abspath(triton.__file__)},
        }
        self.latest = None, None

    def case(self, section: str, index: int):
        import contests

        return contests.cases_of(section, self.device.kind, self.quick)[index]

    def list(self, section: str) -> dict:
        import contests

        cases = contests.cases_of(section, self.device.kind, self.quick)
        return {"cases": [{"name": c.name, "group": c.group, "title": c.title} for c in cases]}

    def time(self, section: str, index: int, libraries: bool) -> dict:
        import measure

        if self.latest[0] != (section, index):
            self.latest = None, None  # frees the memory first
            contest = self.case(section, index).prepare(self.device)
            contest.check()
            self.latest = (section, index), contest
        contest = self.latest[1]
        if not libraries:
            contest.calls = {"ours": contest.calls["ours"]}
        return {
            "samples": measure.samples_of(contest, self.device, self.quick),
            "bytes": contest.moved_bytes,
            "flops": contest.flops,
        }

    def roofline(self) -> dict:
        import roofline

        return roofline.measure(self.quick)


def answer(cases: Cases, request: dict) -> dict:
    try:
        return getattr(cases, request.pop("do"))(**request)
    except Exception as error:
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}"}


def main() -> None:
    answers = take_stdout()
    with tempfile.TemporaryDirectory(prefix="nereid-bench-", ignore_cleanup_errors=True) as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        os.environ["CUDA_CACHE_DISABLE"] = "1"  # the driver's cache, which nvJitLink reads
        try:
            cases = Cases(sys.argv[1], "--quick" in sys.argv)
        except Exception as error:
            print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=answers)
            return
        print(json.dumps(cases.hello), file=answers)
        with suppress(BrokenPipeError, KeyboardInterrupt):
            for line in sys.stdin:
                print(json.dumps(answer(cases, json.loads(line))), file=answers)


if __name__ == "__main__":
    main()
