"""Compiles mutated kernels through Python, with mutated signatures, constants, attributes, options and targets."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import functools
import json
import linecache
import random
import time
import warnings
from pathlib import Path
from typing import Any

from kernel_texts import (  # fmt: skip
    HEAD,
    Seed,
    mutate_signature,
    mutated,
    mutated_options,
    seeds_of,
    signature_of,
    typed,
)

ROOT = Path(__file__).resolve().parents[2]
ODD_TARGETS = (("cuda", 10, 32), ("cuda", 120, 32), ("cuda", -1, 32), ("cuda", "90", 32), ("hip", "gfx1100", 32),
               ("hip", "gfx1", 64), ("hip", 90, 64), ("nothing", 1, 1), ("cpu", "", 0), ("cuda", 1 << 40, 32))  # fmt: skip
SLOW_SECONDS = 20
FRONT_END_ONLY = 0.7  # of the cases
# What Python code raises on purpose; their text must say what is wrong.
REQUEST_CODES = ("signature-", "sanitize-", "ir-override-", "option-")
REFUSALS = (ValueError, TypeError, NotImplementedError, AssertionError)


class KernelCases:
    """Kernel number s is the same on every machine."""

    def __init__(self, targets: dict[str, Any], folder: Path):
        from triton.backends import GPUTarget

        self.targets = list(targets.values())
        self.odd = [GPUTarget(*odd) for odd in ODD_TARGETS]
        self.folder = folder
        paths = sorted((ROOT / "test" / "run").rglob("*.py"))
        self.seeds = [seed for path in paths for seed in seeds_of(path)]
        self.signatures: dict[int, list[str]] = {}

    def define(self, source: str, name: str, path: str) -> Any:
        """The jitted function of that name in the text, as if it were a file."""
        linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
        names: dict[str, Any] = {"__name__": "mutated", "__file__": path}
        exec(compile(source, path, "exec"), names)  # only definitions
        return names[name]

    @functools.lru_cache(maxsize=1)  # noqa: B019 (one object in a process)
    def define_seed(self, source: str, name: str) -> Any:
        return self.define(source, name, f"{self.folder}/seed.py")

    def compiles(self, seed: Seed, source: str, signature: list[str]) -> bool:
        from triton._C.libtriton import ir
        from triton.compiler import ASTSource, make_backend

        types, constants = typed(seed, signature)
        try:
            function = self.define_seed(source, seed.name)
            backend = make_backend(self.targets[0])
            options = backend.parse_options({})
            source_ = ASTSource(function, types, constants)
            source_.make_ir(self.targets[0], options, {}, {}, ir.context())
        except Exception:
            return False
        return True

    def find_signatures(self, corpus: Path, every: int = 1) -> None:
        """Those with which the kernels as they stand compile, from a file or by trying."""
        if not corpus.exists():
            for index, seed in list(enumerate(self.seeds))[::every]:
                compiles = functools.partial(self.compiles, seed)
                if signature := signature_of(seed, compiles):
                    self.signatures[index] = signature
            corpus.write_text(json.dumps(self.signatures))
        self.signatures = {int(key): value for key, value in json.loads(corpus.read_text()).items()}

    def make(self, number: int) -> tuple[str, Seed, dict[str, str], dict[str, Any], random.Random]:
        """A text that Python itself takes: others never reach the compiler."""
        rng = random.Random(f"kernels {number}")
        while True:
            index = rng.choice(list(self.signatures))
            seed, signature = self.seeds[index], self.signatures[index]
            types, constants = typed(seed, signature)
            for _ in range(8):
                body = seed.text if rng.random() < 0.1 else mutated(seed.text, rng)
                source = HEAD + seed.rest + body
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        compile(source, "mutated.py", "exec")
                    source.encode()
                except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
                    continue
                return source, seed, types, constants, rng

    def run(self, number: int) -> str:
        """What is wrong with how the case ended; nothing where it was compiled or refused as it should be."""
        import triton
        from triton._C.libtriton import ir
        from triton.compiler import ASTSource, make_backend

        source, seed, types, constants, rng = self.make(number)
        attributes = mutate_signature(types, constants, rng)
        options = mutated_options(rng)
        target = rng.choice(self.odd) if rng.random() < 0.05 else rng.choice(self.targets)
        path = f"{self.folder}/mutated{number}.py"
        began = time.monotonic()
        wrong = ""
        try:
            try:
                function = self.define(source, seed.name, path)
            except Exception:  # Python's own, of decorators and defaults
                return ""
            request = ASTSource(function, types, constants, attributes)
            if rng.random() < FRONT_END_ONLY:
                parsed = make_backend(target).parse_options(options)
                request.make_ir(target, parsed, {}, {}, ir.context())
            else:
                triton.compile(request, target, options)
        except triton.CompilationError as error:
            wrong = self.judge(error, path)
        except RuntimeError as error:
            wrong = "" if "compatible backends" in str(error) else f"RuntimeError: {error}"
        except triton.OutOfResources:
            pass
        except REFUSALS as error:
            wrong = "" if str(error) else f"{type(error).__name__} without a message"
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        if (seconds := time.monotonic() - began) > SLOW_SECONDS:
            wrong = wrong or f"took {seconds:.0f} s"
        linecache.cache.pop(path, None)
        words = f"{types} {constants} {attributes} {options} {target}"
        return f"{wrong}\n{words}\n{source}" if wrong else ""

    def judge(self, error: Any, path: str) -> str:
        """Errors name a line of the file, except those about the request."""
        diagnostics = error.diagnostics
        if not diagnostics:
            return f"no diagnostics: {error}"
        if any(each.code.startswith("internal") for each in diagnostics):
            return str(error)
        located = any(each.file == path and each.line for each in diagnostics)
        about_request = diagnostics[0].code.startswith(REQUEST_CODES)
        return "" if located or about_request else f"no line: [{diagnostics[0].code}] {error}"
