"""The kernels and variants of a record's lines: loads the file that defines a kernel."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import gc
import importlib
import importlib.util
import itertools
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from ...backends import GPUTarget
from ..jit import JITFunction
from . import constant_text
from .variant import Given, Variant
from .variant_record import Entry, RecordError


def variant_of(entry: Entry, target: GPUTarget | None = None) -> Variant:
    """The variant of a line, for its own target or for another one. Other targets keep the options
    that differ from the defaults of the recorded one.
    """
    from ...compiler import make_backend
    from ..jit_hooks import decode_specialization

    module = module_of(entry)
    function = function_of(entry, module)
    name = entry.kernel.partition(":")[0]
    token = constant_text.modules.set({name: module})
    try:
        recorded = GPUTarget(**entry.specialization["target"])
        text = json.dumps(entry.specialization)
        key, kinds, constants, attrs, options = decode_specialization(function, text, recorded)
        signature = {name: kinds[name] for name in function.arg_names}
        given = {name: constant_text.decode(value) for name, value in entry.options.items()}
    except (KeyError, TypeError, ValueError, AttributeError, ImportError) as error:
        raise RecordError(
            f"{entry.where}: the specialization of {entry.kernel} cannot be read: "
            f"{type(error).__name__}: {error}"
        ) from error
    finally:
        constant_text.modules.reset(token)
    target = target or recorded
    backend = make_backend(target)
    if target != recorded:
        origin = make_backend(recorded)
        defaults = origin.parse_options({}).__dict__
        options = {
            name: value
            for name, value in options.items()
            if name not in defaults or value != defaults[name]
        }
        if origin.specializes_storage != backend.specializes_storage:
            attrs = _with_storage(function, signature, attrs, backend.specializes_storage)
    parsed = backend.parse_options(options)
    return Variant(
        function,
        signature,
        constants,
        attrs,
        parsed,
        target,
        entry.abi,
        key,
        Given(given, entry.ones, entry.empty),
    )


_WITHIN_2GIB = ["tt.pointer_range", 32]


def _with_storage(
    function: Any, signature: dict[str, Any], attrs: dict[Any, Any], is_keyed: bool
) -> dict[Any, Any]:
    """The attributes for targets whose kernels differ with the size of a storage, where tensors of up to
    2 GiB are the common class, or for others.
    """
    found = {path: [each for each in some if each != _WITHIN_2GIB] for path, some in attrs.items()}
    if not is_keyed:
        return found

    def add(path: Any, kind: Any) -> None:
        if isinstance(kind, tuple):
            for index, part in enumerate(kind):
                add((*path, index), part)
        elif kind.startswith("*"):
            found[path] = [*found.get(path, []), _WITHIN_2GIB]

    for index, (param, kind) in enumerate(zip(function.params, signature.values(), strict=True)):
        if not param.do_not_specialize:
            add((index,), kind)
    return found


def function_of(entry: Entry, module: ModuleType | None = None) -> Any:
    """The JITFunction of a line; RecordError where it is not there, or has changed."""
    module = module or module_of(entry)
    qualname = entry.kernel.partition(":")[2]
    others = 0
    for function in itertools.chain(_by_name(module, qualname), _made_by(entry)):
        if function.cache_key == entry.source:
            return function
        others += 1
    if others:
        raise RecordError(
            f"{entry.where}: {entry.kernel} in {entry.file}, or a function that it calls, has changed "
            "since it was recorded: record anew"
        )
    if "<locals>" in qualname:
        raise RecordError(
            f"{entry.where}: {entry.kernel} is defined in a function that does not run when the file is "
            "imported; only kernels that are there after the import can be loaded again"
        )
    raise RecordError(f"{entry.where}: {entry.file} defines no kernel `{qualname}`")


def _by_name(module: ModuleType, qualname: str) -> Iterator[Any]:
    """The kernel of that name, also inside of an Autotuner, Heuristics and others."""
    try:
        found: Any = functools.reduce(getattr, qualname.split("."), module)
    except AttributeError:
        return
    while found is not None and not isinstance(found, JITFunction):
        found = getattr(found, "fn", None)
    if found is not None:
        yield found


def _made_by(entry: Entry) -> Iterator[Any]:
    """Kernels that the import has made and that have another name there, or none."""
    for thing in gc.get_objects():
        if not issubclass(type(thing), JITFunction):  # `isinstance` runs code of some objects
            continue
        if f"{thing.module}:{thing.__qualname__}" == entry.kernel:
            yield thing


def module_of(entry: Entry) -> ModuleType:
    """The module that defines the kernel: by its name where that leads to the same file, or where the
    file is not on this machine.
    """
    name = entry.kernel.partition(":")[0]
    loaded = sys.modules.get(name)
    if loaded is not None and _is_file(getattr(loaded, "__file__", None), entry.file):
        return loaded
    has_file = os.path.isfile(entry.file)
    try:
        if name != "__main__" and (not has_file or _leads_to(name, entry.file)):
            return importlib.import_module(name)
        if has_file:
            return _load(name, entry.file)
    except Exception as error:
        raise RecordError(
            f"{entry.where}: {entry.file}, which defines {entry.kernel}, cannot be imported: "
            f"{type(error).__name__}: {error}"
        ) from error
    raise RecordError(f"{entry.where}: {entry.file}, which defines {entry.kernel}, is absent")


def _is_file(path: str | None, wanted: str) -> bool:
    try:
        return path is not None and os.path.samefile(path, wanted)
    except OSError:
        return False


def _leads_to(name: str, file: str) -> bool:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return False
    return spec is not None and _is_file(spec.origin, file)


class _UnmatchedName(str):
    """A module's name that reads as given, in functions and keys, and equals no other text: a program's
    `if __name__ == "__main__"` does not run.
    """

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    __hash__ = str.__hash__


_loaded: dict[str, ModuleType] = {}  # file -> module


def _load(name: str, path: str) -> ModuleType:
    """A file as the module that it was, since the name is part of its kernels' keys."""
    path = os.path.realpath(path)
    if path in _loaded:
        return _loaded[path]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    folder = os.path.dirname(path)
    is_new = name not in sys.modules
    if name == "__main__":
        module.__name__ = _UnmatchedName(name)
    elif is_new:
        sys.modules[name] = module
    sys.path.append(folder)  # a program's own folder, for what it imports
    try:
        exec(compile(Path(path).read_bytes(), path, "exec"), module.__dict__)
    except BaseException:
        if is_new:
            sys.modules.pop(name, None)
        raise
    finally:
        sys.path.remove(folder)
    _loaded[path] = module
    return module
