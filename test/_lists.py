"""The lists of run-tests in test/run/*.txt: a line is FILE or FILE::FUNCTION, or a comment after #."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

from pathlib import Path
from typing import Any

RUN = Path(__file__).resolve().parent / "run"


def listed(table: str) -> frozenset[str]:
    lines = (RUN / table).read_text(encoding="utf-8").splitlines()
    return frozenset(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def is_listed(case: Any, names: frozenset[str]) -> bool:
    """Whether a case that pytest collected is of one of these files and functions."""
    if RUN not in case.path.parents:
        return False
    name = case.path.relative_to(RUN).as_posix()
    return name in names or f"{name}::{getattr(case, 'originalname', case.name)}" in names
