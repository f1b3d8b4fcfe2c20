"""`./dev format` reads its arguments before it touches a file; its tools have fixed versions."""

# SPDX-License-Identifier: MIT
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def dev_format(*arguments):
    return subprocess.run(
        [ROOT / "dev", "format", *arguments], capture_output=True, text=True, cwd=ROOT
    )


@pytest.mark.parametrize("argument", ["--bogus", "-x", "no_such_file.py", "README.md"])
def test_other_arguments_are_refused(argument):
    done = dev_format("--check", argument)
    assert done.returncode == 1 and argument in done.stderr


def test_help_describes_the_arguments():
    done = dev_format("--help")
    assert done.returncode == 0 and "--check" in done.stdout and "FILE" in done.stdout


def test_versions_are_pinned():
    lines = (ROOT / "scripts" / "requirements-format.txt").read_text().splitlines()
    assert all("==" in line for line in lines if line and not line.startswith("#"))
