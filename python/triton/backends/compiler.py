"""What a target's compiler class offers to the rest of the package."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any

from .._record import Record


class GPUTarget(Record):
    """What code is made for. An empty `arch` of a "cpu" target stands for this machine."""

    backend: str
    arch: int | str
    warp_size: int


class Language(Enum):
    """The input language being compiled by the backend."""

    TRITON = 0
    GLUON = 1


class BaseBackend(ABC):
    """One per target; `supports_target` says which."""

    supports_native_tensor_specialization = True
    binary_ext: str

    def __init__(self, target: GPUTarget) -> None:
        assert self.supports_target(target)
        self.target = target

    @staticmethod
    @abstractmethod
    def supports_target(target: GPUTarget) -> bool: ...

    @abstractmethod
    def hash(self) -> str:
        """Names everything about the target that changes generated code."""

    @abstractmethod
    def parse_options(self, options: dict[str, Any]) -> Any:
        """Options as an object with a `__dict__`; names without a meaning here are ignored."""

    @abstractmethod
    def pack_metadata(self, metadata: Any) -> Any: ...

    def code_target(self, options: Any) -> GPUTarget:
        """What code is made for under these options."""
        return self.target

    def native_tools(self) -> dict[str, Any]:
        """Paths of programs and libraries that the native compiler may use; `key` names them."""
        return {}

    def add_stages(  # noqa: B027
        self, stages: dict[str, Any], options: Any, language: Language = Language.TRITON
    ) -> None:
        """Stages are the native compiler's; there is nothing to add."""

    def load_dialects(self, context: Any) -> None:  # noqa: B027
        """Nothing beyond what `ir.load_dialects` has loaded."""

    def get_module_map(self) -> dict[str, Any]:
        """Modules that stand for others on this target: none, names are the same everywhere."""
        return {}

    def get_codegen_implementation(self, options: Any) -> dict[str, Any]:
        """Target-specific parts of the front end: none, they are the native compiler's."""
        return {}

    def get_target_name(self, options: Any) -> str:
        return f"{self.target.backend}:{self.target.arch}"

    @staticmethod
    def parse_attr(desc: str) -> list[list[Any]]:
        """The IR attributes that the letters of a specialisation key stand for."""
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
