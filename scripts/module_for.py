"""Builds the Python module for another Python, next to the one that CMake has built in build/dev.

usage: module_for.py PYTHON      prints the module's path

The files that CMake compiles for its Python are compiled again with the headers of the other one;
the library that the module uses is the same. A wheel is built from scratch instead (./dev wheel).
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build", "dev")
PYTHON_HEADERS = re.compile(r"^(?:-I)?(/.*/include/python3\.\d+)$")
MODULE_OBJECTS = "CMakeFiles/libtriton-objects.dir/"  # also where several files are compiled as one
LLVM = "/usr/lib/llvm-22/lib"


def config_of(python: str) -> tuple[str, str]:
    """Its headers' folder and the suffix of its modules."""
    code = (
        "import sysconfig as s; print(s.get_path('include')); print(s.get_config_var('EXT_SUFFIX'))"
    )
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    include, suffix = done.stdout.split()
    return include, suffix


def commands() -> list[dict[str, str]]:
    """CMake's compile commands of the module and of nanobind."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        return [
            entry
            for entry in json.load(file)
            if MODULE_OBJECTS in entry["command"] or "/nanobind/src/" in entry["file"]
        ]


def adapted(command: str, include: str, target: str) -> str:
    """The command with other headers and another output, quoted for ninja."""
    words = shlex.split(command)
    words[words.index("-o") + 1] = target
    for index, word in enumerate(words):
        found = PYTHON_HEADERS.match(word)
        if found:
            words[index] = word.replace(found[1], include)
    return shlex.join([*words, "-MD", "-MF", target + ".d"]).replace("$", "$$")


def ninja_file(include: str, suffix: str, module: str) -> str:
    lines = ["rule compile", "  command = $run", "  depfile = $out.d", "  deps = gcc", ""]
    objects = []
    for entry in commands():
        target = os.path.basename(entry["file"]) + suffix + ".o"
        objects.append(target)
        lines += [f"build {target}: compile {entry['file']}"]
        lines += [
            f"  run = cd {entry['directory']} && {adapted(entry['command'], include, os.path.abspath(os.path.join(folder(suffix), target)))}"
        ]
    libraries = f"{BUILD}/lib/libnereid.so {LLVM}/libMLIR.so {LLVM}/libLLVM.so"
    lines += [
        "rule link",
        "  command = clang++-22 -shared -fPIC -fuse-ld=lld -Wl,--as-needed -Wl,-z,undefs -Wl,--build-id=sha1 "
        f"-Wl,-rpath,'$$ORIGIN/../../../lib:{LLVM}' -o $out $in {libraries}",
        f"build {module}: link {' '.join(objects)} | {BUILD}/lib/libnereid.so",
        f"default {module}",
        "",
    ]
    return "\n".join(lines)


def folder(suffix: str) -> str:
    return os.path.join(ROOT, "build", "module" + suffix.removesuffix(".so"))


def main() -> int:
    include, suffix = config_of(sys.argv[1])
    module = os.path.join(BUILD, "python", "triton", "_C", "libtriton" + suffix)
    os.makedirs(folder(suffix), exist_ok=True)
    with open(os.path.join(folder(suffix), "build.ninja"), "w", encoding="utf-8") as file:
        file.write(ninja_file(include, suffix, module))
    done = subprocess.run(["ninja", "-C", folder(suffix), "--quiet"], stdout=sys.stderr)
    print(module)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
