"""Variants of a kernel: what it was specialised to, how that reads, and which of several is nearest."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..._C import libtriton
from ..._utils import Path
from ...backends import GPUTarget

PROPERTIES = {"tt.divisibility": "a multiple of {}", "tt.pointer_range": "within 2 GiB"}
_LONGEST = 60  # characters of a constant in a message


class Given(NamedTuple):
    """What a launch was given, as far as its variant does not tell."""

    options: dict[str, Any]  # as the launch named them
    ones: list[str]  # parameters whose annotation makes the integer 1 an argument like others
    empty: list[str]  # parameters that were given arrays without memory

    @classmethod
    def of(cls, bound: dict[str, Any], specialization: Any, options: dict[str, Any]) -> Given:
        kinds = dict(zip(bound, specialization, strict=True))
        ones = [name for name, (kind, key) in kinds.items() if kind != "constexpr" and _is_one(key)]
        arrays = [name for name, (kind, _) in kinds.items() if str(kind).startswith("*")]
        empty = [name for name in arrays if libtriton.address_of(bound[name]) == 0]
        return cls(options, ones, empty)


def _is_one(key: Any) -> bool:
    return type(key) is int and key == 1


class Variant:
    """One specialisation of a kernel for one target: the inputs of a compilation, `key` apart, which is
    that of the launches.
    """

    def __init__(
        self,
        function: Any,
        signature: dict[str, Any],
        constants: dict[Path, Any],
        attrs: dict[Path, Any],
        options: Any,
        target: Any,
        abi: str = "plain",
        key: str = "",
        given: Given | None = None,
    ):
        self.function = function
        self.signature = signature
        self.constants = constants
        self.attrs = attrs
        self.options = options  # parsed by the target's backend
        self.target = target
        self.abi = abi
        self.key = key
        self.given = given  # None where no launch is known

    @classmethod
    def of_source(cls, source: Any, target: Any, options: Any, abi: str) -> Variant:
        """That of a compilation of an ASTSource."""
        return cls(
            source.fn,
            source.signature,
            source.constants,
            source.attrs,
            options,
            target,
            abi,
            getattr(source, "launch_key", ""),
            getattr(source, "given", None),
        )

    def compile(self) -> Any:
        """Compiles it, or takes it from a cache; returns a CompiledKernel."""
        from ...compiler import ASTSource, compile  # noqa: A004

        source = ASTSource(self.function, self.signature, self.constants, self.attrs)
        source.launch_key = self.key  # type: ignore[attr-defined]
        source.given = self.given  # type: ignore[attr-defined]
        options = self.options.__dict__
        return compile(source, self.target, options, _folder_view=False, _launch_abi=self.abi)

    @functools.cached_property
    def arguments(self) -> dict[str, str]:
        """What each parameter was specialised to: "*fp32, a multiple of 16", "1024"."""
        return {
            name: self._argument((index,), kind)
            for index, (name, kind) in enumerate(self.signature.items())
        }

    @functools.cached_property
    def changed_options(self) -> dict[str, Any]:
        """The launch options that differ from the target's defaults."""
        from ...compiler import make_backend

        defaults = make_backend(self.target).parse_options({}).__dict__
        return {
            name: value
            for name, value in self.options.__dict__.items()
            if name not in defaults or value != defaults[name]
        }

    @property
    def target_text(self) -> str:
        """ "cuda:90", "cpu:znver3"."""
        arch = self.target.arch or getattr(self.options, "arch", None) or "native"
        return f"{self.target.backend}:{arch}"

    def _argument(self, path: Path, kind: Any) -> str:
        if isinstance(kind, tuple):
            parts = [self._argument((*path, index), part) for index, part in enumerate(kind)]
            return f"({', '.join(parts)})"
        if kind == "constexpr":
            text = repr(self.constants.get(path))
            return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
        words = [kind]
        for name, value in self.attrs.get(path, ()):
            words.append(PROPERTIES.get(name, f"{name} {{}}").format(value))
        return ", ".join(words)

    def differences(self, other: Variant) -> dict[str, tuple[str, str]]:
        """Parameter or option -> what this has, what the other has."""
        found = {
            name: (text, other.arguments.get(name, "no such parameter"))
            for name, text in self.arguments.items()
            if text != other.arguments.get(name)
        }
        mine, theirs = self.options.__dict__, other.options.__dict__
        for name in mine:
            if name in theirs and mine[name] != theirs[name]:
                found[f"option {name}"] = (repr(mine[name]), repr(theirs[name]))
        return found

    def nearest(self, others: Iterable[Variant]) -> Variant | None:
        """The one with the fewest differences, of those for the same kind of target; the last of equals."""
        same = [other for other in others if other.target.backend == self.target.backend]
        return min(reversed(same), key=lambda other: len(self.differences(other)), default=None)

    def __str__(self) -> str:
        parts = [f"{name}: {text}" for name, text in self.arguments.items()]
        options = [f"{name}={value!r}" for name, value in self.changed_options.items()]
        shown = ", ".join([f"{self.function.__name__}({'; '.join(parts)})", *options])
        return f"{shown} for {self.target_text}"

    def __repr__(self) -> str:
        return f"<Variant {self}>"


def target_of(given: Any) -> GPUTarget:
    """A target from its text, as `nereid compile --target` takes it: "cuda:90", "hip:gfx942", "cpu"."""
    if isinstance(given, GPUTarget):
        return given
    if not isinstance(given, str):
        raise TypeError(f"target must be a GPUTarget or a text, got {type(given).__name__}")
    backend, _, arch = given.partition(":")
    if backend not in libtriton.target_names() or (backend != "cpu" and not arch):
        near = libtriton.suggest_name(backend, libtriton.target_names())
        raise ValueError(
            f"target {given!r} must be such as cuda:90, hip:gfx942, cpu or cpu:x86-64-v3{near}"
        )
    if backend == "cpu":
        _, own, warp_size = libtriton.driver_cpu.host_target()
        return GPUTarget("cpu", arch or own, warp_size)
    number = int(arch) if arch.isdigit() else arch
    return GPUTarget(backend, number, libtriton.warp_size(backend, arch))
