"""Makes a virtual environment use the build folder, as an installed wheel: a .pth file that registers
the finder, the commands, and metadata of `nereid-triton`.

usage: link_venv.py [--check] BUILD_PYTHON_DIR   (run with that environment's Python)
"""
# SPDX-License-Identifier: MIT

import glob
import os
import re
import shutil
import sys
import sysconfig

SITE = sysconfig.get_path("purelib")
SCRIPTS = sysconfig.get_path("scripts")
PTH = os.path.join(SITE, "nereid-dev.pth")
NAME = "nereid-triton"
OWNER = "nereid-dev"  # the content of this script's INSTALLER files
COMMANDS = {"nereid": "main", "nereid-opt": "opt", "nereid-layout": "layout"}
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def project_version() -> str:
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        found = re.search(r"project\(nereid VERSION ([\d.]+)", file.read())
    assert found is not None, "CMakeLists.txt has no version"
    return found[1]


def write(path: str, text: str, mode: int = 0o644) -> None:
    if os.path.exists(path) and open(path, encoding="utf-8").read() == text:
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def remove_former(wanted: str) -> None:
    """Removes metadata that this script wrote under a former name or version."""
    for installer in glob.glob(os.path.join(SITE, "*.dist-info", "INSTALLER")):
        folder = os.path.dirname(installer)
        with open(installer, encoding="utf-8") as file:
            is_ours = file.read().strip() == OWNER
        if is_ours and os.path.basename(folder) != wanted:
            shutil.rmtree(folder)


def pth_text(build: str) -> str:
    """The folder, and a line that lets its package take the place of one in site-packages."""
    call = f"nereid_triton.register({SITE!r})"
    load = f"try:\n import nereid_triton\nexcept ImportError: pass\nelse: {call}"
    return f"{build}\nimport sys; exec({load!r})\n"


def command_text(function: str) -> str:
    return (
        f"#!{sys.executable}\nimport sys\nfrom nereid_triton.nereid.cli import {function}\n"
        f"sys.exit({function}())\n"
    )


def link(build: str) -> None:
    version = project_version()
    folder = f"{NAME.replace('-', '_')}-{version}.dist-info"
    remove_former(folder)
    write(PTH, pth_text(build))
    for name, function in COMMANDS.items():
        write(os.path.join(SCRIPTS, name), command_text(function), 0o755)
    names = ("METADATA", "INSTALLER", "RECORD")
    files = {
        "METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\n",
        "INSTALLER": OWNER + "\n",
        "RECORD": "".join(f"{folder}/{file},,\n" for file in names),
    }
    for file, text in files.items():
        write(os.path.join(SITE, folder, file), text)


def main() -> int:
    build = sys.argv[-1]
    if "--check" not in sys.argv:
        link(build)
        return 0
    linked = os.path.exists(PTH) and open(PTH, encoding="utf-8").read() == pth_text(build)
    print(
        f"package    {'linked into this environment' if linked else 'not linked yet; ./dev build does it'}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
