"""Calls a function with a module of another package as soon as that has been imported."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

_waiting: dict[str, Callable[[ModuleType], Any]] = {}


class _Finder:
    """Finds the modules waited for by the other finders, and wraps their loaders."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> Any:
        if name not in _waiting:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    _call_after(spec.loader, name)
                return spec
        return None


def _call_after(loader: Any, name: str) -> None:
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        action = _waiting.pop(name, None)
        if action is not None:
            action(module)

    loader.exec_module = exec_module


def after_import(name: str, action: Callable[[ModuleType], Any]) -> None:
    """Calls `action(module)`: now, if the module is imported, else once it has been. A later call for a
    module that is not imported yet replaces an earlier one.
    """
    if name in sys.modules:
        _waiting.pop(name, None)
        action(sys.modules[name])
        return
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())  # type: ignore[arg-type]
    _waiting[name] = action
