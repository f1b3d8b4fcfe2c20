"""Checks the tree against cmake/layers.txt and docs/architecture.md, and file names, lengths and
texts.

Prints `PASS check` or `FAIL check: what` for each check.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CPP = (".cpp", ".h", ".def")
TEXT = (
    *CPP,
    ".td",
    ".py",
    ".pyi",
    ".md",
    ".txt",
    ".cmake",
    ".sh",
    ".toml",
    ".json",
    ".yaml",
    ".mlir",
    ".in",
    "",
)
LONGEST = 500
# Modules that packages import by these names.
_NAMES_OF_TRITON = (
    "python/triton/_utils.py",
    "python/triton/language/extra/cuda/utils.py",
    "python/triton/language/extra/hip/utils.py",
)
EMPTY_NAMES = re.compile(
    r"(^|[_\-.])(utils?|utility|utilities|helpers?|common|misc)([_\-.]|$)", re.IGNORECASE
)
# The headers from outside this tree that each kind of layer may include.
FOREIGN = {
    "none": (),
    "llvm": ("llvm", "llvm-c"),
    "mlir": ("llvm", "llvm-c", "mlir", "lld", "clang"),
}
# Machine-specific folders and hosts: the tree contains none; the hosts below are named by all machines alike.
LICENCE = re.compile(r"^[^\w\n]*SPDX-License-Identifier: MIT\W*?$", re.MULTILINE)
MACHINE_PATH = re.compile(r"(?<![\w.$}~-])/(?:root|work|home|Users|mnt)/(?!someone)\w")
URL_HOST = re.compile(r"https?://([\w.-]+)")
ALLOWED_HOSTS = {"download.pytorch.org", "www.w3.org"}  # the second: the name of the format SVG
# Private words and the field's terms for them; checked in identifiers, comments and texts.
TERMS = {
    "abandoned": "cancelled",
    "byte ?float": "fp8",
    "copy engine": "TMA",
    "early ?loads?": "pipelined load, prefetched load",
    "facts": "properties, features, axis info",
    "given up": "cancelled",
    "keep ?costly": "materialise",
    "made again": "rematerialised",
    "matrix loads?": "ldmatrix",
    "products? by warp groups": "wgmma, warp-group dot",
    "products? of (?:tiles|matrices)": "dot, matmul",
    "(?:matrix|async|wide) ?products": "dot, matmul",
    "promises?": "hint, launch bound",
    "rings?": "multi-buffered allocation",
    "(?:all|any|each|every|first|known|later|two|unrolled)[ _]?turns?": "iteration",
    "turns ahead": "iterations ahead",
    "turns?right": "transposed",
    "why ?not": "reason",
}
PRIVATE_WORD = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(TERMS)})(?![a-z])", re.IGNORECASE)
NOT_SPOKEN = (
    "test/libraries/",
    "test/python/names/",
    "test/run/ttir/texts/",
    "scripts/check_layers.py",
)


def tracked() -> list[str]:
    """Files tracked by git; all files where there is no git."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        files = [name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        files = [
            os.path.relpath(os.path.join(folder, name), ROOT)
            for folder, _, names in os.walk(ROOT)
            for name in names
        ]
        files = [name for name in files if not re.match(r"(build|dist|\.venv|\.git)/", name)]
    return sorted(name for name in files if os.path.isfile(os.path.join(ROOT, name)))


def read(name: str) -> str:
    with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as file:
        return file.read()


class Layers:
    """The table of cmake/layers.txt."""

    def __init__(self) -> None:
        self.foreign: dict[str, str] = {}
        self.direct: dict[str, list[str]] = {}
        for line in read("cmake/layers.txt").splitlines():
            if line.startswith("#") or "|" not in line:
                continue
            folder, foreign, may_include = (part.strip() for part in line.split("|"))
            self.foreign[folder] = foreign
            self.direct[folder] = may_include.split()

    def of(self, path: str) -> str | None:
        """The nearest folder at or above `path` that has a line."""
        while path and path not in self.direct:
            path = os.path.dirname(path)
        return path or None

    def reachable_from(self, layer: str) -> set[str]:
        seen = {layer}
        todo = [layer]
        while todo:
            for below in self.direct[todo.pop()]:
                if below not in seen:
                    seen.add(below)
                    todo.append(below)
        return seen


