"""A kernel's parameters: constants, types fixed by annotations, and exclusions from specialisation."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import inspect


@functools.lru_cache(maxsize=1024)
def _scalar_type(text: str) -> str | None:
    """'i32' for "tl.int32", "i32", "int"; None for anything that is not a scalar type."""
    from ..language.signature_types import canonical_name, is_scalar_name

    name = canonical_name(text)
    return name if is_scalar_name(name) else None


class KernelParam:
    """One parameter of a kernel."""

    def __init__(
        self,
        num: int,
        param: inspect.Parameter,
        do_not_specialize: bool,
        do_not_specialize_on_alignment: bool,
    ):
        self.num = num
        self._param = param
        self.has_default = param.default is not param.empty
        self.is_variadic = param.kind is param.VAR_POSITIONAL
        self.do_not_specialize = do_not_specialize
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment

    @functools.cached_property
    def name(self) -> str:
        return self._param.name

    @functools.cached_property
    def annotation(self) -> str:
        """The annotation as text, without module names."""
        annotation = self._param.annotation
        if annotation is self._param.empty:
            return ""
        if isinstance(annotation, type):
            return annotation.__name__
        if hasattr(annotation, "codegen_name"):
            return annotation.codegen_name()
        return str(annotation)

    @functools.cached_property
    def annotation_type(self) -> str:
        """The scalar type that the annotation fixes, or ""."""
        return "" if self.is_constexpr else _scalar_type(self.annotation.strip("'\" ")) or ""

    @functools.cached_property
    def is_constexpr(self) -> bool:
        return "constexpr" in self.annotation

    @functools.cached_property
    def is_const(self) -> bool:
        """Whether it is a pointer that the kernel only reads."""
        if self.is_constexpr:
            return False
        return self.annotation.split(".")[-1].startswith("const") or self.annotation.startswith(
            "*k"
        )

    @property
    def default(self) -> Any:
        return self._param.default


def make_params(
    signature: inspect.Signature, unspecialized: list[Any], unaligned: list[Any]
) -> list[KernelParam]:
    """The parameters of a function; both lists hold indices or names."""
    params = []
    for num, param in enumerate(signature.parameters.values()):
        if param.kind is param.VAR_KEYWORD:
            raise TypeError(f"parameter `{param.name}`: kernels take no `**` parameter")
        skip = num in unspecialized or param.name in unspecialized
        params.append(KernelParam(num, param, skip, num in unaligned or param.name in unaligned))
    return params
