"""`nereid build`: compiles kernels of a Python file to a shared library with a C header."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from .build_source import BuildError, Function, header_of, header_text, source_text

_KERNEL = re.compile(r"(?:([A-Za-z_]\w*)=)?([A-Za-z_]\w*)\((.*)\)", re.ASCII | re.DOTALL)


def _run(command: list[str], what: str) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise BuildError(f"{what} failed: {shlex.join(command)}\n{done.stdout.strip()}")


def _tool(*names: str) -> str:
    for name in filter(None, names):
        if shutil.which(name):
            return name
    raise BuildError(
        f"there is no {names[-1]} on this machine; the package binutils or LLVM has it"
    )


def _compiled(
    program: str, file: str, text: str, target: str, wants_ptx: bool, folder: Path
) -> tuple[Function, Path]:
    """The function of "NAME=KERNEL(SIGNATURE)", and the file of its code."""
    match = _KERNEL.fullmatch(text.strip())
    if match is None:
        raise BuildError(f"--kernel {text}: expected KERNEL(SIGNATURE) or NAME=KERNEL(SIGNATURE)")
    name, kernel, signature = match[1] or match[2], match[2], match[3]
    stage = "asm" if target.startswith("cpu") else "ptx" if wants_ptx else "cubin"
    if not target.startswith(("cpu", "cuda:")) or "+sim" in target:
        raise BuildError(f"--target {target}: a library is for cpu:ARCH or cuda:CAPABILITY")
    words = ["--signature", signature, "--target", target, "--emit", f"{stage},artifact"]
    _run([program, "compile", f"{file}:{kernel}", *words, "-o", str(folder)], f"compiling {kernel}")
    code = folder / f"{kernel}.{stage}"
    image = b"" if stage == "asm" else code.read_bytes() + b"\0" * (stage == "ptx")
    return Function(name, header_of((folder / f"{kernel}.artifact").read_bytes()), image), code


def _object(function: Function, assembly: Path, cc: list[str], objcopy: str) -> str:
    """The code with one global symbol, that of the function: variants of a kernel have equal ones."""
    source, output = assembly.with_suffix(".s"), str(assembly.with_suffix(".o"))
    source.write_bytes(assembly.read_bytes())
    _run([*cc, "-c", str(source), "-o", output], "the assembler")
    entry = function.header["entry"]
    _run([objcopy, f"--keep-global-symbol={entry}", output], "objcopy")
    _run([objcopy, f"--redefine-sym={entry}={function.symbol}", output], "objcopy")
    return output


def build(
    program: str, file: str, kernels: list[str], target: str, output: str, wants_ptx: bool = False
) -> None:
    """Writes OUTPUT.so and OUTPUT.h."""
    cc = shlex.split(os.environ.get("CC", "")) or [_tool("cc", "gcc", "clang")]
    library, header = Path(f"{output}.so"), Path(f"{output}.h")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = []
        for index, text in enumerate(kernels):
            (folder / str(index)).mkdir()
            made.append(_compiled(program, file, text, target, wants_ptx, folder / str(index)))
            if [each.name for each, _ in made].count(made[-1][0].name) > 1:
                raise BuildError(f"two functions are named {made[-1][0].name}: name one as NAME=KERNEL(...)")  # fmt: skip
        functions = [function for function, _ in made]
        objects = []
        if target.startswith("cpu"):
            objcopy = _tool("objcopy", "llvm-objcopy")
            objects = [_object(function, code, cc, objcopy) for function, code in made]
        guard = re.sub(r"\W", "_", header.name).upper()
        (folder / header.name).write_text(header_text(guard, functions))
        source = folder / "library.c"
        source.write_text(source_text(header.name, functions))
        linked = folder / library.name
        _run([*cc, "-std=gnu11", "-O2", "-fPIC", "-fvisibility=default", "-shared", str(source), *objects, "-o", str(linked), "-lm", "-ldl", "-lpthread"], "the C compiler")  # fmt: skip
        _install(linked, library)
        _install(folder / header.name, header)


def _install(made: Path, place: Path) -> None:
    from ..runtime.whole_file import replace_file

    replace_file(str(place), made.read_bytes(), mode=0o777 if place.suffix == ".so" else 0o666)


def main(
    arguments: list[str] | None = None, program: Callable[[], str | None] | None = None
) -> int:
    parser = argparse.ArgumentParser(prog="nereid build", description=__doc__)
    parser.add_argument("file", metavar="FILE.py")
    parser.add_argument(
        "--kernel", action="append", required=True, metavar="[NAME=]KERNEL(SIGNATURE)",
        help="a function of the library, with a signature as of nereid compile",
    )  # fmt: skip
    parser.add_argument("--target", default="cpu", help="cpu:ARCH or cuda:CAPABILITY")
    parser.add_argument("--ptx", action="store_true", help="PTX instead of a cubin")
    parser.add_argument("-o", "--output", required=True, help="without .so and .h")
    given = parser.parse_args(arguments)
    path = (program and program()) or shutil.which("nereid")
    if path is None:
        print("nereid build: the program nereid is missing", file=sys.stderr)
        return 1
    try:
        build(path, given.file, given.kernel, given.target, given.output, given.ptx)
    except BuildError as error:
        print(f"nereid build: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"nereid build: {error.filename or ''}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"{given.output}.so, {given.output}.h: {len(given.kernel)} functions for {given.target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
