"""`TRITON_RECORD`: a file with the variants that a run needed, one JSON object in each line."""

# SPDX-License-Identifier: MIT
#
# Any number of processes may append to one file: a line is one write at the end of the file, and a process writes no
# line twice.
from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass, field
from typing import Any

from ..errors import TritonError

VERSION = 1


class RecordError(TritonError, ValueError):
    """A record cannot be read."""


_written: dict[str, set[str]] = {}  # file -> its lines of this process
_lock = threading.Lock()
os.register_at_fork(after_in_child=_lock._at_fork_reinit)  # type: ignore[attr-defined]


def add(path: str, variant: Any) -> None:
    path = os.path.abspath(path)
    try:
        line = line_of(variant)
    except TypeError as error:
        _warn(f"{path}: `{variant.function.__name__}` is not recorded: {error}")
        return
    with _lock:
        lines = _written.setdefault(path, set())
        if line in lines:
            return
        lines.add(line)
        try:
            _append(path, line)
        except OSError as error:
            _warn(f"{path}: kernels are not recorded: {error.strerror}")


def _append(path: str, line: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        os.write(file, f"{line}\n".encode())
    finally:
        os.close(file)


def _warn(text: str) -> None:
    from ..._warnings import warn_once

    warn_once(f"TRITON_RECORD: {text}")


def line_of(variant: Any) -> str:
    """The variant's line; TypeError if a constant has no text."""
    from ..jit_hooks import preload_text
    from .constant_text import encode

    function = variant.function
    text = preload_text(
        function._fn_name,
        variant.signature,
        variant.constants,
        variant.attrs,
        variant.options,
        variant.key,
        variant.target,
    )
    fields = {
        "abi": variant.abi,
        "file": file_of(function),
        "kernel": f"{function.module}:{function.__qualname__}",
        "source": function.cache_key,
        "specialization": json.loads(text),
        "target": variant.target_text,
        "version": VERSION,
    }
    if variant.given is not None:
        options, ones, empty = variant.given
        shown = {name: encode(value) for name, value in options.items()}
        fields["given"] = {"empty": empty, "ones": ones, "options": shown}
    return json.dumps(fields, sort_keys=True)


def file_of(function: Any) -> str:
    """The absolute path of the file that defines a kernel."""
    code = getattr(function.fn, "__code__", None)
    return "" if code is None else os.path.abspath(code.co_filename)


@dataclass(frozen=True)
class Entry:
    """One line of a record."""

    abi: str
    file: str
    kernel: str
    source: str
    specialization: dict[str, Any]
    target: str
    where: str  # FILE:LINE of the record
    options: dict[str, Any] = field(default_factory=dict)  # as the launch named them
    ones: list[str] = field(default_factory=list)  # see Given
    empty: list[str] = field(default_factory=list)


_TYPES = {
    "abi": str,
    "file": str,
    "kernel": str,
    "source": str,
    "specialization": dict,
    "target": str,
}


def read(path: str) -> list[Entry]:
    """The lines of a record, each once."""
    entries: dict[str, Entry] = {}
    with open(path, encoding="utf-8", errors="strict") as file:
        try:
            for number, line in enumerate(file, 1):
                if line.strip() and line not in entries:
                    entries[line] = entry_of(line, f"{path}:{number}")
        except UnicodeDecodeError as error:
            raise RecordError(f"{path}: not a text of UTF-8: {error.reason}") from None
    return list(entries.values())


def entry_of(line: str, where: str) -> Entry:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{where}: not a JSON object: {error}") from None
    if not isinstance(fields, dict):
        raise RecordError(f"{where}: expected a JSON object, got {type(fields).__name__}")
    version = fields.get("version")
    if version != VERSION or isinstance(version, bool):
        raise RecordError(
            f"{where}: the line has version {version!r}; this build reads version {VERSION}: record anew"
        )
    for name, kind in _TYPES.items():
        if not isinstance(fields.get(name), kind):
            raise RecordError(f"{where}: `{name}` must be {_WORDS[kind]}, got {fields.get(name)!r}")
    if fields["abi"] not in ("own", "plain"):
        raise RecordError(f"{where}: `abi` is {fields['abi']!r}; it must be own or plain")
    given = _given(fields.get("given", {}), where)
    return Entry(**{name: fields[name] for name in _TYPES}, where=where, **given)


def _given(given: Any, where: str) -> dict[str, Any]:
    """What the launch was given; older records do not tell."""
    kinds = {"options": dict, "ones": list, "empty": list}
    found = (
        {name: given.get(name, kind()) for name, kind in kinds.items()}
        if isinstance(given, dict)
        else {}
    )
    if not found or not all(isinstance(found[name], kind) for name, kind in kinds.items()):
        raise RecordError(
            f"{where}: `given` must be an object with `options`, `ones` and `empty`, got {given!r}"
        )
    return found


_WORDS = {str: "a text", dict: "an object"}
