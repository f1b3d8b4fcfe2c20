"""Packs: files of kernels from which launches, and other compilations, take what they need."""

# SPDX-License-Identifier: MIT
#
# A pack is looked at before the disk cache (docs/pack-format.md has the format and the keys).
from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from typing import Any

from ... import knobs
from ..._C import libtriton
from ..errors import TritonError


class PackError(TritonError, ValueError):
    """A file is no pack that can be used."""


def version() -> str:
    """What packs name as their producer."""
    from ..._installation import nereid_version

    return str(nereid_version)


class Pack:
    """An open pack, a sequence of its entries: dictionaries of texts, and the size in bytes. They are made where they
    are asked for.
    """

    def __init__(self, native: Any):
        self._native = native

    @functools.cached_property
    def entries(self) -> list[dict[str, Any]]:
        return list(self)

    @property
    def path(self) -> str:
        """The file."""
        return str(self._native.path)

    @property
    def lock(self) -> str:
        """The text of the lock file that it contains; empty where it has none."""
        return str(self._native.lock)

    @property
    def is_signed(self) -> bool:
        return bool(self._native.is_signed)

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self._native.entry(range(len(self))[index])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(self._native.entry, range(len(self)))

    def __repr__(self) -> str:
        return f"<Pack {self.path}: {len(self)} kernels for {', '.join(self.targets())}>"

    def targets(self) -> list[str]:
        return sorted(self._native.targets)

    def records(self) -> list[str]:
        """The lines of records that its kernels were made from, each once."""
        return list(self._native.records)

    def artifact(self, index: int) -> bytes:
        """The artifact of an entry, as `nereid compile --emit artifact` writes it."""
        return bytes(self._native.artifact(index))

    def close(self) -> None:
        """Compilations no longer look in it; kernels that came from it stay."""
        self._native.withdraw()
        with _lock:
            _served[:] = [pack for pack in _served if pack is not self]

    def preload(self) -> list[Any]:
        """Loads the kernels for the current device, and returns them: their first launches then neither
        read the pack nor load code. Kernels whose modules cannot be imported are left out.
        """
        from .packed_variants import preload

        return preload(self)


_served: list[Pack] = []
_lock = threading.RLock()
os.register_at_fork(after_in_child=_lock._at_fork_reinit)  # type: ignore[attr-defined]


def served() -> list[Pack]:
    """The packs that serve this process, in the order in which they are looked at."""
    return list(_served)


def open_pack(path: str | os.PathLike[str], verify: str | None = None) -> Pack:
    """Opens a pack without serving from it; PackError says what is wrong with the file."""
    try:
        native = libtriton.open_pack(os.path.abspath(os.fspath(path)), verify or "")
    except ValueError as error:
        raise PackError(str(error)) from None
    if native.producer != version():
        raise PackError(
            f"{native.path}: the pack was written by Nereid {native.producer}, and this is {version()}: "
            "pack the kernels again [pack-version]"
        )
    return Pack(native)


def load_pack(
    path: str | os.PathLike[str], verify: str | None = None, preload: bool = False
) -> Pack:
    """Opens a pack from which this process then takes kernels.

    `verify` is the public key (64 hexadecimal digits) that must have signed it. `preload` also readies its
    kernels for launches on the current device. Raises PackError where the file is damaged, of another version or not
    signed as wanted, and OSError where it cannot be read.
    """
    pack = open_pack(path, verify)
    pack._native.serve()
    with _lock:
        _served.append(pack)
    if preload:
        pack.preload()
    return pack


_configured: tuple[str, list[Pack]] = "", []


def use_configured() -> None:
    """Serves from the packs that TRITON_PACKS names now, and from no others that it has named before. One that cannot be used is an error under TRITON_JIT=forbid,
    else a warning.
    """
    global _configured
    wanted = knobs.cache.packs or ""
    if wanted == _configured[0]:
        return
    with _lock:
        if wanted == _configured[0]:
            return
        for pack in _configured[1]:
            pack.close()
        packs: list[Pack] = []
        _configured = wanted, packs
        for path in filter(None, wanted.split(os.pathsep)):
            _use(path, packs)


def _use(path: str, packs: list[Pack]) -> None:
    from ..._warnings import warn_once

    global _configured
    try:
        packs.append(load_pack(path, knobs.cache.pack_key))
    except (PackError, OSError) as error:
        if knobs.runtime.jit == "forbid":
            _configured = "", packs  # the next compilation says it again
            raise
        warn_once(f"TRITON_PACKS: {error}; kernels are compiled instead")
