"""Compiles every kernel that a CPU run compiles for sm_90 too, and writes time, registers and spills of each."""
# SPDX-License-Identifier: MIT

import json
import os
import pathlib
import time

import triton.compiler
from triton.backends.compiler import GPUTarget
from triton.compiler import compile as compile_kernel

TARGET = GPUTarget("cuda", 90, 32)
KEPT = (
    "num_warps",
    "num_stages",
    "num_ctas",
    "maxnreg",
    "enable_fp_fusion",
    "allowed_dot_input_precisions",
)


def start(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    log = (folder / f"{os.getpid()}.jsonl").open("a")

    def record(source, options):
        begin = time.monotonic()
        row = {
            "kernel": source.fn.__name__,
            "module": source.fn.__module__,
            "signature": str(source.signature),
        }
        row["constants"] = {str(k): str(v) for k, v in source.constants.items()}
        row["options"] = {name: options[name] for name in KEPT[:4] if options.get(name) is not None}
        try:
            kernel = compile_kernel(source, target=TARGET, options=row["options"])
            row["spilled"] = "st.local" in kernel.asm["ptx"]
        except Exception as error:  # noqa: BLE001 (any failure is a result)
            row["error"] = f"{type(error).__name__}: {error}"[-600:]
        row["seconds"] = round(time.monotonic() - begin, 2)
        log.write(json.dumps(row) + "\n")
        log.flush()

    def both(source, target=None, options=None, **more):
        result = compile_kernel(source, target=target, options=options, **more)
        if getattr(target, "backend", "") == "cpu":
            record(source, dict(options or {}))
        return result

    triton.compiler.compile = both  # a kernel reads it at its first launch
