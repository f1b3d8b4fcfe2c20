"""Makes `import triton` find Nereid's package beside an installed Triton; a line of nereid_triton.pth
calls `register` when Python starts.

`nereid_triton.__version__` is Nereid's version, `nereid_triton.path()` the folder that holds `triton`.
"""

# SPDX-License-Identifier: MIT
#
# Python runs this file at every start: it imports nothing but os and sys, which are loaded by then, and all that is
# asked of the installation waits for `import triton`. docs/why/beside-triton.md tells the order in which a Triton wins.
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

TRITON_VERSION = "3.9.0"  # what `triton.__version__` says
_HERE = os.path.dirname(os.path.abspath(__file__))
# A wheel holds the packages in this folder, the build tree beside it.
FOLDER = _HERE if os.path.isdir(os.path.join(_HERE, "triton")) else os.path.dirname(_HERE)
__path__ = [FOLDER]
SWITCH = os.path.join(_HERE, "switch")  # `nereid off` writes "off" into it
_OFF_WORDS = ("0", "off", "false", "no")


def path() -> str:
    """The folder that holds `triton`, for PYTHONPATH."""
    return FOLDER


def switched_off() -> str | None:
    """What switches Nereid off: "NEREID" in the environment, else "nereid off", else None."""
    word = os.environ.get("NEREID", "").strip().lower()
    if word:
        return "NEREID" if word in _OFF_WORDS else None
    try:
        with open(SWITCH, encoding="utf-8") as file:
            return "nereid off" if file.read().strip() == "off" else None
    except OSError:
        return None


def _index(folder: str) -> int | None:
    """The place of a folder in `sys.path`, however it is spelt there."""
    if folder in sys.path:
        return sys.path.index(folder)
    real = os.path.realpath(folder)
    for at, entry in enumerate(sys.path):
        if isinstance(entry, str) and entry and os.path.realpath(entry) == real:
            return at
    return None


def _find(name: str, entries: "Sequence[str]") -> "Any":
    """The spec of a package in these folders; not that of a folder without __init__.py."""
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec(name, entries)
    return spec if spec is not None and spec.loader is not None else None


class Finder:
    """Answers for `triton` as if it were a package of the folder `home`, before any other there."""

    def __init__(self, home: str) -> None:
        self.home = home

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        return self._spec() if name == "triton" else None

    def _spec(self) -> "Any":
        """Nereid's package, or an earlier one of `sys.path`; None leaves it to other finders."""
        off = switched_off()
        if off:
            self.withdraw(off)
            return None
        at = _index(self.home)
        if at is None:  # an isolated build, say, has removed the folder
            return None
        return _find("triton", sys.path[:at]) or _find("triton", [FOLDER])

    def withdraw(self, off: str) -> None:
        """Removes the folder from `sys.path`; where PYTHONPATH names it, only for NEREID=0."""
        named = os.environ.get("PYTHONPATH", "").split(os.pathsep) if off != "NEREID" else ()
        if FOLDER not in named:
            sys.path[:] = [entry for entry in sys.path if entry != FOLDER]

    def is_first(self) -> bool:
        spec = self._spec()
        ours = os.path.join(FOLDER, "triton", "__init__.py")
        return spec is not None and os.path.realpath(spec.origin) == os.path.realpath(ours)

    def find_distributions(self, context: "Any" = None) -> "Iterator[Any]":
        """The metadata of `triton` for who asks about this process. Who names folders, as pip does, is
        told what is installed there.
        """
        given = vars(context) if context is not None else {}
        name = given.get("name")
        if "path" in given or (name is not None and name.lower() != "triton"):
            return iter(())
        if not self.is_first():
            return iter(())
        from .nereid.metadata import of_triton

        return iter(of_triton())


def register(home: str | None = None) -> None:
    """Adds the finder, once. `home`: the entry of `sys.path` whose place Nereid's package takes."""
    if any(isinstance(finder, Finder) for finder in sys.meta_path):
        return
    finder = Finder(home or os.path.dirname(_HERE))
    sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
    off = switched_off()
    if off:
        finder.withdraw(off)


def __getattr__(name: str) -> "Any":
    if name == "__version__":
        from .nereid import __version__

        return __version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
