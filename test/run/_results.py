"""Writes the arrays that launches of run-tests leave, so that two devices can be compared bit for bit.

`--record FOLDER` makes NAME.jsonl there, a line for each array and for each test's outcome, and NAME.bin, the bytes.
test/scripts/compare_devices.py reads them.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

LARGEST = 1 << 20  # bytes of an array that are kept; of larger ones only the hash

# Instructions whose results the ISA leaves open in the last bits, or in the order of sums.
INEXACT = {
    "approximation": r"\b(?:ex2|lg2|sin|cos|tanh|rcp|rsqrt|sqrt|div)\.(?:approx|full)",
    "wgmma": r"\bwgmma\.mma_async",
    "mma": r"\bmma(?:\.sp\S*)?\.sync\S*\.(?:f16|f32)\.",
    "atomic sum": r"\b(?:atom|red)\.\S*add\S*\.(?:f|bf)",
}


class Results:
    """What the tests of one process have left; nothing is written before `open`."""

    def __init__(self) -> None:
        self.lines = self.bytes = None
        self.test, self.launches, self.offset = "", 0, 0

    def open(self, folder: str, name: str) -> None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        self.lines = open(Path(folder, f"{name}.jsonl"), "w", encoding="utf-8")
        # Unbuffered: a forked child that ends would write what its parent has not yet.
        self.bytes = open(Path(folder, f"{name}.bin"), "wb", buffering=0)

    def begin(self, test: str) -> None:
        self.test, self.launches = test, 0

    def end(self, outcome: str) -> None:
        if self.lines:
            self._write(dict(test=self.test, outcome=outcome))

    def launched(self, kernel: Any, args: Any, named: dict[str, Any]) -> None:
        """Records the arrays after a launch that returned `kernel`."""
        if not self.lines:
            return
        ptx = getattr(kernel, "asm", {}).get("ptx", "")
        about = dict(
            test=self.test,
            launch=self.launches,
            code=_hash(_instructions_of(ptx).encode()),
            inexact=[name for name, form in INEXACT.items() if re.search(form, ptx)],
        )
        self.launches += 1
        for path, value in _arrays([*args, *named.values()]):
            array = np.ascontiguousarray(getattr(value, "bits", value))
            data = array.tobytes()
            line = dict(about, array=path, dtype=str(value.dtype), hash=_hash(data))
            if len(data) <= LARGEST:
                packed = zlib.compress(data, 1)
                line.update(offset=self.offset, size=len(packed))
                self.bytes.write(packed)
                self.offset += len(packed)
            self._write(line)

    def _write(self, line: dict[str, Any]) -> None:
        self.lines.write(json.dumps(line) + "\n")
        self.lines.flush()


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:24]


def _instructions_of(ptx: str) -> str:
    """The PTX without its header, comments and debug information."""
    text = re.sub(r"//.*", "", ptx.partition("// -- Begin function")[2] or ptx)
    kept = re.sub(r"^\s*\.(?:loc|file|version|target|section)\b.*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\s+", " ", kept)


def _arrays(values: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for index, value in enumerate(values):
        path = f"{prefix}{index}"
        if isinstance(value, np.ndarray) or hasattr(value, "bits"):
            yield path, value
        elif isinstance(value, (tuple, list)):
            yield from _arrays(value, path + ".")
        elif hasattr(value, "arrays"):
            yield from _arrays(value.arrays, path + ".")
        elif hasattr(type(value), "__aggregate_fields__"):
            fields = type(value).__aggregate_fields__
            yield from _arrays([getattr(value, name) for name in fields], path + ".")
        elif dataclasses.is_dataclass(value):
            yield from _arrays(vars(value).values(), path + ".")


RESULTS = Results()
