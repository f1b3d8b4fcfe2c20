"""Makes `import triton` find Nereid's package beside an installed Triton; a line of nereid_triton.pth
calls `register` when Python starts.

`nereid_triton.__version__` is Nereid's version, `nereid_triton.path()` the folder that holds `triton`.
"""

# SPDX-License-Identifier: MIT
#
# Python runs this file at every start, and compiles it first where no bytecode is kept: it is short, and imports
# nothing but os and sys, which are loaded by then. What is done about `triton` waits in nereid/lookup.py.
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
# A wheel holds the packages in this folder, the build tree beside it.
FOLDER = _HERE if os.path.isdir(os.path.join(_HERE, "triton")) else os.path.dirname(_HERE)
__path__ = [FOLDER]


def path() -> str:
    """The folder that holds `triton`, for PYTHONPATH."""
    return FOLDER


def switched_off() -> str | None:
    """What switches Nereid off: "NEREID" in the environment, else "nereid off", else None."""
    word = os.environ.get("NEREID", "").strip().lower()
    if word:
        return "NEREID" if word in ("0", "off", "false", "no") else None
    try:
        with open(os.path.join(_HERE, "switch"), encoding="utf-8") as file:
            return "nereid off" if file.read().strip() == "off" else None
    except OSError:
        return None


def _is_package_folder(entry: object) -> bool:
    """Whether this entry of `sys.path` holds a `triton` of Nereid: this one's, or that of another installation."""
    return entry == FOLDER or (
        isinstance(entry, str) and os.path.basename(entry) == "nereid_triton"
    )


def withdraw() -> None:
    """Removes Nereid's folders from `sys.path`; those that PYTHONPATH names, only for NEREID=0."""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    kept = () if switched_off() == "NEREID" else named
    sys.path[:] = [entry for entry in sys.path if entry in kept or not _is_package_folder(entry)]


class Finder:
    """Answers for `triton` as if it were a package of the folder `home`, before any other there."""

    def __init__(self, home: str) -> None:
        self.home = home

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        if name != "triton":
            return None
        from .nereid.lookup import find_triton

        return find_triton(self.home)

    def find_distributions(self, context: "Any" = None) -> "Iterator[Any]":
        from .nereid.lookup import find_metadata

        return iter(find_metadata(self.home, context))


def _precede(home: str) -> None:
    """Moves the folder in front of `home` on `sys.path`: import hooks that come before the finder, as
    pytest's and typeguard's do, look there.
    """
    if home != FOLDER and home in sys.path and FOLDER in sys.path[sys.path.index(home) :]:
        sys.path.remove(FOLDER)
        sys.path.insert(sys.path.index(home), FOLDER)


def _is_finder(entry: object) -> bool:
    """Whether it is a Finder, of an earlier import of this module too."""
    kind = type(entry)
    return kind.__name__ == Finder.__name__ and kind.__module__ == __name__


def register(home: str | None = None) -> None:
    """Adds the finder, once. `home`: the entry of `sys.path` whose place Nereid's package takes."""
    off = switched_off()
    if off:  # also where the .pth file of another installation has just added its folder
        withdraw()
    if any(map(_is_finder, sys.meta_path)):
        return
    home = home or os.path.dirname(_HERE)
    sys.meta_path.insert(0, Finder(home))  # type: ignore[arg-type]
    if not off:
        _precede(home)


def __getattr__(name: str) -> "Any":
    if name == "__version__":
        from .nereid import __version__

        return __version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
