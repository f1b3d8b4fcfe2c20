"""The kernels of packs as variants of functions: for messages, and to load them before they are launched."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
from typing import Any

from . import packs, variant_record
from .jit_hooks import decode_specialization
from .jit_policy import NotCached, cached_only
from .recorded_kernels import function_of
from .variants import Variant


def variants_of(function: Any) -> list[Variant]:
    """Those of a function that packs have, for any target."""
    from ..backends import GPUTarget
    from ..compiler import make_backend

    name = f"{function.module}:{function.__qualname__}"
    found = []
    for record in packs.records():
        if record["kernel"] != name:
            continue
        target = GPUTarget(**record["specialization"]["target"])
        text = json.dumps(record["specialization"])
        key, signature, constants, attrs, options = decode_specialization(function, text, target)
        parsed = make_backend(target).parse_options(options)
        found.append(
            Variant(function, signature, constants, attrs, parsed, target, record["abi"], key)
        )
    return found


def preload(pack: packs.Pack) -> list[Any]:
    """Loads a pack's kernels for the current device; those whose modules cannot be imported are left out."""
    from .driver import driver

    target = driver.active.get_current_target()
    device = driver.active.get_current_device()
    kernels = []
    for index, entry in enumerate(pack.entries, 1):
        if not entry["record"] or entry["target"].partition(":")[0] != target.backend:
            continue
        try:
            line = variant_record.entry_of(entry["record"], f"{pack.path}, entry {index}")
            text = json.dumps({**line.specialization, "target": target.__dict__})
            kernel = _cached(function_of(line), text)
        except (variant_record.RecordError, RuntimeError):
            continue
        if kernel is not None:
            kernel._init_handles(device)
            kernels.append(kernel)
    return kernels


def _cached(function: Any, specialization: str) -> Any:
    """The kernel; None where it would be compiled, since the entry is for another GPU."""
    try:
        with cached_only():
            return function.preload(specialization)
    except NotCached:
        return None
