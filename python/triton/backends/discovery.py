"""Backends that installed packages add by the entry point group `triton.backends`."""

# SPDX-License-Identifier: MIT
#
# importlib.metadata takes 30 ms to import, which a launch should not wait for where no package has such an entry
# point: the files that list them are searched for the group's name first.
from __future__ import annotations

import os
import sys
from collections.abc import Container, Iterator
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import Backend

_GROUP = "triton.backends"


def _entry_point_files() -> Iterator[str]:
    for folder in sys.path:
        try:
            names = [entry.name for entry in os.scandir(folder or ".")]
        except OSError:  # a missing folder, or an archive
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                yield os.path.join(folder, name, "entry_points.txt")


def _some_package_has_entry_points() -> bool:
    for path in _entry_point_files():
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                if _GROUP in file.read():
                    return True
        except OSError:  # most packages have no such file
            continue
    return False


def installed_backends(own: Container[str]) -> dict[str, Backend]:
    """By the name of the entry point, whose value is a package with the modules `compiler` and
    `driver`. Names in `own` are skipped: a Triton beside this package declares its own.
    """
    from . import Backend

    if not _some_package_has_entry_points():
        return {}
    from importlib.metadata import entry_points

    return {
        entry.name: Backend(f"{entry.value}.compiler:", f"{entry.value}.driver:")
        for entry in entry_points(group=_GROUP)
        if entry.name not in own
    }


def only_subclass(module: ModuleType, base: type) -> type:
    """The one class of a module that completes `base`."""
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, base) and value is not base
    ]
    # Abstract ones are imported bases, or lack a member.
    missing = {cls: sorted(getattr(cls, "__abstractmethods__", ())) for cls in classes}
    compilers = [cls for cls in classes if not missing[cls]]
    compilers = [cls for cls in compilers if cls.__module__ == module.__name__] or compilers
    if len(compilers) != 1:
        lacks = [
            f"{cls.__name__} lacks {', '.join(missing[cls])}" for cls in classes if missing[cls]
        ]
        raise RuntimeError(
            f"{module.__name__} must have one class that completes {base.__name__}, "
            f"found {len(compilers)}{''.join('; ' + text for text in lacks if not compilers)}"
        )
    return compilers[0]
