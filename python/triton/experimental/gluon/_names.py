"""Binds the names of Gluon's modules from the compiler's table of built-ins."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any

from ...language import core
from ...language.values import active_semantic


class Missing:
    """A name of Gluon that this version does not have: it can be imported, and its use is an error."""

    __triton_builtin__ = True

    def __init__(self, module: str, name: str, reason: str):
        self.__module__, self.__name__, self.__qualname__ = module, name, name
        self._reason = reason

    def _is_class(self) -> bool:
        return self.__name__.lstrip("_")[:1].isupper()

    def _refuse(self) -> Any:
        raise NotImplementedError(f"`{self.__name__}` of {self.__module__} {self._reason}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # Hosts may make such layouts beforehand; kernels cannot use them.
        if self._is_class() and active_semantic() is None:
            return Missing(self.__module__, self.__name__, self._reason)
        return self._refuse()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._refuse()

    def __or__(self, other: Any) -> Any:
        """In annotations: `gl.Layout | None`."""
        return Any

    __ror__ = __or__

    def __repr__(self) -> str:
        return f"<missing {self.__module__}.{self.__name__}>"


BLACKWELL = "is for Blackwell GPUs, whose tensor memory is not supported yet"
RUBIN = "is for Rubin GPUs, which are not supported yet"
CDNA5 = "is for gfx1250 GPUs, which are not supported yet"
LATER = "is not supported yet"


def bind(
    namespace: dict[str, Any],
    names: str,
    reason: str = LATER,
    module: str | None = None,
) -> list[str]:
    """Adds a module's names to its namespace: what is there already stays, others come from the
    compiler's table, or else are `Missing` for that reason. Returns all names.
    """
    home = module or namespace["__name__"]
    table = core.BUILTINS.get(home, {})
    all_names = sorted({*names.split(), *table})
    for name in all_names:
        if name not in namespace:
            namespace[name] = table.get(name) or Missing(namespace["__name__"], name, reason)
    return all_names
