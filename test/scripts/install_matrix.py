"""Installs and removes Nereid, torch and another Triton in every order and says what each order leaves.

usage: install_matrix.py [--wheel FILE] [--environment venv|user] [--keep DIR]

Without a wheel, one is packed out of build/dev (pack_wheel.py). The others are stand-ins that this script makes: a
`triton` 3.7.1, and a `torch` that requires exactly it, as torch's wheels for CUDA do. After each step it is checked
which triton is imported, with and without NEREID=0, what importlib.metadata and `pip check` say, and at the end that
no file is left.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMES = {"N": "nereid-triton", "T": "triton", "R": "torch"}
UPSTREAM = "3.7.1"
PROBE = """
import importlib.metadata, importlib.util
spec = importlib.util.find_spec("triton")
if spec is None:
    print("none", end=" ")
else:
    import triton, triton.language
    print("nereid" if getattr(triton, "__nereid__", None) else "upstream", triton.__version__, end=" ")
try:
    print(importlib.metadata.version("triton"))
except importlib.metadata.PackageNotFoundError:
    print("none")
"""

# ---- stand-ins


def write_wheel(
    folder: Path, name: str, version: str, files: dict[str, str], metadata: str = ""
) -> Path:
    """A pure wheel of these files."""
    info = f"{name}-{version}.dist-info"
    files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{metadata}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{file},,\n" for file in (*files, f"{info}/RECORD"))
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in {**files, f"{info}/RECORD": record}.items():
            wheel.writestr(file, text)
    return path


def write_stand_ins(folder: Path) -> None:
    """Wheels with the names, versions and files by which a Triton and a torch meet Nereid."""
    write_wheel(folder, "triton", UPSTREAM, {
        "triton/__init__.py": f"__version__ = '{UPSTREAM}'\nfrom . import language\n",
        "triton/language/__init__.py": "",
        "triton/_C/__init__.py": "",
        "triton/backends/__init__.py": "",
        "triton/backends/nvidia/__init__.py": "",
        "triton/backends/nvidia/driver.c": "",
        "triton/profiler/__init__.py": "",
        f"triton-{UPSTREAM}.dist-info/entry_points.txt": "[triton.backends]\nnvidia = triton.backends.nvidia\n",
    })  # fmt: skip
    torch = {"torch/__init__.py": "__version__ = '2.13.0'\n"}
    write_wheel(folder, "torch", "2.13.0", torch, f"Requires-Dist: triton=={UPSTREAM}\n")


# ---- environments


@dataclass
class Environment:
    """A place that pip installs into."""

    root: Path
    wheels: Path
    user: bool = False  # packages go to the user's folder of a venv's base interpreter
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        base = getattr(sys, "_base_executable", sys.executable)
        options = ["--system-site-packages"] if self.user else []
        subprocess.run([base, "-m", "venv", "--without-pip", *options, str(self.root / "venv")], check=True)  # fmt: skip
        self.python = str(self.root / "venv" / "bin" / "python")
        if self.user:
            self.python = base
            self.variables["PYTHONUSERBASE"] = str(self.root / "user")
        self.kept = self.root / ("user" if self.user else "venv")
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        for folder in ("bin", f"lib/{version}/site-packages"):
            (self.kept / folder).mkdir(parents=True, exist_ok=True)

    def environ(self, **more: str) -> dict[str, str]:
        lost = ("PYTHONPATH", "NEREID", "PYTHONHOME", "VIRTUAL_ENV")
        own = {name: value for name, value in os.environ.items() if name not in lost}
        return {**own, **self.variables, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **more}

    def run(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.python, *arguments], capture_output=True, text=True, cwd=self.root, env=self.environ(**more))  # fmt: skip

    def pip(self, *arguments: str) -> str:
        """Runs this Python's pip on the environment; raises with its output where it fails."""
        command = [sys.executable, "-I", "-m", "pip", "--python", self.python, "-q", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.root, env=self.environ())  # fmt: skip
        if done.returncode != 0:
            raise RuntimeError(f"pip {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def install(self, name: str) -> None:
        where = ["--user", "--break-system-packages"] if self.user else []
        self.pip(
            "install", *where, "--no-index", "--no-compile", "--find-links", str(self.wheels), name
        )

    def remove(self, name: str) -> None:
        self.pip("uninstall", "-y", *(["--break-system-packages"] if self.user else []), name)

    def files(self) -> set[str]:
        return {
            str(path.relative_to(self.kept))
            for path in self.kept.rglob("*")
            if "__pycache__" not in path.parts
        }

    def save(self, copy: Path) -> None:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.kept, copy, symlinks=True, copy_function=os.link)

    def restore(self, copy: Path) -> None:
        shutil.rmtree(self.kept)
        shutil.copytree(copy, self.kept, symlinks=True, copy_function=os.link)


