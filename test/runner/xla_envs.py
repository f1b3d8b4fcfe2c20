"""Makes the virtual environments of the test level `xla`, in build/xla: one for each set of pinned packages.

usage: xla_envs.py [NAME...]      prints a line for each: its folder, or the reason why there is none

The packages of NAME are in test/scripts/requirements-xla-NAME.txt, whose first line begins with the Python
that they are for. A file test/scripts/finish-xla-NAME.py is run with the new environment's Python; NAME may
lack its last words there ("torch" for "torch-2.8").
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import fcntl
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ENVIRONMENTS = os.path.join(ROOT, "build", "xla")
SCRIPTS = os.path.join(ROOT, "test", "scripts")


class Unavailable(Exception):
    """The reason why there is no such environment; not an error of this project."""


def names() -> list[str]:
    files = glob.glob(os.path.join(SCRIPTS, "requirements-xla-*.txt"))
    return sorted(os.path.basename(file)[len("requirements-xla-") : -len(".txt")] for file in files)


def requirements(name: str) -> str:
    return os.path.join(SCRIPTS, f"requirements-xla-{name}.txt")


def finisher(name: str) -> str | None:
    words = name.split("-")
    for count in range(len(words), 0, -1):
        path = os.path.join(SCRIPTS, f"finish-xla-{'-'.join(words[:count])}.py")
        if os.path.exists(path):
            return path
    return None


def python_version(name: str) -> str:
    with open(requirements(name), encoding="utf-8") as file:
        first = file.readline()
    found = re.match(r"# Python (\d+\.\d+)", first)
    assert found, f"the first line of {requirements(name)} names no Python"
    return found[1]


def find_python(version: str) -> str:
    """An interpreter of that version, from PATH or pyenv."""
    pyenv = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    installed = glob.glob(os.path.join(pyenv, "versions", f"{version}.*", "bin", "python"))
    for candidate in (f"python{version}", *sorted(installed)):
        asked = shutil.which(candidate)
        code = f"import sys; sys.exit('%d.%d' % sys.version_info[:2] != '{version}')"
        if asked and subprocess.run([asked, "-c", code], capture_output=True).returncode == 0:
            return asked
    raise Unavailable(f"there is no Python {version} here")


def fingerprint(name: str, python: str) -> str:
    digest = hashlib.sha256(python.encode())
    for path in (requirements(name), finisher(name)):
        if path:
            with open(path, "rb") as file:
                digest.update(file.read())
    return digest.hexdigest()


def logged(command: list[str], log: str) -> int:
    with open(log, "a", encoding="utf-8") as file:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    return done.returncode


def install_packages(name: str, python: str, log: str) -> None:
    """Installs from a separate folder: only a failed download is not an error of this project."""
    pip, pinned = [python, "-m", "pip"], ["--no-deps", "-r", requirements(name)]
    with tempfile.TemporaryDirectory(dir=ENVIRONMENTS) as wheels:
        fetch = ["download", "--only-binary", ":all:", "--no-cache-dir", "-d", wheels]
        if logged([*pip, *fetch, *pinned], log) != 0:
            raise Unavailable(f"packages could not be downloaded; see build/log/xla-{name}.log")
        if logged([*pip, "install", "--no-index", "--find-links", wheels, *pinned], log) != 0:
            raise RuntimeError(f"packages could not be installed; see {log}")


def make(name: str) -> str:
    """The environment's Python; an existing environment that still fits is kept. A second process waits."""
    os.makedirs(ENVIRONMENTS, exist_ok=True)
    with open(os.path.join(ENVIRONMENTS, f"{name}.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return make_alone(name)


def make_alone(name: str) -> str:
    python = find_python(python_version(name))
    folder = os.path.join(ENVIRONMENTS, name)
    stamp, log = (
        os.path.join(folder, "made-of"),
        os.path.join(ROOT, "build", "log", f"xla-{name}.log"),
    )
    own, wanted = os.path.join(folder, "bin", "python"), fingerprint(name, python)
    if os.path.exists(stamp) and open(stamp, encoding="utf-8").read() == wanted:
        return own
    os.makedirs(os.path.dirname(log), exist_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.exists(log):
        os.unlink(log)
    if logged([python, "-m", "venv", folder], log) != 0:
        raise RuntimeError(f"no virtual environment could be made; see {log}")
    install_packages(name, own, log)
    finish = finisher(name)
    if finish and logged([own, finish], log) != 0:
        raise RuntimeError(f"{finish} failed; see {log}")
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(wanted)
    return own


def main() -> int:
    chosen = sys.argv[1:] or names()
    unknown = [name for name in chosen if name not in names()]
    if unknown:
        print(f"no environment {unknown[0]}; there are: {' '.join(names())}", file=sys.stderr)
        return 2
    for name in chosen:
        try:
            print(f"{name}: {make(name)}", flush=True)
        except Unavailable as why:
            print(f"{name}: skipped: {why}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
