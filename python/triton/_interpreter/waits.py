"""What one program tells of a wait: `while` loops whose iterations change nothing."""

# SPDX-License-Identifier: MIT
#
# docs/why/waiting-programs.md tells when a launch cannot go on.
from __future__ import annotations

import ast
import ctypes
from collections.abc import Iterator
from typing import Any

from ..language.aggregate import is_aggregate
from ..language.values import constexpr
from .protection import active_addresses
from .values import Tensor

# So many equal iterations of a loop mean a wait; after so many of another loop others run.
_EQUAL_ITERATIONS = 16
_ITERATIONS = 256
_REREADS = 64  # of the same address from the same line


# --- The names that decide on the end of a loop ----------------------------------------------------


def _names(node: ast.AST, context: type) -> set[str]:
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, context)
    }


def _stored(node: ast.AST) -> set[str]:
    """Also the objects whose fields it stores."""
    fields = [
        each
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
    ]
    return _names(node, ast.Store).union(*(_names(each, ast.Load) for each in fields))


def _leaves(node: ast.AST) -> bool:
    return any(isinstance(each, (ast.Break, ast.Continue, ast.Return)) for each in ast.walk(node))


def deciding_names(loop: ast.While) -> list[str]:
    """The names that the condition depends on, also by what the body assigns, and those of statements that leave."""
    names, before = _names(loop.test, ast.Load), None
    while names != before:
        before = set(names)
        for statement in loop.body:
            if _leaves(statement) or _stored(statement) & names:
                names |= _names(statement, ast.Load)
    return sorted(names)


# --- What happens ----------------------------------------------------------------------------------


def _state_of(value: Any) -> Any:
    """Equal for equal values."""
    if isinstance(value, Tensor):
        return value.kind, value.handle.raw
    if isinstance(value, tuple):
        return tuple(map(_state_of, value))
    if isinstance(value, constexpr):
        return _state_of(value.value)
    if is_aggregate(type(value)):
        return tuple((name, _state_of(field)) for name, field in vars(value).items())
    return value if isinstance(value, (int, float, bool, str)) else id(value)


def contents(pointer: Tensor, mask: Any) -> list[bytes]:
    """The memory that a pointer or a tile of pointers names."""
    size = max(1, pointer.dtype.element_ty.primitive_bitwidth // 8)
    return [ctypes.string_at(address, size) for address in active_addresses(pointer, mask)]


class _Loop:
    """A `while` that a program is in."""

    def __init__(self) -> None:
        self.state: Any = None
        self.version = -1
        self.reads = 0
        self.equal = 0  # iterations with the same state, whatever memory is
        self.stalled = 0  # of these, the last ones in which no memory has changed
        self.iterations = 0


class Waits:
    """The loops of one program."""

    def __init__(self) -> None:
        self._loops: dict[Any, _Loop] = {}
        self._read: Any = None  # the line and the addresses of the last read
        self._reads = self._rereads = 0

    def enter(self, loop: Any) -> None:
        self._loops[loop] = _Loop()

    def leave(self, loop: Any) -> None:
        self._loops.pop(loop, None)

    def read(self, read: Any) -> bool:
        """Whether others are to run."""
        self._rereads = self._rereads + 1 if read == self._read else 0
        self._read = read
        self._reads += 1
        return self._rereads >= _REREADS

    def wrote(self) -> None:
        self._read = None

    def iterate(self, loop: Any, values: Iterator[Any], version: int) -> bool:
        """Notes an iteration; returns whether others are to run."""
        state, at = tuple(map(_state_of, values)), self._loops.setdefault(loop, _Loop())
        reads = self._reads != at.reads
        at.equal = at.equal + 1 if reads and state == at.state else 0
        at.stalled = at.stalled + 1 if at.equal and version == at.version else 0
        at.state, at.version, at.reads = state, version, self._reads
        at.iterations += reads
        return at.equal >= _EQUAL_ITERATIONS or at.iterations % _ITERATIONS == _ITERATIONS - 1

    @property
    def repeats(self) -> bool:
        """Whether it matters if a write changes memory."""
        return any(loop.equal for loop in self._loops.values())

    def is_stalled(self, version: int) -> bool:
        """Whether the program goes on only if others change the memory."""
        return any(
            loop.stalled >= _EQUAL_ITERATIONS and loop.version == version
            for loop in self._loops.values()
        )
