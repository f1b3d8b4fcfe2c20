"""Kernels from the texts of `texts/`: one file per kernel of _ttir_kernels.py, one module per section.

A section begins with a line `// === VERSION STAGE`: the compiler's version, and whether the text
is from before or after its own passes.
"""
# SPDX-License-Identifier: MIT

import functools
from pathlib import Path

import pytest
import triton
from _ttir_kernels import CASES
from triton.runtime import driver

FOLDER = Path(__file__).parent / "texts"
MARK = "// === "


@functools.lru_cache
def sections(case):
    """{"3.9 before": text, ...}"""
    parts = (FOLDER / f"{case}.ttir").read_text().split(MARK)[1:]
    return dict(part.split("\n", 1) for part in parts)


class FromText:
    """A kernel from a text that `check` launches with the parameters of the original."""

    def __init__(self, name, text, folder):
        self.case = CASES[name]
        self.path = Path(folder) / f"{name}.ttir"
        self.path.write_text(text)

    def compile(self, **options):
        target = driver.active.get_current_target()
        return triton.compile(str(self.path), target=target, options=options)

    def warmup(self, *args, grid, arch=None, **named):
        return self.compile(arch=arch) if arch else self.compile()

    def __getitem__(self, grid):
        def run(**named):
            kinds = self.case.signature.items()
            self.compile()[grid](*(named[name] for name, kind in kinds if kind != "constexpr"))

        return run


@pytest.fixture
def kernel(request, tmp_path):
    name, section = request.param
    return FromText(name, sections(name)[section], tmp_path)


def from_text(name):
    """Runs a test once for each text of a kernel."""
    params = [
        pytest.param((name, section), id=section.replace(" ", "-"))
        for section in sections(name)
    ]
    return pytest.mark.parametrize("kernel", params, indirect=True)