def includes(files: list[str]) -> Iterator[tuple[str, int, str]]:
    for name in files:
        if name.endswith(CPP):
            for number, line in enumerate(read(name).splitlines(), 1):
                if match := re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line):
                    yield name, number, match.group(1)


def resolve(header: str) -> str:
    """A header's path from the root: <nereid/X.h> lives in include/."""
    return "include/" + header if header.startswith("nereid/") else header


def check_layers(files: list[str]) -> list[str]:
    layers = Layers()
    tops = {layer.split("/")[0] for layer in layers.direct}
    wrong = []
    for layer, below in layers.direct.items():
        wrong += [
            f"layers.txt: {layer} names {name}, which has no line"
            for name in below
            if name not in layers.direct
        ]
        wrong += [
            f"layers.txt: {layer} and {name} may include each other"
            for name in below
            if name in layers.direct and layer in layers.reachable_from(name)
        ]
    if wrong:
        return wrong
    for name, number, header in includes(files):
        layer = layers.of(os.path.dirname(name))
        if layer is None:
            if not name.startswith("cmake/"):
                wrong.append(f"{name}: its folder belongs to no line of cmake/layers.txt")
            continue
        path = resolve(header)
        if path.split("/")[0] not in tops:
            continue
        target = layers.of(os.path.dirname(path))
        if target is not None and target not in layers.reachable_from(layer):
            wrong.append(f"{name}:{number}: {layer} may not include {target} ({header})")
    return wrong


def check_foreign(files: list[str]) -> list[str]:
    layers = Layers()
    known = set(FOREIGN["mlir"])
    wrong = []
    for name, number, header in includes(files):
        layer = layers.of(os.path.dirname(name))
        top = header.split("/")[0]
        if layer and "/" in header and top in known and top not in FOREIGN[layers.foreign[layer]]:
            wrong.append(f"{name}:{number}: {layer} may not use {top} ({header})")
    return wrong


def check_headers_exist(files: list[str]) -> list[str]:
    """An include of this project must be written from the root and exist (except generated ones)."""
    wrong = []
    for name, number, header in includes(files):
        path = resolve(header)
        ours = path.split("/")[0] in (
            "compiler",
            "artifact",
            "runtime",
            "jit",
            "include",
            "python",
            "tools",
            "test",
        )
        source = path.replace("/Diagnostics.h", "/Diagnostics.def")
        if ours and not header.endswith(".inc") and not os.path.exists(os.path.join(ROOT, source)):
            wrong.append(f"{name}:{number}: no file {header}")
    return wrong


def documented_tree() -> set[str]:
    """Folders of the tree in docs/architecture.md: two spaces of indent per depth, names that end in a slash."""
    block = re.search(r"```tree\n(.*?)```", read("docs/architecture.md"), re.DOTALL)
    folders: set[str] = set()
    parents: list[str] = []
    for line in block.group(1).splitlines() if block else []:
        depth = (len(line) - len(line.lstrip(" "))) // 2
        names = re.match(r"\s*((?:[\w.+-]+/ *)+)", line)
        if not names:
            continue
        parents = parents[:depth]
        for entry in names.group(1).split():
            folders.add("/".join([*parents, entry.rstrip("/")]))
        parents.append(names.group(1).split()[-1].rstrip("/"))
    return folders


