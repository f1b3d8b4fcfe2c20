"""Completes other packages when they are imported; they are neither imported nor changed before."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

# Module -> the function of ours that is called with it once it has been executed.
_AFTER = {"jax_triton.triton_lib": ("triton.jax.jax_triton", "complete")}


class _Watcher:
    """A finder that finds nothing by itself: it asks the others, and has a word with the loader."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> Any:
        if name not in _AFTER:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        for finder in others:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                break
        else:
            return None
        _call_after(spec.loader, *_AFTER[name])
        return spec


def _call_after(loader: Any, module_name: str, function: str) -> None:
    """A loader belongs to one module."""
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        from . import knobs

        if knobs.xla.compat:
            getattr(importlib.import_module(module_name), function)(module)

    loader.exec_module = exec_module


def watch_imports() -> None:
    if not any(isinstance(finder, _Watcher) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watcher())
