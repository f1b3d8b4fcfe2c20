"""The JAX primitive of `triton_call`: abstract evaluation, and clear errors for unsupported
transformations.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.extend as jex
from jax.interpreters import ad, batching, mlir, xla

from ..xla.jax_targets import register_all
from .lowering import lower


@dataclasses.dataclass(frozen=True)
class Operand:
    """An array argument, by its index among the operands."""

    index: int


@dataclasses.dataclass(frozen=True)
class Result:
    """A parameter for a result."""

    index: int


class Constant:
    """A constant of the code. Equal only to one of the same type and text: 1, 1.0 and True make
    different kernels.
    """

    def __init__(self, value: Any):
        self.value = value

    def _key(self) -> Any:
        return type(self.value), repr(self.value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant) or self._key() != other._key():
            return False
        plain = isinstance(self.value, (bool, int, float, str, type(None)))
        return plain or bool(self.value is other.value or self.value == other.value)

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return repr(self.value)


@dataclasses.dataclass(frozen=True)
class CallSpec:
    """Everything of a call except its arrays."""

    kernel: Any
    name: str
    arguments: tuple[tuple[str, Any], ...]  # parameter -> Operand, Result, Constant, tuple of these
    metaparams: tuple[tuple[str, Constant], ...]
    options: tuple[tuple[str, Constant], ...]
    shapes: tuple[Any, ...]  # of the results
    grid: Any
    compute_capability: int | None = None
    aliases: tuple[tuple[int, int], ...] = ()  # (operand, result)
    zeroed: Any = ()
    metadata: bytes = b""
    cost: tuple[tuple[str, int], ...] = ()
    has_side_effect: bool = False

    def __repr__(self) -> str:
        return f"triton_call({self.name or self.kernel})"


triton_call_p = jex.core.Primitive("triton_call")
triton_call_p.multiple_results = True
triton_call_p.def_impl(functools.partial(xla.apply_primitive, triton_call_p))


@triton_call_p.def_abstract_eval
def _results(*operands: Any, spec: CallSpec) -> list[Any]:
    # Under shard_map a result varies over the mesh axes that any operand varies over.
    axes = frozenset().union(*(getattr(operand, "vma", frozenset()) for operand in operands))
    varying = {"vma": axes} if axes else {}
    return [jax.core.ShapedArray(shape.shape, shape.dtype, **varying) for shape in spec.shapes]


def _refuse(what: str, instead: str) -> Any:
    def rule(*args: Any, spec: CallSpec | None = None, **params: Any) -> Any:
        raise NotImplementedError(
            f"triton_call cannot be {what}: nothing is known of what the kernel computes; {instead}"
        )

    return rule


batching.primitive_batchers[triton_call_p] = _refuse(
    "mapped by jax.vmap",
    "give the kernel a grid axis for the batch, or use jax.custom_batching.custom_vmap",
)
ad.primitive_jvps[triton_call_p] = _refuse(
    "differentiated", "use jax.custom_vjp with a kernel for the backward pass"
)
ad.primitive_transposes[triton_call_p] = _refuse("transposed", "use jax.custom_vjp")


def _register(platform: str) -> None:
    def rule(ctx: Any, *operands: Any, spec: CallSpec) -> Any:
        return lower(platform, ctx, operands, spec)

    mlir.register_lowering(triton_call_p, rule, platform=platform)


_register("cpu")
_register("cuda")
register_all()
