"""Checks a wheel against its name and tags: the names in its metadata, the libraries and symbol versions that its
files require.

usage: check_wheel.py WHEEL...   (needs pyelftools and, for `auditwheel show`, auditwheel: scripts/requirements-wheel.txt)
"""
# SPDX-License-Identifier: MIT

import email
import io
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from pack_wheel import WANTED

NAME = "nereid-triton"
LARGEST = 40 * 1000 * 1000
# The parts of the C library as of 2.28 and the unwinder; nothing else is required of the system.
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "ld-linux-x86-64.so.2", "libgcc_s.so.1"}  # fmt: skip
HIGHEST = {"GLIBC": (2, 28), "GCC": (7, 0)}


def versions_needed(elf: ELFFile) -> set[str]:
    needs = [section for section in elf.iter_sections() if isinstance(section, GNUVerNeedSection)]
    return {
        version.name for need in needs for _, found in need.iter_versions() for version in found
    }


def libraries_needed(elf: ELFFile) -> set[str]:
    dynamic = elf.get_section_by_name(".dynamic")
    tags = dynamic.iter_tags("DT_NEEDED") if dynamic else ()
    return {tag.needed for tag in tags}


def is_too_new(version: str) -> bool:
    kind, _, number = version.partition("_")
    if kind not in HIGHEST or not re.fullmatch(r"[\d.]+", number):
        return True  # GLIBC_PRIVATE, GLIBCXX: libstdc++ is inside
    return tuple(map(int, number.split("."))) > HIGHEST[kind]


def faults_of_file(name: str, data: bytes, ours: set[str]) -> list[str]:
    """The requirements of a compiled file beyond the C library; prints its highest version."""
    elf = ELFFile(io.BytesIO(data))
    needed, versions = libraries_needed(elf), versions_needed(elf)
    glibc = sorted((v for v in versions if v.startswith("GLIBC_2.")), key=lambda v: int(v.split(".")[1]))  # fmt: skip
    print(f"  {name}: {len(data) / 1e6:.1f} MB, up to {glibc[-1] if glibc else 'no glibc'}; needs {' '.join(sorted(needed))}")  # fmt: skip
    faults = [f"{name} needs {library}" for library in sorted(needed - SYSTEM - ours)]
    return faults + [f"{name} needs {v}" for v in sorted(versions) if is_too_new(v)]


def faults_of_metadata(wheel: zipfile.ZipFile) -> list[str]:
    names = wheel.namelist()
    faults = []
    (metadata,) = (name for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
    found = email.message_from_string(wheel.read(metadata).decode())
    if found["Name"] != NAME:
        faults.append(f"the distribution is called {found['Name']}, not {NAME}")
    others = {name.split("/")[0] for name in names} - {metadata.split("/")[0]}
    if others != {"nereid_triton", "nereid_triton.pth"}:
        faults.append(f"files outside of nereid_triton: {' '.join(sorted(others))}")
    faults += [f"no {wanted}" for wanted in WANTED if wanted not in names]
    return faults


def faults_of_wheel(path: Path) -> list[str]:
    size = path.stat().st_size
    print(f"{path.name}: {size / 1e6:.1f} MB")
    faults = [f"{size / 1e6:.1f} MB are more than 40"] if size > LARGEST else []
    if "manylinux_2_28_x86_64" not in path.name:
        faults.append("the name lacks the tag manylinux_2_28_x86_64")
    with zipfile.ZipFile(path) as wheel:
        faults += faults_of_metadata(wheel)
        ours = {name.rsplit("/", 1)[-1] for name in wheel.namelist() if name.endswith(".so")}
        for name in wheel.namelist():
            data = wheel.read(name)
            if data[:4] == b"\x7fELF":
                faults += faults_of_file(name, data, ours)
    shown = subprocess.run([sys.executable, "-m", "auditwheel", "show", str(path)], capture_output=True, text=True)  # fmt: skip
    print(shown.stdout.strip() or shown.stderr.strip())
    tag = re.search(r'"manylinux_2_(\d+)_x86_64"', shown.stdout)
    if not tag or int(tag[1]) > HIGHEST["GLIBC"][1]:
        faults.append("auditwheel names no platform that glibc 2.28 serves")
    return faults


def main() -> int:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    faults = [f"{path}: {fault}" for path in sys.argv[1:] for fault in faults_of_wheel(Path(path))]
    print("\n".join(faults) or "no faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
