"""Gives the compiler and the simulated GPU mutated texts, each of which must be taken or refused with a diagnostic.

usage: ./dev fuzz ir|attributes|ptx|kernels [--count N] [--seed S] [--processes P] [--seconds T] [--print] [--sanitize-build]
ir: modules of test/run/ttir/texts, and their TTGIR for simulated GPUs, for the CPU and those GPUs; attributes: the same,
with attributes of other kinds and out of range; ptx: their PTX; kernels: those of test/run, through Python, with
changed signatures, constants, options and targets. A process that ends, a case without an end and an
internal error of the compiler are failures. Text number s is the same on every machine: --seed continues where an
earlier run ended.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import fuzz_batches

ROOT = Path(__file__).resolve().parents[2]
TEXTS = ROOT / "test" / "run" / "ttir" / "texts"
GENERATORS = ROOT / "test" / "fuzz"
BUILT_OPT = ROOT / "build" / "dev" / "bin" / "nereid-opt"
DEVICES = {"sm90": "sim", "sm80": "sim:80", "gfx942": "sim:gfx942"}
KINDS = ("ir", "attributes", "ptx", "kernels")
SECONDS_PER_CASE = 60
MEMORY_GB = 12  # of one process, of which the stacks of threads are a part; a sanitizer's build needs far more


def targets() -> dict[str, Any]:
    from triton.backends.sim.driver import SimDriver
    from triton.runtime import driver

    driver.set_active_to_cpu()
    simulated = {name: SimDriver(device).get_current_target() for name, device in DEVICES.items()}
    return {"cpu": driver.active.get_current_target(), **simulated}


def make_corpus(folder: Path, every: int = 1) -> None:
    """Writes NAME.ttir, NAME.DEVICE.ttgir, NAME.DEVICE.ptx and the generic form of the IR: NAME.generic..."""
    import triton

    folder.mkdir(exist_ok=True)
    known = targets()
    for index, path in enumerate(sorted(TEXTS.glob("*.ttir"))[::every]):
        for version, part in enumerate(path.read_text().split("// === ")[1:]):
            source = folder / f"{path.stem}{version}.ttir"
            source.write_text(part.split("\n", 1)[1])
            device = list(DEVICES)[(index + version) % len(DEVICES)]
            compiled = triton.compile(str(source), target=known[device])
            (folder / f"{source.stem}.{device}.ttgir").write_text(compiled.asm["ttgir"])
            if "ptx" in compiled.asm:
                (folder / f"{source.stem}.{device}.ptx").write_text(compiled.asm["ptx"])
    # Without a build folder, the one of the installed package.
    if opt := BUILT_OPT if BUILT_OPT.exists() else shutil.which("nereid-opt"):
        for path in [*folder.glob("*.ttir"), *folder.glob("*.ttgir")]:
            generic = path.with_name(path.name.replace(".", ".generic.", 1))
            command = [str(opt), "--mlir-print-op-generic", str(path), "-o", str(generic)]
            subprocess.run(command, check=True, capture_output=True)


class Cases:
    """The texts of one kind over a corpus."""

    def __init__(self, kind: str, corpus: Path):
        sys.path.insert(0, str(GENERATORS))
        import attribute_texts
        import ir_texts
        import ptx_texts

        self.kind = kind
        self.mutate = {"ir": ir_texts, "attributes": attribute_texts, "ptx": ptx_texts}[kind].mutate
        self.run_ptx = ptx_texts.run
        suffixes = (".ptx",) if kind == "ptx" else (".ttir", ".ttgir")
        self.paths = sorted(path for path in corpus.iterdir() if path.suffix in suffixes)
        self.targets = targets()

    def make(self, number: int) -> tuple[str, Path, str, random.Random]:
        """Text, the file that it was made of, and the device that it is for."""
        rng = random.Random(f"{self.kind} {number}")
        path = rng.choice(self.paths)
        own = [word for word in path.name.split(".") if word in DEVICES]
        device = own[0] if own else rng.choice(list(self.targets))
        return self.mutate(path.read_text(), rng), path, device, rng

    def run(self, number: int, folder: Path) -> str:
        """What is wrong with how the case ended; nothing where it was taken or refused as it should be."""
        import triton

        text, path, device, rng = self.make(number)
        if self.kind == "ptx":
            self.run_ptx(text, rng)
            return ""
        file = folder / f"mutated{path.suffix}"
        file.write_text(text, encoding="utf-8", errors="replace")
        try:
            triton.compile(str(file), target=self.targets[device])
        except triton.CompilationError as error:
            internal = any(d.code.startswith("internal") for d in error.diagnostics)
            return str(error) if internal or not error.diagnostics else ""
        except (
            ValueError,
            AssertionError,
        ) as error:  # of the text's first look, before anything is parsed
            return "" if str(error) else "an error without a message"
        return ""


def kernel_cases(folder: Path, corpus: Path, every: int = 1) -> Any:
    sys.path.insert(0, str(GENERATORS))
    import kernel_cases

    cases = kernel_cases.KernelCases(targets(), folder)
    cases.find_signatures(corpus, every)
    return cases


def work(words: str, kind: str, corpus: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="fuzz-inputs-") as name:
        folder = Path(name)
        cases = kernel_cases(folder, corpus) if kind == "kernels" else Cases(kind, corpus)

        def run(number: int) -> bool:
            wrong = cases.run(number) if kind == "kernels" else cases.run(number, folder)
            if wrong:
                print(f"case {number}: {wrong}", flush=True)
            return not wrong

        fuzz_batches.work(words, run)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first text's number")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, help="begin no further batch after this time")
    parser.add_argument(
        "--sanitize-build", action="store_true", help="with the package of the preset asan"
    )
    parser.add_argument("--print", action="store_true", help="print the texts and compile none")
    parser.add_argument("--corpus", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work, options.kind, options.corpus)
        return 0
    environment = {"TRITON_ALWAYS_COMPILE": "1"}
    if options.sanitize_build:
        from fuzz_programs import sanitizer_environment

        environment |= sanitizer_environment()
    with tempfile.TemporaryDirectory(prefix="fuzz-inputs-") as folder:
        corpus = Path(folder) / "corpus"
        if options.kind != "kernels":
            make_corpus(corpus)
        else:
            kernels = kernel_cases(Path(folder), corpus)
        if options.print and options.kind == "kernels":
            for number in range(options.seed, options.seed + options.count):
                source, seed, types, constants, _ = kernels.make(number)
                print(f"# kernel {number}, `{seed.name}` for {types} {constants}\n{source}")
            return 0
        if options.print:
            cases = Cases(options.kind, corpus)
            for number in range(options.seed, options.seed + options.count):
                text, path, device, _ = cases.make(number)
                print(f"// text {number}, from {path.name}, for {device}\n{text}")
            return 0
        fuzz = fuzz_batches.Batches(
            [sys.executable, os.path.abspath(__file__), options.kind, "--corpus", str(corpus)],
            folder,
            processes=options.processes,
            seconds_per_case=SECONDS_PER_CASE,
            environment=environment,
            seconds=options.seconds,
            memory_gb=None if options.sanitize_build else MEMORY_GB,
        )
        fuzz.run(options.seed, options.count)
    fuzz.report(options.seed)
    print(f"{fuzz.done - len(fuzz.failed)} of {fuzz.done} texts were taken or refused")
    return 1 if fuzz.failed or not fuzz.done else 0


if __name__ == "__main__":
    sys.exit(main())
