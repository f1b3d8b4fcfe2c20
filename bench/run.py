"""Times kernels in alternation with NumPy, torch and other builds of `triton`; prints a table per
section and draws it.

A ratio is the best peer's time over this package's: above 1 this package is faster. A time is the
median of all samples of all rounds. The exit status is 1 if a case of this package failed to
compile, to run or to compute the right result; a time is never a failure.
"""
# SPDX-License-Identifier: MIT

import argparse
import json
import os
import statistics
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from others import DISTURBING_CORES, Others

HERE = Path(__file__).resolve().parent
SECTIONS = ("launch", "compile", "add", "gelu", "softmax", "layernorm", "matmul")
OURS, LIBRARIES = "nereid", ("numpy", "torch")


class Contestant:
    """A process with one `triton`; it is restarted after a case crashed it."""

    def __init__(self, name: str, path: str | None, quick: bool):
        self.name, self.path, self.quick = name, path, quick
        self.process, self.device = None, "active"

    def start(self, device: str) -> dict:
        """Returns the process's self-description, or the reason why it cannot take part."""
        self.device = device
        environment = dict(os.environ)
        if self.path is not None:
            environment["PYTHONPATH"] = self.path
        quick = ["--quick"] if self.quick else []
        self.process = subprocess.Popen(
            [sys.executable, HERE / "worker.py", device, *quick],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        hello = self.answer()
        if self.path and "error" not in hello:
            folders = [os.path.abspath(folder) for folder in self.path.split(os.pathsep)]
            if not hello["triton"]["file"].startswith(tuple(f"{on}{os.sep}" for on in folders)):
                return {"error": f"{self.path} holds no triton: {hello['triton']['file']} came"}
        return hello

    def ask(self, **request) -> dict:
        if self.process is None:
            hello = self.start(self.device)
            if "error" in hello:
                return hello
        with suppress(BrokenPipeError):
            print(json.dumps(request), file=self.process.stdin, flush=True)
        return self.answer()

    def answer(self) -> dict:
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        status = self.process.wait()
        self.process = None
        return {"error": f"the process ended with status {status}"}

    def stop(self) -> None:
        if self.process is not None:
            with suppress(BrokenPipeError):
                self.process.stdin.close()
            self.process.wait()


class Race:
    """All contestants and their results so far."""

    def __init__(self, contestants: list[Contestant], rounds: int):
        self.contestants, self.rounds = contestants, rounds
        self.results, self.failures, self.others = [], [], {}

    def fail(self, title: str, who: str, error: str) -> None:
        self.failures.append({"title": title, "who": who, "error": error})
        print(f"FAILED {title}, {who}: {error}", flush=True)

    def section(self, section: str) -> list[dict]:
        listed = self.contestants[0].ask(do="list", section=section)
        if "error" in listed:
            self.fail(section, OURS, listed["error"])
            return []
        load = Others([on.process.pid for on in self.contestants if on.process])
        cases = enumerate(listed["cases"])
        results = [self.case(section, index, case) for index, case in cases]
        self.others[section] = load.cores()
        results = [result for result in results if OURS in result["seconds"]]
        self.results += results
        return results

    def case(self, section: str, index: int, case: dict) -> dict:
        samples, amounts, out = {}, {}, set()
        for _ in range(self.rounds):
            for contestant in self.contestants:
                name, ours = contestant.name, contestant is self.contestants[0]
                if name in out:
                    continue
                reply = contestant.ask(do="time", section=section, index=index, libraries=ours)
                if "error" in reply:
                    self.fail(case["title"], name, reply["error"])
                    out.add(name)
                    samples.pop(name, None)
                    continue
                amounts = {"bytes": reply["bytes"], "flops": reply["flops"]}
                for who, taken in reply["samples"].items():
                    samples.setdefault(name if who == "ours" else who, []).extend(taken)
        return {"section": section, **case, **amounts, **summary(samples)}


def summary(samples: dict[str, list[float]]) -> dict:
    from measure import spread_of

    seconds = {who: statistics.median(taken) for who, taken in samples.items()}
    peers = [taken for who, taken in seconds.items() if who != OURS]
    return {
        "samples": samples,
        "seconds": seconds,
        "spread": {who: spread_of(taken) for who, taken in samples.items()},
        "ratio": min(peers) / seconds[OURS] if peers and OURS in seconds else None,
    }


def machine_line(device: str, machine: dict) -> str:
    if device == "cuda":
        return f"{machine['gpu']}, CUDA {machine['cuda']}, {machine['cpu']}"
    name = ", ".join(filter(None, (machine["cpu"], machine.get("arch"))))
    return f"{name}, {machine['cores']} cores"


def introduce(hello: dict, peers: dict[str, dict], rounds: int) -> None:
    print(f"machine: {machine_line(hello['device'], hello['machine'])}")
    print(f"inputs: {hello['inputs']}; rounds: {rounds}")
    for name, reply in {OURS: hello, **peers}.items():
        print(f"{name}: triton {reply['triton']['version']} of {reply['triton']['file']}")
    for library in LIBRARIES:
        print(f"{library}: {hello['machine'][library] or 'left out, it is not installed'}")


def start(options) -> tuple[Race, dict] | None:
    """Starts all processes; reports and omits a peer that cannot start."""
    ours = Contestant(OURS, None, options.quick)
    hello = ours.start(options.device)
    if "error" in hello:
        print(f"FAILED {OURS} does not start: {hello['error']}")
        return None
    race, peers = Race([ours], options.rounds), {}
    for name, path in options.peer:
        peer = Contestant(name, path, options.quick)
        reply = peer.start(hello["device"])
        if "error" in reply:
            race.fail("start", name, reply["error"])
            peer.stop()
        else:
            race.contestants.append(peer)
            peers[name] = reply
    # A restarted process must use the same device.
    ours.device = hello["device"]
    introduce(hello, peers, options.rounds)
    return race, {**hello, "peers": {name: reply["triton"] for name, reply in peers.items()}}


def measure_roofline(race: Race, hello: dict) -> None:
    """Adds it to `hello`, on CPUs only: a GPU's bandwidth depends on its clocks."""
    if hello["device"] != "cpu":
        return
    reply = race.contestants[0].ask(do="roofline")
    if "error" in reply:
        race.fail("roofline", OURS, reply["error"])
        return
    hello["roofline"] = reply
    rates = (1e-9 * reply[what] for what in ("bytes", "flops"))
    print("roofline: {:.1f} GB/s, {:.0f} GFLOP/s of float32".format(*rates), flush=True)


def run_sections(race: Race, hello: dict, options) -> None:
    import report

    draws = bool(options.plots) and report.can_plot()
    if options.plots and not draws:
        print("plots: left out, matplotlib is not installed")
    for section in options.sections:
        results = race.section(section)
        if not results:
            continue
        print(f"\n{report.table(results, OURS)}")
        mean = report.mean_ratio(results)
        if mean:
            print(f"geometric mean of the ratios: {mean:.2f}")
        if (race.others[section] or 0) > DISTURBING_CORES:
            print(f"disturbed: other processes used {race.others[section]:.1f} cores meanwhile")
        if draws:
            machine = machine_line(hello["device"], hello["machine"])
            print(
                "plot:",
                report.plot(
                    results, options.plots, hello["device"], machine, hello.get("roofline")
                ),
            )
        sys.stdout.flush()


def peer(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not name or not equals or not path or name in (OURS, *LIBRARIES):
        raise argparse.ArgumentTypeError(f"`{text}` is not NAME=PYTHONPATH with a name of its own")
    return name, path


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--device", choices=("cpu", "cuda"), default="active", help="else the active one"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--sections",
        nargs="+",
        choices=SECTIONS,
        default=SECTIONS,
        metavar="SECTION",
        help=", ".join(SECTIONS),
    )
    parser.add_argument(
        "--peer",
        type=peer,
        action="append",
        default=[],
        metavar="NAME=PYTHONPATH",
        help="another triton",
    )
    parser.add_argument("--json", metavar="FILE", help="every sample")
    parser.add_argument(
        "--plots", metavar="DIR", help="docs/figures, but none with --quick; '' for none"
    )
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes, two samples: does it run?"
    )
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds is at least 1")
    if options.plots is None:
        options.plots = "" if options.quick else str(HERE.parent / "docs" / "figures")
    return options


def main() -> int:
    options = parse_options()
    started = start(options)
    if started is None:
        return 1
    race, hello = started
    try:
        measure_roofline(race, hello)
        run_sections(race, hello, options)
    finally:
        for contestant in race.contestants:
            contestant.stop()
    if options.json:
        found = {
            **hello,
            "rounds": options.rounds,
            "other_cores": race.others,
            "results": race.results,
            "failures": race.failures,
        }
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n")
    return int(any(failure["who"] == OURS for failure in race.failures))


if __name__ == "__main__":
    sys.exit(main())
