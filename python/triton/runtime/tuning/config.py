"""One candidate of autotuning."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._C import libtriton


class Config:
    """Values for a kernel's constants and launch options. Equal configurations are interchangeable."""

    kwargs: dict[str, Any]
    num_warps: int
    num_ctas: int
    num_stages: int
    maxnreg: int | None
    pre_hook: Callable[[dict[str, Any]], Any] | None
    ir_override: str | None
    num_cpu_threads: int | None

    def __init__(
        self,
        kwargs: dict[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable[[dict[str, Any]], Any] | None = None,
        ir_override: str | None = None,
        num_cpu_threads: int | None = None,
    ):
        self.__dict__.update(
            kwargs=kwargs,
            num_warps=num_warps,
            num_ctas=num_ctas,
            num_stages=num_stages,
            maxnreg=maxnreg,
            pre_hook=pre_hook,
            ir_override=ir_override,
            num_cpu_threads=num_cpu_threads,
        )

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in Config.__annotations__:
            libtriton.bump_epoch()  # launches may have chosen it as it was

    def __setstate__(self, state: dict[str, Any]) -> None:
        defaults = {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "kwargs": {}}
        absent = {"maxnreg": None, "pre_hook": None, "ir_override": None, "num_cpu_threads": None}
        self.__dict__.update({**defaults, **absent, **state})

    def _options(self) -> dict[str, Any]:
        names = ("num_warps", "num_ctas", "num_stages", "maxnreg", "ir_override", "num_cpu_threads")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def all_kwargs(self) -> dict[str, Any]:
        """Everything that is passed to the launch."""
        return {**self.kwargs, **self._options()}

    def __str__(self) -> str:
        shown = {
            **self.kwargs,
            "num_warps": self.num_warps,
            "num_ctas": self.num_ctas,
            "num_stages": self.num_stages,
        }
        shown["maxnreg"] = self.maxnreg
        for name in ("ir_override", "num_cpu_threads"):  # the text is part of a record's key
            if getattr(self, name) is not None:
                shown[name] = getattr(self, name)
        return ", ".join(f"{name}: {value}" for name, value in shown.items())

    def __repr__(self) -> str:
        return f"Config({self})"

    def __hash__(self) -> int:
        return hash((*self.all_kwargs().items(), self.pre_hook))

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Config):
            return NotImplemented
        return (self.all_kwargs(), self.pre_hook) == (other.all_kwargs(), other.pre_hook)