def check_tree(files: list[str]) -> list[str]:
    documented = documented_tree()
    real = {os.path.dirname(name) for name in files}
    real |= {"/".join(folder.split("/")[:depth]) for folder in real for depth in (1, 2)}
    wrong = [
        f"docs/architecture.md names {folder}/, which does not exist"
        for folder in sorted(documented - real)
    ]
    must = {
        folder
        for folder in real
        if folder and ("/" not in folder or re.match(r"compiler/[^/]+$", folder))
    }
    wrong += [
        f"{folder}/ is missing from the tree in docs/architecture.md"
        for folder in sorted(must - documented)
        if not folder.startswith(".")
    ]
    return wrong


def check_tests(files: list[str]) -> list[str]:
    """Below these folders of test/ are folders with the names of the code's: `target_cpu` is target/cpu."""
    folders = {os.path.dirname(name) for name in files if not name.startswith("test/")}
    folders |= {os.path.dirname(folder) for folder in folders}
    tested = {
        "/".join(name.split("/")[:3])
        for name in files
        if re.match(r"test/(unit|golden|passes|target)/[^/]+/", name)
    }
    return [
        f"{folder}/ is not named after a folder of the code"
        for folder in sorted(tested)
        if not any(
            f"/{code}".endswith("/" + folder.split("/")[2].replace("_", "/")) for code in folders
        )
    ]


def check_names(files: list[str]) -> list[str]:
    return [
        f"{name}: a name that says nothing"
        for name in files
        if any(
            EMPTY_NAMES.search(part)
            for part in re.sub(r"([a-z])([A-Z])", r"\1_\2", name).split("/")
        )
        and name not in _NAMES_OF_TRITON
    ]


def check_licence(files: list[str]) -> list[str]:
    return [
        f"{name}: no line near its top that has only the SPDX text"
        for name in files
        if name.endswith((".cpp", ".h", ".td", ".py", ".cmake", ".def"))
        and not name.endswith("__init__.py")
        and not LICENCE.search(read(name)[:1500])
    ]


def check_texts(files: list[str]) -> list[str]:
    wrong = []
    for name in files:
        if os.path.splitext(name)[1] not in TEXT:
            continue
        for number, line in enumerate(read(name).splitlines(), 1):
            if MACHINE_PATH.search(line):
                wrong.append(f"{name}:{number}: a path of one machine: {line.strip()[:80]}")
            wrong += [
                f"{name}:{number}: names the host {host}"
                for host in URL_HOST.findall(line)
                if host not in ALLOWED_HOSTS
            ]
    return wrong


def check_terms(files: list[str]) -> list[str]:
    wrong = []
    for name in files:
        if name.startswith(NOT_SPOKEN) or os.path.splitext(name)[1] not in TEXT:
            continue
        for number, line in enumerate(read(name).splitlines(), 1):
            for found in PRIVATE_WORD.finditer(line):
                word = found.group()
                term = next(t for w, t in TERMS.items() if re.fullmatch(w, word, re.IGNORECASE))
                wrong.append(f"{name}:{number}: '{word}'; the field says {term}")
    return wrong


def check_lengths(files: list[str]) -> list[str]:
    lengths = {
        name: read(name).count("\n") for name in files if name.endswith((*CPP, ".td", ".py"))
    }
    return [
        f"{name} has {count} lines; look for the seam"
        for name, count in lengths.items()
        if count > LONGEST
    ]


CHECKS = {
    "includes follow cmake/layers.txt": check_layers,
    "foreign headers follow cmake/layers.txt": check_foreign,
    "included files exist": check_headers_exist,
    "the tree is docs/architecture.md's": check_tree,
    "folders of tests are those of the code": check_tests,
    "file names say something": check_names,
    "every source names its licence": check_licence,
    "no machine's paths, no hosts": check_texts,
    "texts use the field's terms": check_terms,
    "files have at most 500 lines": check_lengths,
}


def main() -> int:
    files = tracked()
    failed = 0
    for title, check in CHECKS.items():
        wrong = check(files)
        failed += bool(wrong)
        print(f"FAIL {title}:" if wrong else f"PASS {title}")
        for line in wrong:
            print("  " + line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
