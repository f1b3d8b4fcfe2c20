"""Compiles every kernel that a CPU run compiles for sm_90 too, and writes time, registers and spills of each."""

import json
import os
import pathlib
import time

from triton.backends.compiler import GPUTarget
from triton.compiler import compile as compile_kernel
from triton.runtime.jit import JITFunction

TARGET = GPUTarget("cuda", 90, 32)
KEPT = ("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "allowed_dot_input_precisions")


def start(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    log = (folder / f"{os.getpid()}.jsonl").open("a")
    made = JITFunction.__init__

    def record(source, options):
        begin = time.monotonic()
        row = {"kernel": source.fn.__name__, "module": source.fn.__module__, "signature": str(source.signature)}
        row["constants"] = {str(k): str(v) for k, v in source.constants.items()}
        row["options"] = {name: options[name] for name in KEPT[:4] if options.get(name) is not None}
        try:
            kernel = compile_kernel(source, target=TARGET, options=row["options"])
            row["registers"] = getattr(kernel, "n_regs", None) or getattr(kernel.metadata, "registers", None)
            row["spills"] = getattr(kernel, "n_spills", None) or getattr(kernel.metadata, "spills", None)
        except Exception as error:  # noqa: BLE001 (whatever fails is the finding)
            row["error"] = f"{type(error).__name__}: {error}"[-600:]
        row["seconds"] = round(time.monotonic() - begin, 2)
        log.write(json.dumps(row) + "\n")
        log.flush()

    def init(self, *args, **named):
        made(self, *args, **named)
        plain = self.compile

        def both(source, target=None, options=None, **more):
            result = plain(source, target=target, options=options, **more)
            record(source, dict(options or {}))
            return result

        self.compile = both

    JITFunction.__init__ = init
