"""Makes the packages of python/ importable from the build folder by links, next to the compiled module.

usage: link_python.py SOURCE_PYTHON_DIR BUILD_PYTHON_DIR
"""
# SPDX-License-Identifier: MIT

import os
import sys

# Folders that are real in the build tree: what the build makes is beside the links, the module and the type stubs.
REAL = ("triton/_C", "triton/language")


def is_real(folder: str) -> bool:
    return "/" not in folder or folder.startswith(REAL)


def link(source: str, target: str) -> None:
    if os.path.islink(target):
        if os.readlink(target) == source:
            return
        os.unlink(target)
    os.symlink(source, target)


def link_folder(source: str, build: str, folder: str) -> None:
    """Links each entry of `folder` into its real folder; removes links whose source no longer exists."""
    target = os.path.join(build, folder)
    if os.path.islink(target):
        os.unlink(target)
    os.makedirs(target, exist_ok=True)
    wanted = {name for name in os.listdir(os.path.join(source, folder)) if name != "__pycache__"}
    for name in os.listdir(target):
        path = os.path.join(target, name)
        if name not in wanted and os.path.islink(path):
            os.unlink(path)
    for name in sorted(wanted):
        entry = f"{folder}/{name}"
        path = os.path.join(source, entry)
        if os.path.isdir(path) and is_real(entry):
            link_folder(source, build, entry)
        else:
            link(path, os.path.join(build, entry))


def main() -> None:
    source, build = sys.argv[1:]
    if not os.path.isdir(source):
        return
    for package in sorted(os.listdir(source)):
        if package != "bindings" and os.path.isdir(os.path.join(source, package)):
            link_folder(source, build, package)


if __name__ == "__main__":
    main()
