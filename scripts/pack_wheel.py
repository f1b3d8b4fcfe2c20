"""Packs a wheel out of an existing build: the files, metadata, commands and tags of the released one, of
which only the compiled files differ (shared LLVM, this machine's glibc). For tests of the installation.

usage: pack_wheel.py BUILD_DIR OUTPUT_DIR   (run with the Python of the build; prints the wheel's path)
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What users, checkers of types, XLA, C++ programs and the commands look for.
WANTED = (
    "nereid_triton/triton/__init__.py",
    "nereid_triton/triton/py.typed",
    "nereid_triton/triton/language/core.pyi",
    "nereid_triton/triton/language/extra/cuda/libdevice.pyi",
    "nereid_triton/nereid/_version.py",
    "nereid_triton/switch",
    "nereid_triton/triton/_C/libnereid.so",
    "nereid_triton/triton/_C/libtriton_xla.so",
    "nereid_triton/triton/_C/include/nereid/Kernel.h",
    "nereid_triton/triton/_C/include/nereid/Pack.h",
    "nereid_triton/triton/_C/lib/cmake/Nereid/NereidConfig.cmake",
    "nereid_triton/triton/_C/bin/nereid",
    "nereid_triton/triton/_C/bin/nereid-layout",
    "nereid_triton/triton/_C/bin/nereid-opt",
)


def install_files(build: Path, stage: Path) -> None:
    """What CMake's component `wheel` is, as for a release."""
    command = ["cmake", "--install", str(build), "--component", "wheel", "--prefix", str(stage), "--strip"]  # fmt: skip
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout[-1500:]}\npack_wheel: {' '.join(command)} failed")


def write_metadata(stage: Path) -> str:
    """The dist-info folder, by the build backend and pyproject.toml; returns its name."""
    from scikit_build_core.build import prepare_metadata_for_build_wheel

    os.chdir(ROOT)
    return prepare_metadata_for_build_wheel(str(stage))


def files_of(stage: Path) -> Iterator[Path]:
    yield from sorted(path for path in stage.rglob("*") if path.is_file())


def record_line(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def write_wheel(stage: Path, info: str, wheel: Path) -> None:
    """Uncompressed: a test installs it once."""
    record = f"{info}/RECORD"
    lines = ""
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_STORED) as archive:
        for path in files_of(stage):
            name = path.relative_to(stage).as_posix()
            archive.write(path, name)  # with its mode
            lines += record_line(name, path.read_bytes())
        archive.writestr(record, lines + f"{record},,\n")


def tag_of(stage: Path, info: str) -> str:
    text = (stage / info / "WHEEL").read_text()
    return next(line.split(": ")[1] for line in text.splitlines() if line.startswith("Tag: "))


def pack(build: Path, output: Path) -> Path:
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder)
        install_files(build, stage)
        info = write_metadata(stage)
        wheel = output / f"{info.removesuffix('.dist-info')}-{tag_of(stage, info)}.whl"
        write_wheel(stage, info, wheel)
    return wheel


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(pack(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))


if __name__ == "__main__":
    main()
