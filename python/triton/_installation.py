"""The version of Nereid that this package belongs to; registers the finder where no .pth file did."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType


def _load(folder: str) -> ModuleType:
    """`nereid_triton`, where PYTHONPATH names only the folder inside it."""
    spec = importlib.util.spec_from_file_location(
        "nereid_triton", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["nereid_triton"] = module
    spec.loader.exec_module(module)
    return module


def _finder() -> ModuleType:
    try:
        import nereid_triton
    except ModuleNotFoundError:
        return _load(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return nereid_triton


_finder_module = _finder()
_finder_module.register(_finder_module.FOLDER)  # without effect after the .pth file's line
nereid_version: str = _finder_module.__version__
