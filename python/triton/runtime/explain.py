"""What the compiler did for each line of a kernel, and the reasons why it did no more."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import json
import linecache
from typing import Any

from ..backends import compiled


class Explanation:
    """The result of `JITFunction.explain`: prints as text, draws the schedules of loops as `svg`, and
    has both as `data`.
    """

    def __init__(self, kernel: Any):
        self.kernel = kernel  # the CompiledKernel

    @functools.cached_property
    def data(self) -> dict[str, Any]:
        """kernel, target, warps, roles, findings by line, loops with their bars; a compiled GPU kernel
        has registers and spills, too.
        """
        found: dict[str, Any] = json.loads(self._stage("plan.json"))
        if (resources := compiled.assembled(self.kernel._code)) is not None and "warps" in found:
            found["registers"], found["spills"] = resources[:2]
        return found

    @functools.cached_property
    def text(self) -> str:
        """Findings below their source lines, then each loop as lanes over time."""
        files = {finding["file"] for finding in self.data["findings"] if "file" in finding}
        sources = {name: "".join(linecache.getlines(name)) for name in files}
        text = self._stage("plan.lines", {name: text for name, text in sources.items() if text})
        if "registers" in self.data:
            text += (
                f"\n{self.data['registers']} registers a thread, {self.data['spills']} spilled\n"
            )
        return text

    @functools.cached_property
    def svg(self) -> str:
        """The schedules of loops: lanes of tensor cores, memory copies and so on over time."""
        return self._stage("plan.svg")

    def at_line(self, line: int) -> list[dict[str, Any]]:
        """The findings of one line."""
        return [finding for finding in self.data["findings"] if finding.get("line") == line]

    def _stage(self, name: str, sources: dict[str, str] | None = None) -> str:
        text: str = self.kernel._code.stage(name, sources or {})
        return text

    def __str__(self) -> str:
        return self.text

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        """The findings by line, then the schedules of loops."""
        import html

        return f"<pre>{html.escape(self.text)}</pre>{self.svg if self.data['loops'] else ''}"

    def __repr__(self) -> str:
        return f"Explanation({self.kernel.name}, {len(self.data['findings'])} findings)"


def explain(
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    signature: Any = None,
    constants: Any = None,
    attrs: Any = None,
    target: Any = None,
) -> Explanation:
    """Compiles `function` for the arguments of a launch, or for a signature, and explains the code."""
    from ..compiler import ASTSource, compile  # noqa: A004
    from .tensors import MockTensor

    if "grid" not in function.arg_names:
        kwargs.pop("grid", None)
    if signature is None and target is None:
        return Explanation(function.warmup(*args, grid=(1,), **kwargs))
    if signature is None:
        signature, constants, attrs, kwargs = _described(
            function, tuple(map(MockTensor.wrap_dtype, args)), kwargs, target
        )
    elif args:
        raise TypeError(f"{function.__name__}.explain takes arguments or a signature, not both")
    source = ASTSource(function, signature, constants, attrs)
    return Explanation(compile(source, target=target, options=kwargs, _folder_view=False))


def _described(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], target: Any
) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Signature, constants, attributes and options of a launch on another target."""
    from ..compiler import make_backend
    from .binder import Binder
    from .jit import _describe

    backend = make_backend(target)
    binder = Binder(function.__name__, function.params, backend)
    bound = binder.bind(args, kwargs)
    signature, constants, attrs = _describe(bound, binder.specialize(bound), backend)
    return signature, constants, attrs, binder.options(kwargs)
