"""The handlers of custom calls in `libtriton_xla.so`: functions for XLA to call, by name."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import ctypes
import functools
import os

from .. import _C

CPU = "nereid_xla_cpu"
CUDA = "nereid_xla_cuda"
CUDA_AUTOTUNED = "nereid_xla_cuda_autotuned"  # times kernels first, which no graph can record
CUDA_UNTYPED = "nereid_xla_cuda_untyped"  # version 2 of the untyped interface

_CAPSULE_NAME = b"xla._CUSTOM_CALL_TARGET"


def library_path() -> str:
    return os.path.join(os.path.dirname(os.path.abspath(_C.libtriton.__file__)), "libtriton_xla.so")


@functools.cache
def library() -> ctypes.CDLL:
    loaded = ctypes.CDLL(library_path())
    loaded.nereid_xla_register.restype = ctypes.c_char_p
    loaded.nereid_xla_register.argtypes = [
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_void_p,
    ]
    return loaded


def address(name: str) -> int:
    """The address of the handler's code."""
    return ctypes.cast(getattr(library(), name), ctypes.c_void_p).value or 0


@functools.cache
def capsule(name: str) -> object:
    """The handler as a capsule for jaxlib and PyTorch/XLA."""
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(address(name), _CAPSULE_NAME, None)


def register(api: int, target: str, platform: str, handler: str = CPU) -> None:
    """Registers a typed handler through the table of functions at address `api`, which
    `xla::ffi::GetXlaFfiApi` returns: for programs without a Python function for it.
    """
    problem = library().nereid_xla_register(
        api, target.encode(), platform.encode(), address(handler)
    )
    if problem is not None:
        raise RuntimeError(f"XLA does not take the handler of {target!r}: {problem.decode()}")


def find_function(path: str, name: str) -> int:
    """The address of a function that the module at `path`, loaded in this process, does not export.
    """
    find = library().nereid_xla_find_function
    find.restype = ctypes.c_void_p
    find.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p)]
    problem = ctypes.c_char_p()
    found = find(os.fsencode(path), name.encode(), ctypes.byref(problem))
    if not found:
        raise RuntimeError(f"{path} {(problem.value or b'').decode()}")
    return found
