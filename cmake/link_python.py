"""Makes the packages of python/ importable from the build folder by links, next to the compiled module.

usage: link_python.py SOURCE_PYTHON_DIR BUILD_PYTHON_DIR
"""
# SPDX-License-Identifier: MIT

import os
import sys

COMPILED = "_C"  # contains the compiled module, so it is a real folder in the build tree


def link(source: str, target: str) -> None:
    if os.path.islink(target):
        if os.readlink(target) == source:
            return
        os.unlink(target)
    os.symlink(source, target)


def link_entries(source: str, target: str, real: tuple[str, ...] = ()) -> None:
    """Links each entry of `source` into the real folder `target`; removes links whose source no longer exists."""
    os.makedirs(target, exist_ok=True)
    wanted = {name for name in os.listdir(source) if name != "__pycache__" and name not in real}
    for name in os.listdir(target):
        path = os.path.join(target, name)
        if name not in wanted and os.path.islink(path):
            os.unlink(path)
    for name in sorted(wanted):
        link(os.path.join(source, name), os.path.join(target, name))


def main() -> None:
    source, build = sys.argv[1:]
    if not os.path.isdir(source):
        return
    for package in sorted(os.listdir(source)):
        package_source = os.path.join(source, package)
        if package == "bindings" or not os.path.isdir(package_source):
            continue
        package_build = os.path.join(build, package)
        link_entries(package_source, package_build, (COMPILED,))
        if os.path.isdir(os.path.join(package_source, COMPILED)):
            link_entries(
                os.path.join(package_source, COMPILED), os.path.join(package_build, COMPILED)
            )


if __name__ == "__main__":
    main()
