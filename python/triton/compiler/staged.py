"""Compiles a kernel by the stages of another package's backend, and keeps the results in the cache."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from typing import Any

from .. import knobs
from .._C import libtriton
from ..backends import BaseBackend, GPUTarget
from ..backends.staged import StagedCode
from ..runtime.cache import failures_warn, get_cache_manager, read_own_file
from ..runtime.variants.jit_policy import check_compilation

Stage = Callable[[Any, dict[str, Any]], Any]


def compile_by_stages(
    src: Any, target: GPUTarget, backend: BaseBackend, options: Any, stages: dict[str, Stage]
) -> StagedCode:
    from .compiler import get_cache_key

    text = f"{get_cache_key(src, backend, options)}-{sorted(stages)}"
    key = hashlib.sha256(text.encode("utf-8")).hexdigest()
    files, metadata, times = {}, None, {}
    if not knobs.compilation.always_compile:
        files, metadata = _find(key, src.name)
    is_hit = metadata is not None
    if metadata is None:
        check_compilation(src, target, options)
        metadata = {"shared": 0}
        files = _run(src, target, backend, options, stages, metadata, times)
        _store(key, src.name, files, metadata)
    if backend.binary_ext not in files:
        raise RuntimeError(
            f"{type(backend).__name__} has no stage {backend.binary_ext!r}, its binary_ext; its "
            f"stages are {', '.join(stages)}"
        )
    return StagedCode(
        key, files, metadata, backend.binary_ext, target.device_type, times, cache_hit=is_hit
    )


def _run(
    src: Any,
    target: GPUTarget,
    backend: BaseBackend,
    options: Any,
    stages: dict[str, Stage],
    metadata: dict[str, Any],
    times: dict[str, float],
) -> dict[str, Any]:
    """The result of each stage; the first gets the module of the front end, or of the user's file."""
    names = list(stages)
    if src.ext not in names:
        raise ValueError(
            f"{type(backend).__name__} compiles from {', '.join(names)}, not from .{src.ext}"
        )
    first = names.index(src.ext)
    if src.fn is None:  # a file is the result of that stage
        first += 1
    context = libtriton.ir.context()
    libtriton.ir.load_dialects(context)
    backend.load_dialects(context)
    result = src.make_ir(
        target,
        options,
        backend.get_codegen_implementation(options),
        backend.get_module_map(),
        context,
    )
    metadata["name"] = result.get_entry_func_name()
    files = {}
    for name in names[first:]:
        start = time.perf_counter()
        result = stages[name](result, metadata)
        times[name] = (time.perf_counter() - start) * 1e6
        files[name] = result if isinstance(result, bytes) else str(result)
    return files


def _find(key: str, name: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Files and metadata of an earlier compilation; no metadata where there is none."""
    group: dict[str, str] = {}
    with failures_warn():
        group = get_cache_manager(key).get_group(f"{name}.json") or {}
    described = group.get(f"{name}.json")
    if described is None:
        return {}, None
    try:
        stored = json.loads(read_own_file(described) or b"")
        files = {}
        for stage, is_binary in stored["stages"].items():
            data = read_own_file(group[f"{name}.{stage}"])
            if data is None:  # another process has cleared the cache
                return {}, None
            files[stage] = data if is_binary else data.decode("utf-8")
        return files, stored["metadata"]
    except (LookupError, ValueError, TypeError, AttributeError):  # a damaged file
        return {}, None


def _store(key: str, name: str, files: dict[str, Any], metadata: dict[str, Any]) -> None:
    described = {
        "metadata": metadata,
        "stages": {stage: isinstance(content, bytes) for stage, content in files.items()},
    }
    with failures_warn():
        manager = get_cache_manager(key)
        group = {
            f"{name}.{stage}": manager.put(
                content, f"{name}.{stage}", binary=isinstance(content, bytes)
            )
            for stage, content in files.items()
        }
        group[f"{name}.json"] = manager.put(json.dumps(described), f"{name}.json", binary=False)
        manager.put_group(f"{name}.json", group)
