"""Patches other packages when they are imported; they are neither imported nor changed before.
docs/why/xla.md describes the patches; TRITON_XLA_COMPAT=0 disables them.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

# Module -> the function of this package that is called with it once it has been executed.
_AFTER = {
    "jax_triton.triton_lib": ("triton.jax.jax_triton", "complete"),
    "jax": ("triton.xla.jax_targets", "register_all"),
}
# Module -> the file of this package that is executed in its place, whether or not the package has its own.
_INSTEAD = {"torch_xla.experimental.triton": "torch_xla_experimental.py"}


class _Watcher:
    """Finds modules of this package that replace others. For modules to be patched it uses the
    other finders, and wraps the loader.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> Any:
        if name in _INSTEAD:
            return _spec_of_ours(name)
        if name not in _AFTER:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        for finder in others:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                break
        else:
            return None
        _call_after(spec.loader)
        return spec


def _spec_of_ours(name: str) -> Any:
    from . import knobs

    if not knobs.xla.compat:
        return None
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "xla")
    return importlib.util.spec_from_file_location(name, os.path.join(folder, _INSTEAD[name]))


def _call_after(loader: Any) -> None:
    """Calls `_complete` after the loader has executed its module; a loader belongs to one module.
    """
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        _complete(module)

    loader.exec_module = exec_module


class _Package(ModuleType):
    """A package one of whose modules is being executed: the attribute assignment at its end is the
    notification.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if f"{self.__name__}.{name}" in _AFTER:
            self.__class__ = ModuleType
            _complete(value)


def _complete(module: ModuleType) -> None:
    from . import knobs

    if knobs.xla.compat:
        where, function = _AFTER[module.__name__]
        getattr(importlib.import_module(where), function)(module)


def _catch_up(name: str) -> None:
    """Patches a module that was imported earlier, or that is being imported now."""
    package, _, own_name = name.rpartition(".")
    if name not in sys.modules:
        return
    if not package:
        if not getattr(sys.modules[name].__spec__, "_initializing", False):
            _complete(sys.modules[name])
        return
    if own_name in vars(sys.modules[package]):
        _complete(sys.modules[name])
    else:
        sys.modules[package].__class__ = _Package


def watch_imports() -> None:
    if any(isinstance(finder, _Watcher) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _Watcher())
    for name in _AFTER:
        _catch_up(name)
