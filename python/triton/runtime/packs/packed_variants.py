"""The kernels of packs as variants of functions: for messages, and to load them before they are launched."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .. import packs
from ..variants import variant_record
from ..variants.jit_policy import cached_only
from ..variants.recorded_kernels import variant_of
from ..variants.variant import Variant


def variants_of(function: Any) -> list[Variant]:
    """Those of a function that packs have, for any target."""
    name = f"{function.module}:{function.__qualname__}"
    found = []
    for pack in packs.served():
        for line in _lines(pack):
            if line.kernel == name:
                with contextlib.suppress(
                    variant_record.RecordError
                ):  # of another text of the function
                    found.append(variant_of(line))
    return found


def preload(pack: packs.Pack) -> list[Any]:
    """Readies a pack's kernels for launches on the current device; those whose modules cannot be imported, and those
    of other devices, are left out.
    """
    from .preloading import ready

    with cached_only():
        return ready(_lines(pack))[0]


def _lines(pack: packs.Pack) -> Iterator[variant_record.Entry]:
    """The records of the entries, those for several targets once."""
    for text in pack.records():
        with contextlib.suppress(variant_record.RecordError):
            yield variant_record.entry_of(text, pack.path)
