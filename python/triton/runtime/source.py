"""The text of a function and its location in its file."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_DEF = re.compile(r"^[ \t]*def\s+\w+\s*[(\[]", re.MULTILINE)


class FunctionSource:
    """Source lines of a function, decorators included, and its text from `def` without the common
    indentation.
    """

    def __init__(self, fn: Callable[..., Any]):
        import inspect

        try:
            self.raw_lines, self.first_line = inspect.getsourcelines(fn)
        except (OSError, TypeError) as error:
            raise ValueError("@jit functions should be defined in a Python file") from error
        self.file_name = inspect.getsourcefile(fn) or fn.__code__.co_filename
        raw_text = "".join(self.raw_lines)
        match = _DEF.search(raw_text)
        if match is None:
            name = getattr(fn, "__name__", fn)
            raise ValueError(
                f"{self.file_name}:{self.first_line}: `{name}` is not defined by a `def` statement"
            )
        text = raw_text[match.start() :]
        indent = text[: len(text) - len(text.lstrip(" \t"))]
        self.def_column = len(indent)
        self.def_line = self.first_line + raw_text.count("\n", 0, match.start())
        self.text = "".join(
            _without_indent(line, indent) for line in text.splitlines(keepends=True)
        )


def _without_indent(line: str, indent: str) -> str:
    """The line without the common indentation; a line with less (such as in a string) loses what it
    has.
    """
    if line.startswith(indent):
        return line[len(indent) :]
    stripped = line.lstrip(" \t")
    return line[min(len(line) - len(stripped), len(indent)) :]
