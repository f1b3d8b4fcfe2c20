"""Lists the names of `triton` that packages use: `read_names.py WHEEL... >
test/python/names/libraries.txt`.

A line is `module: name name ...`; `--who NAME` lists the files that use one. Wheels and source
archives are read, not imported.
"""

# SPDX-License-Identifier: MIT
#
# A name is one that a source imports, or reads as an attribute of an imported object; of a chain of attributes, all up
# to the first that is not a module. Only static text is analysed: no `getattr`.
from __future__ import annotations

import argparse
import ast
import os
import tarfile
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Iterator

ROOT = "triton"
# Modules that are accessed as attributes, and groups of settings, whose members count as names.
MODULES_FILE = os.path.join(os.path.dirname(__file__), "..", "python", "names", "triton-3.9.txt")
GROUPS = [
    "amd",
    "autotuning",
    "build",
    "cache",
    "compilation",
    "language",
    "nvidia",
    "proton",
    "redis",
    "runtime",
]


def known_modules() -> set[str]:
    with open(MODULES_FILE, encoding="utf-8") as file:
        modules = {line.partition(":")[0] for line in file if not line.startswith("#")}
    parents = {".".join(name.split(".")[:count]) for name in modules for count in (1, 2, 3, 4)}
    return modules | parents | {f"triton.knobs.{group}" for group in GROUPS}


class NameCollector(ast.NodeVisitor):
    """The dotted names below `triton` in one file."""

    def __init__(self, modules: set[str]):
        self.modules = modules
        self.aliases: dict[str, str] = {}  # local name -> dotted name
        self.found: set[tuple[str, str]] = set()

    def add(self, dotted: str) -> None:
        parts = dotted.split(".")
        for count in range(2, len(parts) + 1):
            if count == len(parts) or ".".join(parts[:count]) not in self.modules:
                self.found.add((".".join(parts[: count - 1]), parts[count - 1]))
                return

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.split(".")[0] != ROOT:
                continue
            self.aliases[alias.asname or ROOT] = alias.name if alias.asname else ROOT
            if "." in alias.name:
                self.add(alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or (node.module or "").split(".")[0] != ROOT:
            return
        for alias in node.names:
            if alias.name == "*":
                continue
            dotted = f"{node.module}.{alias.name}"
            self.aliases[alias.asname or alias.name] = dotted
            self.found.add((str(node.module), alias.name))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        chain: list[str] = []
        at: ast.expr = node
        while isinstance(at, ast.Attribute):
            chain.append(at.attr)
            at = at.value
        if isinstance(at, ast.Name) and at.id in self.aliases:
            self.add(".".join([self.aliases[at.id], *reversed(chain)]))
        else:
            self.visit(at)


def names_in(source: str, modules: set[str]) -> set[tuple[str, str]]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return set()
    collector = NameCollector(modules)
    # Imports inside functions count for the whole file; they may come after their first use.
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            collector.visit(node)
    collector.visit(tree)
    return collector.found


def sources_of(path: str) -> Iterator[tuple[str, str]]:
    """(name, text) of each Python file of an archive that mentions triton."""
    if path.endswith((".whl", ".zip")):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(".py"):
                    yield name, archive.read(name).decode("utf-8", "replace")
        return
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".py") else None
            if file is not None:
                yield member.name, file.read().decode("utf-8", "replace")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archives", nargs="+", help="wheels and source archives")
    parser.add_argument("--who", help="print the files that use this dotted name instead")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of escape sequences in the packages
    modules, names = known_modules(), defaultdict(set)
    for path in arguments.archives:
        for name, text in sources_of(path):
            if ROOT not in text:
                continue
            for module, found in names_in(text, modules):
                names[module].add(found)
                if f"{module}.{found}" == arguments.who:
                    print(f"{os.path.basename(path)}: {name}")
    if arguments.who:
        return
    print("# Names that packages touch, by test/scripts/read_names.py:")
    for path in sorted(map(os.path.basename, arguments.archives)):
        print(f"#   {path}")
    for module in sorted(names):
        print(f"{module}: {' '.join(sorted(names[module]))}")


if __name__ == "__main__":
    main()
