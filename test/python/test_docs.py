"""The generated pages of docs/ match this build."""
# SPDX-License-Identifier: MIT

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def test_generated_pages_are_up_to_date():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "generate_docs.py", "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "component", ["compiler/syntax", "compiler/sema", "compiler/driver", "jit"]
)
def test_every_diagnostic_is_on_its_page(component):
    text = (ROOT / component / "Diagnostics.def").read_text()
    page = (ROOT / "docs" / "diagnostics.md").read_text()
    wanted = text.count("\nDIAG(")
    section = page.split(f"\n## {component}\n")[1].split("\n## ")[0]
    assert section.count("\n| ") == wanted + 2, "a DIAG line that generate_docs.py does not read"
