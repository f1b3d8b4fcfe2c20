"""Holds the native module `libtriton`; if it is missing or another package's, the error names the
command that repairs the installation.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
import types
from typing import Any

_REPAIR = (
    "In a clone of the repository `./dev build` makes it; an installed package is repaired by installing its wheel "
    "again: python -m pip install --force-reinstall --no-deps nereid_triton-VERSION-*.whl"
)


def keep_modules() -> None:
    """Remembers the modules of the imported package. The native module is tied to their classes: if a program drops
    them from `sys.modules` and imports the package again, it gets the same ones.
    """
    kept = {
        name: module
        for name, module in sys.modules.items()
        if name == "triton" or name.startswith("triton.")
    }
    sys.__dict__["_nereid_modules"] = kept


sys.modules.update(sys.__dict__.get("_nereid_modules", {}))
try:
    from . import libtriton
except ImportError as error:
    if "subinterpreter" in str(error):
        raise
    raise ImportError(
        f"the native module of nereid could not be loaded: {error}. {_REPAIR}"
    ) from error
if not getattr(libtriton, "is_nereid", False):
    raise ImportError(f"the native module {libtriton.__file__} is another package's. {_REPAIR}")


class _Bindings(types.ModuleType):
    """A submodule of Triton's bindings. Programs import it for parts that they may never use; what
    this compiler does not have is an error at its use.
    """

    def __init__(self, name: str, about: str):
        super().__init__(f"triton._C.libtriton.{name}")
        self._about = about
        sys.modules[self.__name__] = self  # `from triton._C.libtriton.amd import ...`
        setattr(libtriton, name, self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(
            f"module {self.__name__!r} has no attribute {name!r} in Nereid; {self._about}",
            name=name,
            obj=self,
        )


class _Nvidia(_Bindings):
    @property
    def cublas(self) -> types.ModuleType:
        from ..backends.nvidia import cublas

        return cublas


_PASSES = "its passes run inside `triton.compile`; `nereid-opt` runs them one by one"
_Nvidia("nvidia", _PASSES)
for _name in ("amd", "passes"):
    _Bindings(_name, _PASSES)
_Bindings("gluon_ir", _PASSES).make_cga_layout = libtriton.make_cga_layout
_Bindings("llvm", "it calls LLVM inside `triton.compile`; `kernel.asm` has the texts")
_Bindings("interpreter", "`TRITON_INTERPRET=1` runs kernels without it")
_Bindings("proton", "`nereid profile` and other profilers read its kernels")
_Bindings("gsan_testing", "`TRITON_SANITIZE` is its sanitizer")
_Bindings("linear_layout", "it has `LinearLayout`").LinearLayout = libtriton.LinearLayout
