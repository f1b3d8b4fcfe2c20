"""The commands `nereid`, `nereid-opt` and `nereid-layout` of an environment: they run the programs of
these names; `nereid doctor` first says what this environment imports.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
import subprocess
import sys
import sysconfig

from nereid_triton import FOLDER


def _program(name: str) -> str | None:
    """The program in a wheel's package, or in the build folder of a source tree."""
    build = os.path.dirname(FOLDER)
    for folder in (os.path.join(FOLDER, "triton", "_C", "bin"), os.path.join(build, "bin")):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    return None


def _command(name: str) -> list[str]:
    program = _program(name)
    if program is None:
        sys.exit(f"{name}: the program is missing in {FOLDER}; in a source tree `./dev build` makes it")  # fmt: skip
    # Where NVIDIA's wheels of this environment are; the program itself knows of no environment.
    os.environ.setdefault("NEREID_SITE_PACKAGES", sysconfig.get_path("purelib"))
    if not os.path.exists(
        "/proc/self/exe"
    ):  # from which glibc tells where the program's libraries are
        os.environ.setdefault("LD_ORIGIN_PATH", os.path.dirname(program))
    return [program, *sys.argv[1:]]


def _run(name: str) -> int:
    """Replaces this process by the program; returns only where that is not possible."""
    command = _command(name)
    try:
        os.execv(command[0], command)
    except OSError as error:
        print(f"{name}: {command[0]} cannot be run: {error.strerror}", file=sys.stderr)
    return 1


def main() -> int:
    if sys.argv[1:2] == ["lock"]:  # its files name kernels of this environment
        from triton.tools.lock import main as lock

        return lock(sys.argv[2:])
    if sys.argv[1:2] == ["pack"]:  # records name kernels of this environment
        from triton.tools.pack import main as pack

        return pack(sys.argv[2:])
    if sys.argv[1:2] == ["build"]:
        from triton.tools.build import main as build

        return build(sys.argv[2:], lambda: _program("nereid"))
    if sys.argv[1:] != ["doctor"]:
        return _run("nereid")
    from .doctor import report

    is_well = report()
    sys.stdout.flush()
    status = subprocess.run(_command("nereid")).returncode
    return status if is_well else status or 1


def opt() -> int:
    return _run("nereid-opt")


def layout() -> int:
    return _run("nereid-layout")


if __name__ == "__main__":
    sys.exit(main())
