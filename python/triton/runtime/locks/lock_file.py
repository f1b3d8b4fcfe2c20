"""The text of a lock file: decisions of autotuners, one JSON object per line."""

# SPDX-License-Identifier: MIT
#
# docs/guide/cluster.md describes the format for users, docs/why/lock-files.md the choice.
from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..whole_file import retry_stale

_FIELDS = ("arch", "class", "config", "kernel", "ms", "source")
# A decision has about 200 bytes; a larger file is no lock file.
_MAX_BYTES = 64 << 20
_OURS, _BASE, _THEIRS, _END = "<<<<<<<", "|||||||", "=======", ">>>>>>>"


@dataclass(frozen=True)
class Decision:
    """Which configuration was the fastest for one kernel, architecture and class of arguments."""

    kernel: str  # MODULE:NAME
    arch: str  # cuda:90
    key: tuple[Any, ...]  # the field `class`
    config: dict[str, Any]
    source: str  # the first digits of the hash of the kernel and of what it calls
    ms: float | None = None
    extra: dict[str, Any] = field(default_factory=dict)  # fields that this version does not know
    where: str = ""  # FILE:LINE

    @property
    def identity(self) -> tuple[str, str, str]:
        return self.kernel, self.arch, json.dumps(list(self.key))

    def line(self) -> str:
        fields = {
            **self.extra,
            "arch": self.arch,
            "class": list(self.key),
            "config": self.config,
            "kernel": self.kernel,
            "ms": self.ms,
            "source": self.source,
        }
        return json.dumps(fields, sort_keys=True)


@dataclass
class LockText:
    """What a lock file contains: one decision for each identity, and what is wrong with the file."""

    decisions: dict[tuple[str, str, str], Decision] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)  # lines that are no decisions
    remarks: list[str] = field(default_factory=list)

    def text(self) -> str:
        return "".join(self.decisions[each].line() + "\n" for each in sorted(self.decisions))


def plain(value: Any) -> Any:
    """The value as JSON has it: equal values in every process have equal texts."""
    value = getattr(value, "value", value) if type(value).__name__ == "constexpr" else value
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(value)
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return str(value)


# --- Reading -------------------------------------------------------------------------------------


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    """What is written again must be JSON."""
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is too large for a number")
    return value


def _wrong_field(value: dict[str, Any]) -> str | None:
    """Why the object is no decision."""
    for name in ("arch", "class", "config", "kernel", "source"):
        if name not in value:
            return f"the field `{name}` is missing"
    for name in ("arch", "kernel", "source"):
        if not isinstance(value[name], str) or not value[name]:
            return f"`{name}` must be a text, not {json.dumps(value[name])}"
    if not isinstance(value["class"], list):
        return f"`class` must be a list, not {json.dumps(value['class'])}"
    if not isinstance(value["config"], dict):
        return f"`config` must be an object, not {json.dumps(value['config'])}"
    ms = value.get("ms")
    if ms is not None and (isinstance(ms, bool) or not isinstance(ms, (int, float)) or ms < 0):
        return f"`ms` must be a number of milliseconds, not {json.dumps(ms)}"
    return None


def parse_line(line: str, where: str) -> Decision:
    """ValueError with FILE:LINE where the line is no decision."""
    try:
        value = json.loads(line, parse_constant=_refuse_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at column {error.colno}"
        raise ValueError(f"{where}: the line is no decision: {reason}") from None
    except ValueError as error:
        raise ValueError(f"{where}: the line is no decision: {error}") from None
    except RecursionError:
        raise ValueError(f"{where}: the line is no decision: it is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError(f"{where}: the line is no decision: it must be a JSON object")
    if wrong := _wrong_field(value):
        raise ValueError(f"{where}: the line is no decision: {wrong}")
    return Decision(
        kernel=value["kernel"],
        arch=value["arch"],
        key=tuple(value["class"]),
        config=value["config"],
        source=value["source"],
        ms=value.get("ms"),
        extra={name: value[name] for name in value.keys() - set(_FIELDS)},
        where=where,
    )


def better(one: Decision, other: Decision) -> Decision:
    """Of two decisions for the same: the faster one, if both are of the same source; else the later."""
    if one.source != other.source or one.ms is None:
        return other
    return one if other.ms is None or one.ms <= other.ms else other


def _add(lock: LockText, decision: Decision) -> None:
    if decision.extra:
        names = ", ".join(f"`{name}`" for name in sorted(decision.extra))
        lock.remarks.append(f"{decision.where}: unknown fields, which are kept: {names}")
    other = lock.decisions.get(decision.identity)
    kept = decision if other is None else better(other, decision)
    if other is not None:
        lock.remarks.append(
            f"{decision.where}: the same kernel, arch and class as {other.where}; {kept.where} counts"
        )
    lock.decisions[decision.identity] = kept


def _outside_of_base(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Both sides of git's conflicts, without the markers and the common ancestor."""
    in_base = False
    for number, line in enumerate(lines, 1):
        mark = line[:7]
        if mark == _BASE:
            in_base = True
        elif mark in (_OURS, _THEIRS, _END):
            in_base = False
        elif not in_base:
            yield number, line


def parse(text: str, name: str, resolve_conflicts: bool = False) -> LockText:
    """`name` is that of the file in messages."""
    lock = LockText()
    lines = text.split("\n")
    numbered = _outside_of_base(lines) if resolve_conflicts else enumerate(lines, 1)
    for number, line in numbered:
        if not line.strip():
            continue
        if line.startswith((_OURS, _BASE, _THEIRS, _END)):
            lock.errors.append(
                f"{name}:{number}: a conflict of git; resolve it by: python -m nereid lock merge {name} -o {name}"
            )
            continue
        try:
            _add(lock, parse_line(line, f"{name}:{number}"))
        except ValueError as error:
            lock.errors.append(str(error))
    return lock


def _read_once(path: str) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "it is no plain file")
        if status.st_size > _MAX_BYTES:
            raise OSError(0, f"it has more than {_MAX_BYTES >> 20} MiB")
        return file.read()


def read_bytes(path: str) -> bytes | None:
    """The file's bytes; None where there is none. OSError where it cannot be read, or is no plain file."""
    return retry_stale(lambda: _read_once(path))


def read(path: str, resolve_conflicts: bool = False) -> LockText:
    """The decisions of a file; none where it is missing."""
    try:
        content = read_bytes(path)
    except OSError as error:
        return LockText(errors=[f"{path}: cannot be read: {error.strerror}"])
    if content is None:
        return LockText()
    return parse(content.decode("utf-8", errors="replace"), path, resolve_conflicts)