# ---- what holds after each step


def expected(installed: set[str]) -> tuple[str, str]:
    """What the probe prints, without and with NEREID=0."""
    upstream = f"upstream {UPSTREAM} {UPSTREAM}" if "T" in installed else "none none"
    if "N" not in installed:
        return upstream, upstream
    return f"nereid 3.9.0 {UPSTREAM if 'T' in installed else '3.9.0'}", upstream


def faults_of(environment: Environment, installed: set[str]) -> list[str]:
    faults = []
    for off, wanted in zip(({}, {"NEREID": "0"}), expected(installed), strict=True):
        done = environment.run("-c", PROBE, **off)
        if done.stdout.strip() != wanted or done.stderr:
            faults.append(
                f"{off or 'on'}: {done.stdout.strip()} {done.stderr.strip()[-300:]}, not {wanted}"
            )
    checked = environment.run("-c", "")
    if checked.stderr:
        faults.append(f"Python starts with: {checked.stderr.strip()[-300:]}")
    if "R" in installed and "T" not in installed:
        return faults  # torch's own requirement is unmet
    try:
        environment.pip("check")
    except RuntimeError as error:
        faults.append(str(error))
    return faults


class Walk:
    """Tries each order of installing, and from its end each order of removing."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.at_first = environment.files()
        self.copies = environment.root / "copies"

    def step(self, done: str, undone: str, action: str, name: str) -> list[str]:
        installed = set(done) - set(undone)
        if "R" in done and "T" not in undone:
            installed.add("T")  # pip brings it
        getattr(self.environment, action)(NAMES[name])
        return [f"after {action} {NAMES[name]}: {fault}" for fault in faults_of(self.environment, installed)]  # fmt: skip

    def removals(self, done: str) -> dict[str, list[str]]:
        faults: dict[str, list[str]] = {}
        copy = self.copies / done
        self.environment.save(copy)
        for undone in map("".join, itertools.permutations("NTR")):
            self.environment.restore(copy)
            found = []
            for count in range(1, len(undone) + 1):
                found += self.step(done, undone[:count], "remove", undone[count - 1])
            left = sorted(self.environment.files() - self.at_first)
            faults[undone] = found + [f"left over: {' '.join(left[:5])}"] * bool(left)
        return faults

    def row(self, order: str) -> dict[str, list[str]]:
        self.environment.restore(self.copies / "first")
        found = []
        for count in range(1, len(order) + 1):
            found += self.step(order[:count], "", "install", order[count - 1])
        return {undone: found + faults for undone, faults in self.removals(order).items()}

    def rows(self) -> Iterator[tuple[str, dict[str, list[str]]]]:
        self.environment.save(self.copies / "first")
        for order in map("".join, itertools.permutations("NTR")):
            yield order, self.row(order)


def print_table(name: str, walk: Walk) -> int:
    """Prints each row when it is done, and faults below the table; returns their number."""
    columns = list(map("".join, itertools.permutations("NTR")))
    print(f"\n| {name}: installed, removed | " + " | ".join(columns) + " |")
    print("| --- |" + " --- |" * len(columns), flush=True)
    faults = []
    for order, cells in walk.rows():
        words = ("fails" if cells[column] else "works" for column in columns)
        print(f"| {order} | " + " | ".join(words) + " |", flush=True)
        faults += [f"{order} {undone}: {fault}" for undone, cell in cells.items() for fault in cell]
    print("\n".join(faults))
    return len(faults)


def packed_wheel(folder: Path) -> Path:
    sys.path.insert(0, str(ROOT / "scripts"))
    import pack_wheel

    return pack_wheel.pack(ROOT / "build" / "dev", folder)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--wheel", help="Nereid's wheel for this Python")
    parser.add_argument("--environment", choices=("venv", "user"), action="append")
    parser.add_argument("--keep", help="folder for the environments, which are then kept")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(args.keep or temporary).resolve()
        wheels = root / "wheels"
        wheels.mkdir(parents=True)
        write_stand_ins(wheels)
        if args.wheel:
            shutil.copy(args.wheel, wheels)
        else:
            packed_wheel(wheels)
        print(
            "N nereid-triton, T triton 3.7.1, R torch, which requires triton==3.7.1 and brings it"
        )
        faults = 0
        for name in args.environment or ("venv", "user"):
            (root / name).mkdir()
            walk = Walk(Environment(root / name, wheels, user=name == "user"))
            faults += print_table(name, walk)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
