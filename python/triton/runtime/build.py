"""Compiles C and C++ modules at run time, with the user's own compiler."""

# SPDX-License-Identifier: MIT
#
# Nereid itself does not use a C compiler; packages that generate launchers in C do.
# A shared object is loaded only if this user wrote it: the folder of the cache may be one that others write to.
from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import re
import shutil
import stat
import subprocess
import sysconfig
import tempfile
import threading
import warnings
from dataclasses import dataclass
from types import ModuleType

from .. import knobs
from .cache import failures_warn, get_cache_manager, read_own_file

__all__ = [
    "compile_module_from_file",
    "compile_module_from_src",
    "compile_so_from_file",
    "compile_so_from_src",
    "get_cache_manager",
    "knobs",
    "platform_key",
]

_Paths = list[str]

# language -> (environment variable, programs in search order, suffixes)
_LANGUAGES = {
    "c": ("CC", ("gcc", "clang"), (".c",)),
    "c++": ("CXX", ("g++", "clang++"), (".cpp", ".cc", ".cxx")),
}


@functools.lru_cache
def platform_key() -> str:
    """Identifies this kind of machine."""
    import platform

    return ",".join([platform.machine(), platform.system(), *platform.architecture()])


def _find_compiler(language: str) -> str:
    variable, programs, _ = _LANGUAGES[language]
    chosen = (knobs.build.cc if language == "c" else None) or os.environ.get(variable)
    program = chosen or next(filter(None, map(shutil.which, programs)), None)
    if program is None:
        raise RuntimeError(
            f"Failed to find {language.upper()} compiler. Please specify via {variable} environment "
            "variable or set triton.knobs.build.impl."
        )
    return program


def _language_of(path: str) -> str:
    suffix = os.path.splitext(path)[1]
    for language, (_, _, suffixes) in _LANGUAGES.items():
        if suffix in suffixes:
            return language
    raise ValueError(f"Unrecognized file extension: {os.path.basename(path)}")


def _library_flag(library: str) -> str:
    is_file_name = re.search(r"\.so(\.\d+)*$|\.a$", library)
    return f"-l:{library}" if is_file_name else f"-l{library}"


@dataclass(frozen=True)
class _Flags:
    """A caller's additions to the compiler's command."""

    library_dirs: _Paths
    include_dirs: _Paths
    libraries: _Paths
    ccflags: _Paths


def _python_headers() -> str:
    scheme = sysconfig.get_default_scheme()
    # Debian's own scheme adds "local" to the path, which has no headers.
    scheme = "posix_prefix" if scheme == "posix_local" else scheme
    return sysconfig.get_paths(scheme=scheme)["include"]


def _build(
    name: str,
    src: str,
    srcdir: str,
    library_dirs: _Paths,
    include_dirs: _Paths,
    libraries: _Paths,
    ccflags: _Paths | None = None,
    language: str = "c",
) -> str:
    """Compiles the file `src` to a shared object in `srcdir`; returns its path."""
    if knobs.build.impl is not None:
        return knobs.build.impl(name, src, srcdir, library_dirs, include_dirs, libraries)
    target = os.path.join(srcdir, name + str(sysconfig.get_config_var("EXT_SUFFIX")))
    folders = [*include_dirs, srcdir, _python_headers(), *sorted(knobs.build.backend_dirs)]
    command = [
        _find_compiler(language),
        src,
        "-O3",
        "-shared",
        "-fPIC",
        "-Wno-psabi",
        *(["-std=c++17"] if language == "c++" else []),
        "-o",
        target,
        *map(_library_flag, libraries),
        *(f"-L{folder}" for folder in library_dirs),
        *(f"-I{folder}" for folder in folders if folder is not None),
        *(ccflags or []),
    ]
    subprocess.check_call(command, stdout=subprocess.DEVNULL)
    return target


