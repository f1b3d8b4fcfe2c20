"""Options common to all targets: their defaults, checks of their numbers, and a hash."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

from .. import knobs
from .._C import libtriton
from .._record import Values

FP8_DTYPES = tuple(
    name for name, _, kind, bits, *_ in libtriton.element_types() if (kind, bits) == ("float", 8)
)


T = TypeVar("T")


def option_class(cls: type[T]) -> type[T]:
    """A frozen dataclass with the methods of `_OptionValues`: for 25 fields `dataclass` takes longer to generate them than
    the rest of a first launch takes.
    """
    made = dataclass(frozen=True, init=False, repr=False, eq=False)(cls)
    made._defaults = {field.name: field.default for field in fields(made)}  # type: ignore[attr-defined, arg-type]
    return made


class _OptionValues(Values):
    """The methods of a dataclass whose fields all have defaults."""

    _defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self, *args: Any, **kwargs: Any):
        if args:
            if len(args) > len(self._defaults):
                raise TypeError(
                    f"{type(self).__name__} takes {len(self._defaults)} options, got {len(args)}"
                )
            given = dict(zip(self._defaults, args))  # noqa: B905  (others may follow)
            if twice := given.keys() & kwargs.keys():
                raise TypeError(f"{type(self).__name__} got `{min(twice)}` twice")
            kwargs = given | kwargs
        if unknown := kwargs.keys() - self._defaults.keys():
            raise TypeError(f"{type(self).__name__} has no option `{min(unknown)}`")
        self.__dict__.update(self._defaults | kwargs)
        self.__post_init__()

    def __post_init__(self) -> None:
        pass


@option_class
class TargetOptions(_OptionValues):
    """Launch and compile options that every target accepts."""

    num_warps: int = 4
    num_ctas: int = 1
    num_stages: int = 3
    enable_fp_fusion: bool = True
    launch_cooperative_grid: bool = False
    debug: bool = False
    sanitize_overflow: bool = True
    sanitize: str = ""
    supported_fp8_dtypes: tuple[str, ...] = FP8_DTYPES
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "bf16x3", "bf16x6")
    max_num_imprecise_acc_default: int = 0
    extern_libs: Any = None
    ir_override: str | None = None
    allow_non_constexpr_globals: bool = False
    always_compile: bool = False
    backend_name: str = ""
    arch: str = ""

    max_threads: ClassVar[int | None] = None  # of a CTA; None: no limit

    @classmethod
    def known(cls, options: dict[str, Any]) -> dict[str, Any]:
        """The options that the target has, completed from the settings."""
        known = {
            name: value
            for name, value in options.items()
            if name in cls.__dataclass_fields__ and value is not None
        }
        known["enable_fp_fusion"] = knobs.language.fp_fusion_enabled(known.get("enable_fp_fusion"))
        precision = knobs.language.fp32_default or cls.default_dot_input_precision
        known.setdefault("default_dot_input_precision", precision)
        known.setdefault("sanitize", knobs.runtime.sanitize)
        known.setdefault(
            "allow_non_constexpr_globals", knobs.compilation.allow_non_constexpr_globals
        )
        if "instrumentation_mode" in cls.__dataclass_fields__:
            known.setdefault("instrumentation_mode", knobs.compilation.instrumentation_mode)
        return known

    def __post_init__(self) -> None:
        for name in ("num_warps", "num_ctas"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1 or value & (value - 1):
                raise AssertionError(f"{name} must be a power of 2, got {value!r}")
        threads = self.num_warps * getattr(self, "warp_size", 1)
        if self.max_threads is not None and threads > self.max_threads:
            from ..runtime.errors import OutOfResources  # tuning skips such a configuration

            raise OutOfResources(threads, self.max_threads, "threads")
        if isinstance(self.extern_libs, Mapping):  # in a hashable form
            self.__dict__["extern_libs"] = tuple(sorted(self.extern_libs.items()))

    def hash(self) -> str:
        text = "_".join(f"{name}-{value}" for name, value in sorted(self.__dict__.items()))
        return libtriton.sha256(text.encode("utf-8"))
