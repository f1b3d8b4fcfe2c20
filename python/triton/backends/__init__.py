"""The targets that can be compiled for: this build's own, imported at their first use, and those of
other packages.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator, MutableMapping

from .compiler import BaseBackend, GPUTarget
from .driver import DriverBase

__all__ = ["Backend", "BaseBackend", "DriverBase", "GPUTarget", "backends"]


class Backend:
    """A target's two classes: `compiler` generates code, `driver` runs it. Each is a class, or names
    one as "module:class" or, where the module has only one that fits, "module:".
    """

    def __init__(
        self, compiler: type[BaseBackend] | str, driver: type[DriverBase] | str, target: str = ""
    ):
        self._given: dict[str, type | str] = {"compiler": compiler, "driver": driver}
        self._target = target  # the one target of a backend of this build

    def _load(self, role: str, base: type) -> type:
        given = self._given[role]
        if isinstance(given, type):
            return given
        module, _, name = given.partition(":")
        loaded = importlib.import_module(module, __name__)
        if name:
            return getattr(loaded, name)
        from .discovery import only_subclass

        return only_subclass(loaded, base)

    @functools.cached_property
    def compiler(self) -> type[BaseBackend]:
        return self._load("compiler", BaseBackend)

    @functools.cached_property
    def driver(self) -> type[DriverBase]:
        return self._load("driver", DriverBase)

    def fits(self, target: GPUTarget) -> bool:
        """Whether it compiles for the target; one of this build is not imported to tell."""
        if self._target:
            return target.backend == self._target
        return self.compiler.supports_target(target)


class Backends(MutableMapping):  # type: ignore[type-arg]
    """Name -> backend. Installed packages are searched for more at the first use that the backends
    of this build do not answer.
    """

    def __init__(self, own: dict[str, Backend]):
        self._own = own

    @functools.cached_property
    def _others(self) -> dict[str, Backend]:
        from .discovery import installed_backends

        return installed_backends(self._own)

    def fitting(self, target: GPUTarget) -> list[Backend]:
        """Those that compile for a target; a target of this build is never another package's."""
        own = [backend for backend in self._own.values() if backend.fits(target)]
        return own or [backend for backend in self._others.values() if backend.fits(target)]

    def __getitem__(self, name: str) -> Backend:
        return self._own[name] if name in self._own else self._others[name]

    def __setitem__(self, name: str, backend: Backend) -> None:
        self._others[name] = backend

    def __delitem__(self, name: str) -> None:
        del self._others[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*self._own, *self._others])

    def __len__(self) -> int:
        return len(self._own) + len(self._others)


backends = Backends(
    {
        "nvidia": Backend(".nvidia.compiler:CUDABackend", ".nvidia.driver:CUDADriver", "cuda"),
        "amd": Backend(".amd.compiler:HIPBackend", ".amd.driver:HIPDriver", "hip"),
        "cpu": Backend(".cpu.compiler:CPUBackend", ".cpu.driver:CPUDriver", "cpu"),
    }
)
