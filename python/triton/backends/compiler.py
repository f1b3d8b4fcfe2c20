"""The interface of a target's compiler class."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any

from .._C import libtriton
from .._record import Record


class GPUTarget(Record):
    """The target of code generation. An empty `arch` of a "cpu" target means this machine."""

    backend: str
    arch: int | str
    warp_size: int

    @property
    def device_type(self) -> str:
        """The kind of device that runs the code, as `driver.for_device` takes it."""
        return self.backend


class SimulatedTarget(GPUTarget):
    """A GPU that is simulated on the CPU: code for it stays PTX."""

    backend: str
    arch: int | str
    warp_size: int

    @property
    def device_type(self) -> str:
        return f"sim:{self.arch}"


class Language(Enum):
    """The input language being compiled by the backend."""

    TRITON = 0
    GLUON = 1


class BaseBackend(ABC):
    """One subclass per target; `supports_target` selects it."""

    supports_native_tensor_specialization = True
    binary_ext: str
    # Whether the target has the launch ABI `own`.
    has_own_launcher = False
    # Whether kernels differ with the size of an array's storage: the letter "S" of a specialisation key.
    specializes_storage = False

    def __init__(self, target: GPUTarget) -> None:
        assert self.supports_target(target)
        self.target = target

    @staticmethod
    @abstractmethod
    def supports_target(target: GPUTarget) -> bool: ...

    @abstractmethod
    def hash(self) -> str:
        """Identifies everything about the target that changes generated code."""

    @abstractmethod
    def parse_options(self, options: dict[str, Any]) -> Any:
        """Options as an object with a `__dict__`; unknown names are ignored."""

    @abstractmethod
    def pack_metadata(self, metadata: Any) -> Any: ...

    def code_target(self, options: Any) -> GPUTarget:
        """The target of code generation under these options."""
        return self.target

    def native_tools(self) -> dict[str, Any]:
        """Paths of programs and libraries that the native compiler may use; `key` identifies them."""
        return {}

    def add_stages(  # noqa: B027
        self, stages: dict[str, Any], options: Any, language: Language = Language.TRITON
    ) -> None:
        """Adds the stages of a backend of another package: name -> function of the result before it
        and a dictionary of metadata, in order. Those of this build are the native compiler's.
        """

    def load_dialects(self, context: Any) -> None:  # noqa: B027
        """Loads nothing beyond the dialects of `ir.load_dialects`."""

    def get_module_map(self) -> dict[str, Any]:
        """Modules that replace others on this target: none, names are the same everywhere."""
        return {}

    def get_codegen_implementation(self, options: Any) -> dict[str, Any]:
        """Target-specific parts of the front end: none, they are in the native compiler."""
        return {}

    def get_target_name(self, options: Any) -> str:
        return f"{self.target.backend}:{self.target.arch}"

    @staticmethod
    def optimise(module: Any, enable_fp_fusion: bool = True) -> Any:
        """Inlines calls and simplifies a module of the front end in place, as every target does
        first; returns it.
        """
        libtriton.ir.optimise(module, enable_fp_fusion)
        return module

    @staticmethod
    def parse_attr(desc: str) -> list[list[Any]]:
        """The IR attributes for the letters of a specialisation key."""
        attributes = []
        if "D" in desc:
            attributes.append(["tt.divisibility", 16])
        if "S" in desc:
            attributes.append(["tt.pointer_range", 32])
        return attributes

    @staticmethod
    def get_int_specialization(arg: int, align: bool = True, **kwargs: Any) -> str:
        return "D" if align and arg % 16 == 0 else ""

    @staticmethod
    def get_tensor_specialization(arg: Any, align: bool = True, **kwargs: Any) -> str:
        return "D" if align and arg.data_ptr() % 16 == 0 else ""