def _load(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise RuntimeError(f"Failed to load newly compiled {name} from {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.lru_cache(maxsize=1)
def _private_folder(pid: int) -> str:
    """A folder of this process, which others cannot enter; it is removed as the process ends."""
    import atexit

    folder = tempfile.mkdtemp(prefix="triton-build-")
    atexit.register(lambda: os.getpid() == pid and shutil.rmtree(folder, ignore_errors=True))
    return folder


def _is_private(path: str) -> bool:
    """Whether nobody but this user or root can put another file at this path."""
    folder = os.path.dirname(os.path.realpath(path))
    while True:
        status = os.stat(folder)
        others_write = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if status.st_uid not in (os.geteuid(), 0) or (
            others_write and not status.st_mode & stat.S_ISVTX
        ):
            return False
        parent = os.path.dirname(folder)
        if parent == folder:
            return True
        folder = parent


def _safe_to_load(path: str, file_name: str, content: bytes) -> str:
    """A path at which exactly these bytes are, whoever may write to the cache's folder: `path`, or a copy."""
    with contextlib.suppress(OSError):
        if path and _is_private(path):
            return path
    folder = os.path.join(_private_folder(os.getpid()), hashlib.sha256(content).hexdigest()[:32])
    copy = os.path.join(folder, file_name)
    if not os.path.exists(copy):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        partial = f"{copy}.{threading.get_ident()}"
        with open(partial, "wb") as file:
            file.write(content)
        os.replace(partial, copy)
    return copy


def _loads(name: str, path: str) -> bool:
    """Whether a cached file can still be loaded: the Python version may have changed."""
    try:
        _load(name, path)
    except (RuntimeError, ImportError):
        warnings.warn(
            f"the cached module {path} could not be loaded; it is compiled anew", stacklevel=4
        )
        return False
    return True


def _cached_so(
    source: bytes, path: str | None, name: str, flags: _Flags, language: str, is_module: bool
) -> str:
    """The path of the shared object of a source text, read from the file `path` if there is one."""
    if language not in _LANGUAGES:
        raise ValueError(f"language is {language!r}; it must be one of {', '.join(_LANGUAGES)}")
    parts = [source, platform_key().encode(), language.encode(), repr(flags).encode()]
    manager = get_cache_manager(hashlib.sha256(b"\0".join(parts)).hexdigest())
    file_name = name + str(sysconfig.get_config_var("EXT_SUFFIX"))
    cached = manager.get_file(file_name)
    content = read_own_file(cached) if cached is not None else None
    if cached is not None and content is not None:
        safe = _safe_to_load(cached, file_name, content)
        if not is_module or _loads(name, safe):
            return safe
    with tempfile.TemporaryDirectory() as folder:
        if path is None:
            path = os.path.join(folder, name + _LANGUAGES[language][2][0])
            with open(path, "wb") as file:
                file.write(source)
        built = _build(
            name,
            path,
            folder,
            flags.library_dirs,
            flags.include_dirs,
            flags.libraries,
            flags.ccflags,
            language,
        )
        with open(built, "rb") as file:
            content = file.read()
    stored = ""
    with failures_warn():
        stored = manager.put(content, file_name, binary=True)
    return _safe_to_load(stored, file_name, content)


def _flags(*lists: _Paths | None) -> _Flags:
    return _Flags(*(list(each or []) for each in lists))


def _from_file(path: str, name: str, flags: _Flags, is_module: bool) -> str:
    with open(path, "rb") as file:
        source = file.read()
    return _cached_so(source, os.path.abspath(path), name, flags, _language_of(path), is_module)


def compile_so_from_file(
    src_path: str,
    name: str,
    library_dirs: _Paths | None = None,
    include_dirs: _Paths | None = None,
    libraries: _Paths | None = None,
    ccflags: _Paths | None = None,
) -> str:
    """The path of the shared object of a C or C++ file; compiled once, then cached."""
    flags = _flags(library_dirs, include_dirs, libraries, ccflags)
    return _from_file(src_path, name, flags, is_module=False)


def compile_so_from_src(
    src: str,
    name: str,
    library_dirs: _Paths | None = None,
    include_dirs: _Paths | None = None,
    libraries: _Paths | None = None,
    ccflags: _Paths | None = None,
    language: str = "c",
) -> str:
    """As `compile_so_from_file`, from a text."""
    flags = _flags(library_dirs, include_dirs, libraries, ccflags)
    return _cached_so(src.encode("utf-8"), None, name, flags, language, is_module=False)


def compile_module_from_file(
    src_path: str,
    name: str,
    library_dirs: _Paths | None = None,
    include_dirs: _Paths | None = None,
    libraries: _Paths | None = None,
    ccflags: _Paths | None = None,
) -> ModuleType:
    """The Python module `name` that a C or C++ file defines."""
    flags = _flags(library_dirs, include_dirs, libraries, ccflags)
    return _load(name, _from_file(src_path, name, flags, is_module=True))


def compile_module_from_src(
    src: str,
    name: str,
    library_dirs: _Paths | None = None,
    include_dirs: _Paths | None = None,
    libraries: _Paths | None = None,
    ccflags: _Paths | None = None,
    language: str = "c",
) -> ModuleType:
    """As `compile_module_from_file`, from a text."""
    flags = _flags(library_dirs, include_dirs, libraries, ccflags)
    source = src.encode("utf-8")
    return _load(name, _cached_so(source, None, name, flags, language, is_module=True))
