"""The kernels of packs as variants of functions: for messages, and to load them before they are launched."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from . import packs, variant_record
from .jit_policy import NotCached, cached_only
from .recorded_kernels import variant_of
from .variants import Variant


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
    """Loads a pack's kernels for the current device; those whose modules cannot be imported are left out."""
    from .driver import driver

    target = driver.active.get_current_target()
    kernels = []
    for line in _lines(pack):
        try:
            variant = variant_of(line, target)
        except (variant_record.RecordError, ValueError):  # an option that this target does not have
            continue
        table = variant.function._caches_for(driver.active)[0]
        if variant.key and variant.key not in table and (kernel := _cached(variant)) is not None:
            kernel._init_handles(driver.active.get_current_device())
            table[variant.key] = kernel
            kernels.append(kernel)
    return kernels


def _lines(pack: packs.Pack) -> Iterator[variant_record.Entry]:
    """The records of the entries, those for several targets once."""
    texts = dict.fromkeys(entry["record"] for entry in pack.entries if entry["record"])
    for text in texts:
        with contextlib.suppress(variant_record.RecordError):
            yield variant_record.entry_of(text, pack.path)


def _cached(variant: Variant) -> Any:
    """The kernel; None where it would be compiled, since the entry is for another GPU."""
    try:
        with cached_only():
            return variant.compile()
    except NotCached:
        return None
