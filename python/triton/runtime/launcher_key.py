"""The key of a launcher that other packages compile in C."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import hashlib
from typing import Any

from .cache import _base32


def make_so_cache_key(
    version_hash: Any, signature: dict[Any, str], constants: Any, ids: Any, **kwargs: Any
) -> str:
    """A folder's name; pointers of all types share a launcher."""
    types = "".join("ptr" if kind.startswith("*") else kind for kind in signature.values())
    parts = [version_hash, types, constants, ids, *kwargs.values()]
    return _base32(hashlib.sha256("-".join(map(str, parts)).encode("utf-8")).hexdigest())
