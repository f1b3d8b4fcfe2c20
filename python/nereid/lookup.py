"""Where `triton` is found, and what `importlib.metadata` says of it: what the finder of nereid_triton asks
for once a program imports `triton` or reads metadata.
"""

# SPDX-License-Identifier: MIT
#
# docs/why/beside-triton.md tells the order in which a Triton wins.
from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from typing import Any

from nereid_triton import FOLDER, switched_off, withdraw


def _index(folder: str) -> int | None:
    """The place of a folder in `sys.path`, however it is spelt there."""
    if folder in sys.path:
        return sys.path.index(folder)
    real = os.path.realpath(folder)
    for at, entry in enumerate(sys.path):
        if isinstance(entry, str) and entry and os.path.realpath(entry) == real:
            return at
    return None


def _package(entries: Sequence[str]) -> Any:
    """The spec of a `triton` in these folders; not that of a folder without __init__.py."""
    spec = PathFinder.find_spec("triton", entries)
    return spec if spec is not None and spec.loader is not None else None


def find_triton(home: str) -> Any:
    """The spec of Nereid's package, or of an earlier one; None leaves it to other finders."""
    if switched_off():
        withdraw()
        return None
    at = _index(home)
    if at is None:  # an isolated build, say, has removed the folder
        return None
    return _package(sys.path[:at]) or _package([FOLDER])


def _is_ours(spec: Any) -> bool:
    ours = os.path.join(FOLDER, "triton", "__init__.py")
    return spec is not None and os.path.realpath(spec.origin) == os.path.realpath(ours)


def find_metadata(home: str, context: Any) -> Sequence[Any]:
    """The metadata of `triton` for who asks about this process. Who names folders, as pip does, is told
    what is installed there.
    """
    given = vars(context) if context is not None else {}
    name = given.get("name")
    if "path" in given or (name is not None and name.lower() != "triton"):
        return ()
    if switched_off() or not _is_ours(find_triton(home)):  # only an import changes `sys.path`
        return ()
    from .metadata import of_triton

    return of_triton()
