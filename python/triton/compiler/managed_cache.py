"""Compiled kernels in the cache of the user's choice: `knobs.cache.manager_class`."""

# SPDX-License-Identifier: MIT
#
# A kernel is a group of files, as other tools expect: `<name>.json` lists the group, one file per stage, and one with
# the artifact, from which the kernel is loaded.
from __future__ import annotations

import json
from typing import Any

from ..runtime.cache import failures_warn, get_cache_manager, read_own_file

ARTIFACT = "nereid"
_MAX_NAME = 150  # of a file, without suffixes


class ManagedKernel:
    """One kernel's files. The compiler passes the key at the first call."""

    def __init__(self, src: Any):
        self.name = src.name[:_MAX_NAME]
        self.group: dict[str, str] = {}

    def find(self, key: str) -> bytes | None:
        """The artifact under that key, where the cache has it."""
        with failures_warn():
            group = get_cache_manager(key).get_group(f"{self.name}.json") or {}
            path = group.get(f"{self.name}.{ARTIFACT}")
            if path is not None:
                self.group = group
                return read_own_file(path)
        return None

    def store(self, code: Any, binary: str, metadata: dict[str, Any]) -> None:
        files = {ARTIFACT: code.artifact, binary: code.stage(binary)}
        files["ttir"] = code.stage("ttir")
        if "ptx" in code.stages():
            files["ptx"] = code.stage("ptx")
        files["json"] = json.dumps(metadata, default=vars, skipkeys=True)
        self.group = {}
        with failures_warn():
            manager = get_cache_manager(code.hash)
            group = {}
            for suffix, content in files.items():
                name = f"{self.name}.{suffix}"
                group[name] = manager.put(content, name, binary=isinstance(content, bytes))
            manager.put_group(f"{self.name}.json", group)
            self.group = group
