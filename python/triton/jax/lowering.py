"""Lowers calls for a platform: compiles the kernel and emits a custom call with its payload."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import jax

from ..backends import GPUTarget
from ..xla.compile import ArrayType, Call, make_call
from ..xla.jax_targets import TARGETS

if TYPE_CHECKING:
    from .primitive import CallSpec

def _target(platform: str, capability: int | None) -> Any:
    if platform == "cpu":
        return "cpu"
    if capability is None:
        try:
            text = jax.devices("cuda")[0].compute_capability
        except RuntimeError as error:
            raise RuntimeError(
                "a call is lowered for CUDA without a GPU that reports its compute capability; "
                "specify it, as in compute_capability=90"
            ) from error
        major, minor = str(text).split(".")
        capability = int(major) * 10 + int(minor)
    return GPUTarget("cuda", capability, 32)


def _bytes_of(aval: Any) -> int:
    return aval.size * aval.dtype.itemsize


def _zeroed(spec: CallSpec, keywords: dict[str, Any]) -> frozenset[int]:
    chosen = frozenset(spec.zeroed(keywords) if callable(spec.zeroed) else spec.zeroed)
    wrong = [index for index in chosen if not 0 <= index < len(spec.shapes)]
    if wrong:
        raise ValueError(
            f"zeroed_outputs names result {wrong[0]}; the call has {len(spec.shapes)} of them"
        )
    return chosen


def leaves_of(argument: Any) -> Iterator[Any]:
    """The operands, results and constants of an argument, which may be a tuple."""
    if isinstance(argument, tuple):
        for part in argument:
            yield from leaves_of(part)
    else:
        yield argument


def _all_leaves(spec: CallSpec) -> list[Any]:
    return [leaf for _, argument in spec.arguments for leaf in leaves_of(argument)]


def _value_of(argument: Any, ctx: Any, spec: CallSpec, zeroed: frozenset[int]) -> Any:
    """An argument as `make_call` takes it: an array's type contains the index of its XLA buffer."""
    from .primitive import Constant, Operand

    if isinstance(argument, tuple):
        parts = [_value_of(part, ctx, spec, zeroed) for part in argument]
        return type(argument)(*parts) if hasattr(argument, "_fields") else tuple(parts)
    if isinstance(argument, Constant):
        return argument.value
    if isinstance(argument, Operand):
        aval, buffer = ctx.avals_in[argument.index], argument.index
        result = dict(spec.aliases).get(argument.index)
    else:
        aval, buffer = ctx.avals_out[argument.index], len(ctx.avals_in) + argument.index
        result = argument.index
    return ArrayType.of(
        aval, bytes_to_zero=_bytes_of(aval) if result in zeroed else 0, buffer=buffer
    )


def _check_writes(call: Call, spec: CallSpec) -> None:
    from .primitive import Constant, Operand, Result

    given = [leaf for leaf in _all_leaves(spec) if not isinstance(leaf, Result)]
    arrays = [
        (name, leaf)
        for name, argument in spec.arguments
        for leaf in leaves_of(argument)
        if not isinstance(leaf, Constant)
    ]
    aliased = dict(spec.aliases)
    for index in sorted(call.written):
        name, leaf = arrays[index]
        if isinstance(leaf, Operand) and leaf.index not in aliased:
            raise ValueError(
                f"kernel {call.kernel.name} writes its operand `{name}`, and JAX's arrays do not "
                f"change; make it a result as well: input_output_aliases={{{given.index(leaf)}: ...}}"
            )


def _check_aliases(ctx: Any, spec: CallSpec) -> None:
    for operand, result in spec.aliases:
        given, made = ctx.avals_in[operand], ctx.avals_out[result]
        if (given.shape, given.dtype) != (made.shape, made.dtype):
            raise ValueError(
                f"input_output_aliases: operand {operand} is {given.str_short()}, result {result} is "
                f"{made.str_short()}; they cannot share memory"
            )


def _numbers(spec: CallSpec) -> dict[str, Any]:
    return {name: given.value for name, given in spec.arguments if hasattr(given, "value")}


def compile_call(platform: str, ctx: Any, spec: CallSpec) -> Call:
    """The payload for the shapes of this lowering."""
    _check_aliases(ctx, spec)
    metaparams = {name: constant.value for name, constant in spec.metaparams}
    options = {name: constant.value for name, constant in spec.options}
    zeroed = _zeroed(spec, {**_numbers(spec), **metaparams})
    values = {name: _value_of(argument, ctx, spec, zeroed) for name, argument in spec.arguments}
    call = make_call(
        spec.kernel,
        [],
        spec.grid,
        _target(platform, spec.compute_capability),
        {**values, **metaparams},
        options=options,
        name=spec.name,
        metadata=spec.metadata,
        aliases=[(a, len(ctx.avals_in) + b, _bytes_of(ctx.avals_in[a])) for a, b in spec.aliases],
    )
    _check_writes(call, spec)
    return call


def lower(platform: str, ctx: Any, operands: Any, spec: CallSpec) -> Any:
    call = compile_call(platform, ctx, spec)
    attributes: dict[str, Any] = {"opaque": call.data}
    if spec.cost:
        attributes["cost_estimate_json"] = json.dumps(dict(spec.cost))
    rule = jax.ffi.ffi_lowering(
        TARGETS[platform, call.is_autotuned][0],
        operand_output_aliases=dict(spec.aliases),
        has_side_effect=spec.has_side_effect,
    )
    return rule(ctx, *operands, **attributes)
