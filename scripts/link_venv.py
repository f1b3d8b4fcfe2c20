"""Makes a virtual environment use the build folder: a .pth file, and metadata for `nereid-triton`
and `triton`.

usage: link_venv.py [--check] BUILD_PYTHON_DIR   (run with that environment's Python)
"""
# SPDX-License-Identifier: MIT

import glob
import importlib.metadata
import os
import shutil
import sys
import sysconfig

DISTRIBUTIONS = {"nereid-triton": "0.1.0", "triton": "3.9.0"}
SITE = sysconfig.get_path("purelib")
PTH = os.path.join(SITE, "nereid-dev.pth")
OWNER = "nereid-dev"  # the content of this script's INSTALLER files


def foreign_triton() -> str | None:
    """The version of another triton, if this environment has one."""
    for found in importlib.metadata.distributions(path=[SITE]):
        if (found.metadata["Name"] or "").lower() == "triton" and (
            found.read_text("INSTALLER") or ""
        ).strip() != OWNER:
            return found.version
    return "unknown" if os.path.isdir(os.path.join(SITE, "triton")) else None


def write(path: str, text: str) -> None:
    if os.path.exists(path) and open(path, encoding="utf-8").read() == text:
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def folder_of(name: str) -> str:
    return f"{name.replace('-', '_')}-{DISTRIBUTIONS[name]}.dist-info"


def remove_former() -> None:
    """Removes metadata that this script wrote under a former name or version."""
    wanted = {folder_of(name) for name in DISTRIBUTIONS}
    for installer in glob.glob(os.path.join(SITE, "*.dist-info", "INSTALLER")):
        folder = os.path.dirname(installer)
        with open(installer, encoding="utf-8") as file:
            is_ours = file.read().strip() == OWNER
        if is_ours and os.path.basename(folder) not in wanted:
            shutil.rmtree(folder)


def link(build: str) -> None:
    remove_former()
    write(PTH, build + "\n")
    for name, version in DISTRIBUTIONS.items():
        folder = folder_of(name)
        files = {
            "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            "INSTALLER": OWNER + "\n",
            "RECORD": "".join(
                f"{folder}/{file},,\n" for file in ("METADATA", "INSTALLER", "RECORD")
            ),
        }
        for file, text in files.items():
            write(os.path.join(SITE, folder, file), text)


def main() -> int:
    check = "--check" in sys.argv
    build = sys.argv[-1]
    if version := foreign_triton():
        print(
            f"another triton ({version}) is in {SITE}, where Nereid's must be alone; "
            f"remove it: {sys.executable} -m pip uninstall -y triton",
            file=sys.stderr,
        )
        return 1
    if not check:
        link(build)
        return 0
    linked = os.path.exists(PTH) and open(PTH, encoding="utf-8").read().strip() == build
    print(
        f"package    {'linked into this environment' if linked else 'not linked yet; ./dev build does it'}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
