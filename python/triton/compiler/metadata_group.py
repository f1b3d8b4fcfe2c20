"""The files of a compiled kernel by name: what `CompiledKernel` is made from."""

# SPDX-License-Identifier: MIT
#
# Packages wrap or override `CompiledKernel.__init__(src, metadata_group, hash)`. The group of a new kernel carries the
# native object, and its files are written where somebody reads them; a group that another program kept has only files.
from __future__ import annotations

import os
import types
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from .. import knobs
from .._C import libtriton
from ..backends import GPUTarget, compiled
from ..runtime.cache import _base32, read_own_file


class MetadataGroup(Mapping[str, str]):
    """File name -> path of the files in the folder view, or in the cache that the user chose."""

    def __init__(self, code: Any, target: GPUTarget, options: Any):
        self.code, self.target, self.options = code, target, options
        self.user_files: dict[str, str] | None = None  # in the cache that the user chose
        self._root = knobs.cache.dir  # of the time at which the kernel was compiled
        self._folder: str | None = None

    def write(self) -> str | None:
        """`<cache>/<base32 of hash>/<name>.<stage>`: read by other tools, never by this package. A
        full disk loses only the view.
        """
        try:
            self._folder = compiled.write_view(self.code, self._root)
        except OSError as error:
            folder = os.path.join(self._root, _base32(self.code.hash))
            warnings.warn(f"could not write {self.code.name} to {folder}: {error}", stacklevel=4)
            self._folder = None
        return self._folder

    def paths(self) -> dict[str, str]:
        if self.user_files is not None:
            return self.user_files
        folder = self._folder if self._folder and os.path.isdir(self._folder) else self.write()
        if not folder:
            return {}
        return {name: os.path.join(folder, name) for name in sorted(os.listdir(folder))}

    def __getitem__(self, name: str) -> str:
        return self.paths()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths())

    def __len__(self) -> int:
        return len(self.paths())

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Mapping) and self.paths() == dict(other)

    def __repr__(self) -> str:
        return repr(self.paths())

    def __reduce__(self) -> Any:
        return _unpickled, (self.code, self.target, self.options.__dict__, self.user_files)


def _unpickled(code: Any, target: Any, options: Any, user_files: Any) -> MetadataGroup:
    group = MetadataGroup(code, target, types.SimpleNamespace(**options))
    group.user_files = user_files
    return group


def group_of_files(files: Mapping[str, str]) -> MetadataGroup:
    """The group of a kernel that is there as files: its metadata and the artifact, or the TTIR."""
    import json
    import tempfile

    from .compiler import compile, make_backend  # noqa: A004
    from .managed_cache import ARTIFACT

    described = next((path for name, path in files.items() if name.endswith(".json")), None)
    if described is None:
        raise ValueError(
            f"the group of files of a compiled kernel has no `.json`: {', '.join(files) or 'empty'}"
        )
    metadata = json.loads(_contents(described))
    target = GPUTarget(**metadata["target"])
    for name, path in files.items():
        if name.endswith(f".{ARTIFACT}"):
            code = libtriton.load_artifact(_contents(path))
            options = make_backend(target).parse_options(metadata)
            return MetadataGroup(code, target, options)
    source = next((path for name, path in files.items() if name.endswith(".ttir")), None)
    if source is None:
        raise ValueError(
            "the group of files of a compiled kernel has neither an artifact nor a `.ttir`: "
            f"{', '.join(files)}"
        )
    # The text that was checked is compiled, whatever becomes of the file.
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, os.path.basename(source))
        with open(copy, "wb") as file:
            file.write(_contents(source))
        return compile(copy, target=target, options=metadata, _folder_view=False).metadata_group


def _contents(path: str) -> bytes:
    """The contents of a file of a group; that of somebody else may hold code of theirs."""
    contents = read_own_file(path)
    if contents is not None:
        return contents
    os.stat(path)  # raises where there is none
    raise PermissionError(
        f"the file {path} of a compiled kernel is not read: it is a link, it belongs to another user, or others may "
        "write to it; copy it, or remove the permission by `chmod go-w`"
    )
