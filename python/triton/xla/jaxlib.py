"""Converts kernels to the form that a version of jaxlib can launch."""

# SPDX-License-Identifier: MIT
#
# jaxlib passes the kernel's parameters and, from 0.8.0 on, two pointers to scratch memory, which is the convention of
# all PTX of this package.
from __future__ import annotations

import re
from typing import Any

_FIRST = (0, 8, 0)  # earlier versions pass one pointer or none
_FIRST_WITH_CTAS = (0, 8, 2)  # earlier versions have a cluster of three extents
_LAST_WITHOUT_SCRATCH = (0, 11, 0)  # its scratch pointers are null


def parse_version(text: str) -> tuple[int, int, int]:
    match = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    if match is None:
        raise ValueError(f"{text!r} is no version of jaxlib; write 0.11.2, for example")
    return int(match[1]), int(match[2]), int(match[3] or 0)


def fill_for_jaxlib(code: Any, compiled: Any, version: str) -> None:
    """Fills the fields of a payload's kernel that jaxlib of that version reads."""
    parsed = parse_version(version)
    if parsed < _FIRST:
        raise ValueError(
            f"jaxlib {version} launches kernels without the two scratch pointers that the PTX takes; "
            "0.8.0 is the first that passes them: use the handlers of triton.xla instead"
        )
    metadata = compiled.metadata
    code.num_warps = metadata.num_warps
    code.shared = metadata.shared
    code.ptx = compiled.asm["ptx"]
    code.ttir = compiled.asm["ttir"]
    code.compute_capability = int(re.sub(r"\D", "", str(metadata.target.arch)))
    if parsed < _FIRST_WITH_CTAS:
        code.cluster_dims = tuple(metadata.cluster_dims)
    else:
        code.num_ctas = metadata.num_ctas
    if metadata.global_scratch_size == 0:
        return
    if parsed <= _LAST_WITHOUT_SCRATCH:
        raise ValueError(
            f"kernel {compiled.name} needs {metadata.global_scratch_size} bytes of scratch memory "
            f"for each block, and jaxlib {version} gives none; 0.11.2 does, and the handlers of "
            "triton.xla do"
        )
    code.scratch = (metadata.global_scratch_size, metadata.global_scratch_align)
