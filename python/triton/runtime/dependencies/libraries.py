"""Which packages count by their version and not by their text."""

# SPDX-License-Identifier: MIT
#
# The host functions of an installed package are many (a call into SymPy reaches tens of thousands of lines), their
# state differs between processes, and they change with the version. So does not a file that is edited in place: the
# text of the file where the named function is counts as well. Packages that hold kernels are read like the user's own.
from __future__ import annotations

import functools
import os
import sys
from typing import Any

# These count by their version alone, wherever they lie.
_BY_VERSION = frozenset(["numpy", "torch", "jax", "jaxlib", "scipy"])
_OWN = sys.stdlib_module_names | {"triton"}  # their version is part of every key

_FOLDERS = ("site-packages", "dist-packages")


def package_of(module: Any) -> str:
    return module.partition(".")[0] if isinstance(module, str) else ""


@functools.cache
def _version(package: str) -> str:
    import importlib.metadata

    version = getattr(sys.modules.get(package), "__version__", None)
    if isinstance(version, str):
        return version
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:  # the distribution has another name
        return ""


@functools.cache
def is_installed(path: Any) -> bool:
    """Whether a file is part of an installed distribution; one of an editable install is not."""
    return isinstance(path, str) and any(
        folder in os.path.normpath(path).split(os.sep) for folder in _FOLDERS
    )


@functools.cache
def _file_digest(path: str, size: int, modified: int) -> str:
    import hashlib

    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def _file_text(path: str) -> str:
    try:
        state = os.stat(path)
        return _file_digest(path, state.st_size, state.st_mtime_ns)
    except OSError:  # such as a package in an archive
        return ""


def installed_text(module: str, path: str) -> str:
    package = package_of(module)
    return f"{package} {_version(package)} {_file_text(path)}"


def library_text(module: Any) -> str | None:
    """What stands for a library's module in a key: "" for Python's and this package's own; None for a
    user's module.
    """
    package = package_of(module)
    if package in _OWN:
        return ""
    if package in _BY_VERSION:
        return f"{package} {_version(package)}"
    path = getattr(sys.modules.get(module), "__file__", None) if package else None
    return installed_text(module, path) if is_installed(path) else None


def is_well_known(module: Any) -> bool:
    """Whether no package of this name is ever read, even if it holds kernels."""
    return package_of(module) in _OWN | _BY_VERSION
