"""Stages as files that a user reads and replaces: `TRITON_KERNEL_DUMP`, `TRITON_KERNEL_OVERRIDE`."""

# SPDX-License-Identifier: MIT
#
# A kernel's files are `<folder of the setting>/<key>/<kernel>.<stage>`. Both settings have the same key, so that a
# folder that was dumped and edited overrides the kernel that it is from. Options are part of it: variants that differ
# in `num_warps` alone have other layouts in their stages.
from __future__ import annotations

import errno
import hashlib
import json
import os
import types
import warnings
from typing import Any

from .. import knobs
from .._C import libtriton
from ..backends import BaseBackend
from ..runtime.cache import FileCacheManager, failures_warn, get_dump_manager, get_override_manager

_MAX_NAME = 150  # of a file, without suffixes


def key_of(src: Any, backend: BaseBackend, options: Any) -> str:
    """Identifies what is compiled, whatever replaces one of its stages."""
    from .compiler import get_cache_key

    others = {name: value for name, value in vars(options).items() if name != "ir_override"}
    text = get_cache_key(src, backend, types.SimpleNamespace(**others))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def dump(kernel: Any, key: str, metadata: dict[str, Any]) -> None:
    """Writes every stage of a kernel, and its metadata."""
    name = kernel.src.name[:_MAX_NAME]
    text = json.dumps(metadata, default=vars, skipkeys=True)
    with failures_warn(knobs.cache.dump_dir):
        manager = get_dump_manager(key)
        for stage in kernel.asm:
            content = kernel.asm[stage]
            manager.put(content, f"{name}.{stage}", binary=isinstance(content, bytes))
        manager.put(text, f"{name}.json", binary=False)


def find_override(src: Any, key: str, target: str) -> str | None:
    """The path of the user's file that replaces a stage: of several, that of the last stage, since the code is made
    from it. None where there is none.
    """
    manager = get_override_manager(key)
    name = src.name[:_MAX_NAME]
    replaceable = libtriton.replaceable_stages(target)
    latest = None
    for stage in libtriton.stage_names(target):
        path = _file(manager, f"{name}.{stage}")
        if path is None:
            continue
        if stage in replaceable:
            latest = path
        else:
            texts = ", ".join(f"*.{each}" for each in replaceable)
            warnings.warn(
                f"{path} overrides nothing: on target `{target}` a file {texts} replaces a stage",
                stacklevel=4,
            )
    if latest is not None:
        print(f"\nOverriding kernel with file {latest}")
    return latest


def _file(manager: Any, name: str) -> str | None:
    path: str | None = manager.get_file(name)
    if path is not None or not isinstance(manager, FileCacheManager):
        return path
    refused = os.path.join(manager.cache_dir, name)
    if not os.path.lexists(refused):
        return None
    if os.path.isdir(refused):
        raise IsADirectoryError(errno.EISDIR, "a folder cannot override a stage", refused)
    raise PermissionError(
        f"{refused} does not override a stage: it is a link, it belongs to another user, or others may write to it; "
        "copy it, or remove the permission by `chmod go-w`"
    )
