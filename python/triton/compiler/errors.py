"""The exceptions of a failed compilation, made from the compiler's own diagnostics."""

# SPDX-License-Identifier: MIT
#
# The text of a CompilationError begins as Triton's does ("at line:column:" of the function); then the compiler's own text
# follows, which has the message with file, line, underlined range and the calls as notes. It is in `.diagnostics`, too.
from __future__ import annotations

import builtins
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from .._record import Record
from ..errors import TritonError as TritonError
from ..errors import WrappingError

_EXCERPT_LINES = 12


class SourcePoint(Record):
    """A location in a function's text; named as the fields of a Python syntax tree node."""

    lineno: int
    col_offset: int
    end_lineno: int | None = None
    end_col_offset: int | None = None


class Diagnostic(Record):
    """One message of the compiler. Lines and columns count from 1 in the user's file."""

    code: str
    severity: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    rendered: str = ""
    notes: tuple[dict[str, Any], ...] = ()

    def __str__(self) -> str:
        return self.rendered or f"{self.file}:{self.line}:{self.column}: {self.message}"


def _excerpt(src: str | None, node: Any) -> str:
    if src is None:
        return " <source unavailable>"
    if not hasattr(node, "lineno"):
        return src
    lines = src.split("\n")[: node.lineno][-_EXCERPT_LINES:]
    return "\n".join([*lines, " " * node.col_offset + "^"]) if lines else " <source empty>"


class CompilationError(WrappingError):
    """A kernel could not be compiled. `details` is the whole text of the error, the message included; without it the
    text of the function is shown.
    """

    def __init__(
        self,
        src: str | None,
        node: Any,
        error_message: str | None = None,
        details: str = "",
        function: str = "",
    ):
        self.src = src
        self.node = node
        self.error_message = error_message
        self.details = details
        self.function = function
        self.diagnostics: list[Diagnostic] = []
        self.message = self._format()
        super().__init__(self.message)

    def _format(self) -> str:
        where = ""
        if hasattr(self.node, "lineno"):
            where = f"at {self.node.lineno}:{self.node.col_offset}:"
            where += f" in `{self.function}`" if self.function else ""
        parts = (
            [self.details] if self.details else [_excerpt(self.src, self.node), self.error_message]
        )
        return "\n".join(part for part in (where, *parts) if part)

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        args = (self.src, self.node, self.error_message, self.details, self.function)
        return type(self), args, {"diagnostics": self.diagnostics}


class CompileTimeAssertionFailure(CompilationError):
    """`tl.static_assert` did not hold."""


class UnsupportedLanguageConstruct(CompilationError):
    """Python that a kernel cannot use."""


class InternalCompilerError(CompilationError, RuntimeError):
    """A defect of the compiler itself, not of a kernel; `reproducer` names the file to send with a
    report. Triton raises RuntimeError where a pass fails.
    """

    def __init__(self, message: str, reproducer: str | None = None, details: str = ""):
        self.reproducer = reproducer
        super().__init__(None, None, message, details)

    def _format(self) -> str:
        text = self.error_message or ""
        if self.reproducer:
            text += f"; reproducer: {self.reproducer}"
        return f"{text}\n{self.details}" if self.details else text

    def __reduce__(self) -> tuple[Any, ...]:
        args = (self.error_message, self.reproducer, self.details)
        return type(self), args, {"diagnostics": self.diagnostics}


_OWN_CLASSES = {
    cls.__name__: cls
    for cls in (CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct)
}
# The message of a function marked `must_use_result` is the author's and comes last.
_ENDS_WITH_MESSAGE = ("result-unused",)
_FIELDS = (
    "code",
    "severity",
    "message",
    "file",
    "line",
    "column",
    "end_line",
    "end_column",
    "rendered",
)


def _diagnostic(entry: dict[str, Any]) -> Diagnostic:
    known = {name: entry[name] for name in _FIELDS if name in entry}
    return Diagnostic(**known, notes=tuple(entry.get("notes", ())))


def _note_lines(entry: dict[str, Any]) -> list[str]:
    lines = []
    for note in entry.get("notes", ()):
        location = f"{note['file']}:{note['line']}:{note['column']}: " if note.get("file") else ""
        lines.append(f"{location}note: {note['message']}")
    return lines


def _text(entry: dict[str, Any]) -> str:
    shows_code = entry.get("code") and entry["code"] not in _ENDS_WITH_MESSAGE
    return f"{entry['message']} [{entry['code']}]" if shows_code else str(entry["message"])


def _surroundings(entry: dict[str, Any]) -> list[str]:
    """Where the error is, with the underlined line, and the notes: all but the message."""
    if not (entry.get("file") and entry.get("rendered")):
        return _note_lines(entry)
    _, *lines = entry["rendered"].rstrip("\n").split("\n")
    return [f"{entry['file']}:{entry['line']}:{entry['column']}: error:", *lines]


