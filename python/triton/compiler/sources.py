"""The inputs of a compilation: a kernel with the types of its arguments, or a file of IR."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
import re
from contextvars import ContextVar
from typing import Any

from .. import inductor
from .._C import libtriton
from .._record import Record
from .._utils import Path

_POINTER = re.compile(r"^!tt\.ptr<([^,>]*).*>$")
_SYMBOL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


# What is known of the launch that a kernel is compiled for: the compiler then generates no code that cannot be launched.
launch_shape: ContextVar[Any] = ContextVar("launch_shape", default=None)


def _digest(text: str) -> str:
    return libtriton.sha256(text.encode("utf-8"))


class Specialization(Record):
    """The argument of a `repr=` function."""

    constants: dict[str, Any]
    signature: dict[str, Any]


class ASTSource:
    """A kernel, the type of every parameter, the values of its constants, and attributes of the
    others.
    """

    ext = "ttir"

    def __init__(self, fn: Any, signature: Any, constexprs: Any = None, attrs: Any = None):
        self.fn = fn
        if fn.is_gluon():
            self.ext = "ttgir"
        fn.reject_contradictions()
        self.name = fn.__name__
        self.signature = self._in_order(signature)
        self.constants = {self._path(key): value for key, value in (constexprs or {}).items()}
        defaults = self._add_defaults()
        if defaults and constexprs is not None:
            inductor.share_defaults(constexprs, defaults)
        self.attrs = {self._path(key): value for key, value in (attrs or {}).items()}

    @property
    def language(self) -> Any:
        from ..backends.compiler import Language

        return Language.GLUON if self.fn.is_gluon() else Language.TRITON

    def _in_order(self, signature: Any) -> dict[str, Any]:
        """By name, in the order of the parameters; omitted ones are constants."""
        if isinstance(signature, str):
            signature = dict(enumerate(text.strip() for text in signature.split(",")))
        names = self.fn.arg_names
        named = {
            names[key] if isinstance(key, int) else key: kind for key, kind in signature.items()
        }
        unknown = [name for name in named if name not in names]
        if unknown:
            raise ValueError(
                f"signature of {self.name} names `{unknown[0]}`; its parameters are "
                f"{', '.join(names)}"
            )
        return {name: named.get(name, "constexpr") for name in names}

    def _add_defaults(self) -> dict[str, Any]:
        """Constants that the caller leaves out have their parameters' defaults, as in a launch. Returns those."""
        added = {}
        for index, parameter in enumerate(self.fn.params):
            if (index,) in self.constants or not parameter.has_default:
                continue
            if self.signature[parameter.name] == "constexpr":
                self.constants[(index,)] = added[parameter.name] = parameter.default
        return added

    def _path(self, key: Any) -> Path:
        if isinstance(key, str):
            if key not in self.fn.arg_names:
                raise ValueError(
                    f"{self.name} has no parameter `{key}`; its parameters are "
                    f"{', '.join(self.fn.arg_names)}"
                )
            return (self.fn.arg_names.index(key),)
        return (key,) if isinstance(key, int) else tuple(key)

    def symbol(self) -> str:
        """The kernel's name in the compiled code."""
        names = self.fn.arg_names
        constants = {
            names[path[0]]: value for path, value in self.constants.items() if len(path) == 1
        }
        symbol = self.fn.repr(Specialization(constants, self.signature)).split(".")[-1]
        if not _SYMBOL.fullmatch(symbol):
            raise ValueError(
                f"kernel name {symbol!r} is not an identifier ([a-zA-Z_][a-zA-Z0-9_]*)"
            )
        return symbol

    def hash(self) -> str:
        from ..runtime.dependencies import class_keys

        key_parts = [
            self.fn.cache_key,
            class_keys((*self.signature.values(), *self.constants.values())),
            str(self.attrs),
            str(sorted(self.signature.items(), key=lambda item: item[0])),
            str(
                [
                    (path, getattr(value, "cache_key", value))
                    for path, value in sorted(self.constants.items())
                ]
            ),
        ]
        return _digest("-".join(key_parts))

    def make_ir(
        self, target: Any, options: Any, codegen_fns: Any, module_map: Any, context: Any
    ) -> Any:
        """The kernel as TTIR, functions not yet inlined."""
        return libtriton.make_ir(
            self.fn, self.signature, self.constants, self.attrs, target, options.__dict__, context
        )

    def compile(
        self, target: Any, options: dict[str, Any], cache_dir: str | None, lookup: Any = None
    ) -> Any:
        """`lookup(key)` may return the bytes of an artifact from an earlier compilation."""
        return libtriton.compile(
            self.fn,
            self.signature,
            self.constants,
            self.attrs,
            target,
            options,
            cache_dir,
            self.symbol(),
            lookup,
            launch_shape.get(),
        )

    def parse_options(self) -> dict[str, Any]:
        return {}


class IRSource:
    """A file of TTIR or, for a GPU, of TTGIR."""

    def __init__(self, path: str, context: Any = None, backend: Any = None):
        self.path = path
        self.ext = os.path.splitext(path)[1][1:]
        if self.ext not in ("ttir", "ttgir"):
            raise ValueError(
                f"{path}: compiling from .{self.ext or '(no extension)'} is not supported; "
                "expected .ttir or .ttgir"
            )
        with open(path, encoding="utf-8") as file:
            self.src = file.read()
        self.fn = None
        module = self._parse(context or libtriton.ir.context())
        entry = module.get_entry_func_name()
        if entry is None:
            raise ValueError(f"{path}: no public `tt.func` found")
        self.name = f"@{entry}"
        types = enumerate(module.parameter_types())
        self.signature: dict[Any, str] = {
            index: _POINTER.sub(r"*\1", kind) for index, kind in types
        }
        self.constants: dict[Path, Any] = {}
        self.attrs: dict[Path, Any] = {}
        self._options = self._options_of(module) if self.ext == "ttgir" else {}

    def _parse(self, context: Any) -> Any:
        return libtriton.ir.parse_mlir_module(self.path, context)

    @staticmethod
    def _options_of(module: Any) -> dict[str, Any]:
        names = {"num_warps": "ttg.num-warps", "num_ctas": "ttg.num-ctas"}
        values = {name: module.get_int_attr(text) for name, text in names.items()}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def language(self) -> Any:
        from ..backends.compiler import Language

        return Language.TRITON

    def hash(self) -> str:
        return _digest(f"{self.ext}-{self.src}")

    def make_ir(
        self, target: Any, options: Any, codegen_fns: Any, module_map: Any, context: Any
    ) -> Any:
        return self._parse(context)

    def compile(
        self, target: Any, options: dict[str, Any], cache_dir: str | None, lookup: Any = None
    ) -> Any:
        return libtriton.compile_ir(
            self.src, self.path, self.ext, target, options, cache_dir, lookup
        )

    def parse_options(self) -> dict[str, Any]:
        """Options that the text fixes."""
        return dict(self._options)
