"""Runs cases of one driver and prints a line of JSON for each (library_check.py starts this)."""
# SPDX-License-Identifier: MIT

import argparse
import importlib
import json
import sys
import time
import traceback


def take_first_configs(count):
    """Autotuners keep the first configurations after pruning; a single one is not timed."""
    from triton.runtime.autotuner import Autotuner

    prune = Autotuner.prune_configs
    Autotuner.prune_configs = lambda self, *args, **named: list(prune(self, *args, **named))[:count]
    if count == 1:
        Autotuner._bench = lambda self, *args, **named: [0.0, 0.0, 0.0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("driver")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--site", required=True)
    parser.add_argument("--record")
    parser.add_argument("--configs", type=int, default=0)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--cases", default="[]")
    options = parser.parse_args()
    sys.path.append(
        options.site
    )  # last: the libraries' folder must not override torch or triton

    import cases
    import device_guard

    cases.DEVICE = options.device
    if options.device == "cpu":
        device_guard.pretend()
    if options.configs:
        take_first_configs(options.configs)
    if options.record:
        import record

        record.start(options.record)
    importlib.import_module(f"drive_{options.driver}")
    if options.list:
        print(json.dumps(list(cases.CASES)))
        return
    print('@{"ready": true}', flush=True)
    for name in json.loads(options.cases):
        start = time.monotonic()
        reason = ""
        try:
            cases.run(name)
        except AssertionError as error:
            reason = (
                f"AssertionError: {error}"
                if str(error)
                else traceback.format_exc().splitlines()[-2].strip()
            )
        except BaseException as error:  # noqa: BLE001 (any exception of a library is a failed case)
            reason = f"{type(error).__name__}: {error}"
            if not options.cases.count(","):
                traceback.print_exc()
        seconds = round(time.monotonic() - start, 2)
        reason = " | ".join(line.strip() for line in reason.splitlines() if line.strip())
        reason = reason if len(reason) < 400 else f"{reason[:120]} ... {reason[-280:]}"
        print(
            "@" + json.dumps({"passed": not reason, "seconds": seconds, "reason": reason}),
            flush=True,
        )


if __name__ == "__main__":
    main()