def _details(entry: dict[str, Any]) -> list[str]:
    """The whole text of the error: its terminal form, where it has a location."""
    if entry.get("code") in _ENDS_WITH_MESSAGE:
        return [*_surroundings(entry), _text(entry)]
    if entry.get("file") and entry.get("rendered"):
        return [entry["rendered"].rstrip("\n")]
    return [_text(entry), *_note_lines(entry)]


def _cause_of(entry: dict[str, Any]) -> BaseException | None:
    """The exception that Triton would have wrapped: the host's own one, else one of the class given
    by the code.
    """
    if entry.get("cause") is not None:
        return entry["cause"]
    name = entry.get("python_error", "CompilationError")
    if name in _OWN_CLASSES:
        return None
    return getattr(builtins, name, RuntimeError)(entry["message"])


def _point(entry: dict[str, Any], frame: dict[str, Any], innermost: bool) -> SourcePoint:
    if not innermost or not entry.get("end_line"):
        return SourcePoint(frame["line"], frame["column"])
    lines = entry["end_line"] - entry["line"]
    width = entry["end_column"] - entry["column"]
    return SourcePoint(
        frame["line"], frame["column"], frame["line"] + lines, frame["column"] + width
    )


def _chain(entry: dict[str, Any], details: str) -> CompilationError:
    """One exception per call frame, the outermost first; the cause of each is in the function that
    it called. Each has the whole text, since any of them may be the one that is shown.
    """
    cls = _OWN_CLASSES.get(entry.get("python_error", ""), CompilationError)
    frames = entry.get("frames") or [{"src": None, "line": 0, "column": 0}]
    last = frames[-1]
    node = _point(entry, last, innermost=True) if last["src"] is not None else None
    error = cls(last["src"], node, _text(entry), details, last.get("name", ""))
    cause = _cause_of(entry)
    # Python code that the kernel calls has frames of its own, which the message lacks.
    shown = cause if cause is not None and cause.__traceback__ is not None else None
    error._wrap(cause, shown)
    for frame in reversed(frames[:-1]):
        point = _point(entry, frame, innermost=False)
        outer = CompilationError(frame["src"], point, None, details, frame.get("name", ""))
        outer._wrap(error, shown)
        error = outer
    return error


def _reached_resource_limit(entry: dict[str, Any]) -> BaseException | None:
    if entry.get("python_error") != "OutOfResources" or "required" not in entry:
        return None
    from ..runtime.errors import OutOfResources

    return OutOfResources(entry["required"], entry["limit"], entry["resource"])


def _internal(entry: dict[str, Any], entries: Sequence[dict[str, Any]]) -> InternalCompilerError:
    details = "\n".join(_surroundings(entry))
    error = InternalCompilerError(_text(entry), entry.get("reproducer"), details)
    error.diagnostics = [_diagnostic(each) for each in entries]
    return error


def from_diagnostics(entries: Sequence[dict[str, Any]]) -> BaseException:
    """The exception to raise for the diagnostics of one failed compilation. Called by the native
    module.
    """
    internal = [entry for entry in entries if entry["severity"] == "internal"]
    if internal:
        return _internal(internal[0], entries)
    errors = [entry for entry in entries if entry["severity"] == "error"] or list(entries)
    if not errors:
        return InternalCompilerError("compilation failed without a diagnostic")
    limit = _reached_resource_limit(errors[0])
    if limit is not None:
        return limit
    # Code that tries configurations catches such errors and continues with the next one.
    if errors[0].get("python_error") == "PTXASError":
        from ..runtime.errors import PTXASError

        return PTXASError("\n".join(str(_diagnostic(entry)).rstrip("\n") for entry in errors))
    details = _details(errors[0])
    if len(errors) > 1:
        details += ["", f"{len(errors) - 1} more error{'s' if len(errors) > 2 else ''}:"]
        details += [str(_diagnostic(entry)).rstrip("\n") for entry in errors[1:]]
    error = _chain(errors[0], "\n".join(details))
    error.diagnostics = [_diagnostic(entry) for entry in entries]
    return error


# Remarks already printed: kernels are compiled for many types, and one line suffices.
_shown: set[str] = set()


def show_remarks(entries: Sequence[dict[str, Any]]) -> None:
    """Reports the remarks of a compilation that goes on and takes long.
    Called by the native module.
    """
    show_warnings([entry for entry in entries if entry["severity"] == "remark"])


def show_warnings(entries: Sequence[dict[str, Any]]) -> None:
    """Reports the warnings and remarks of a successful compilation, each remark once per process.
    Called by the native module.
    """
    for entry in entries:
        if entry["severity"] == "warning":
            warnings.warn_explicit(
                entry["message"], UserWarning, entry.get("file", "<kernel>"), entry.get("line", 0)
            )
        else:
            text = str(_diagnostic(entry)).rstrip("\n")
            if text not in _shown:
                _shown.add(text)
                print(text, file=sys.stderr)
