"""jax_triton's calls on the CPU: one more lowering for its primitive. jax_triton's code is not
changed.
"""

# SPDX-License-Identifier: MIT
#
# The primitive's parameters differ between versions: 0.3 gives scalars by position, 0.4 has a tree of arguments in the
# order of the kernel's parameters.
from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

from jax.interpreters import mlir

from .api import _function_of, _number
from .lowering import leaves_of, lower
from .primitive import CallSpec, Constant, Operand, Result


def complete(triton_lib: ModuleType) -> None:
    """Called when `jax_triton.triton_lib` has been imported."""

    def rule(ctx: Any, *operands: Any, **params: Any) -> Any:
        read = _spec_of_tree if "in_tree" in params else _spec_of_scalars
        return lower("cpu", ctx, operands, read(ctx, triton_lib, **params))

    mlir.register_lowering(triton_lib.triton_kernel_call_p, rule, platform="cpu")


def _constants(values: Any) -> tuple[tuple[str, Constant], ...]:
    return tuple((name, Constant(value)) for name, value in dict(values).items())


# ---- 0.3


def _spec_of_scalars(
    ctx: Any,
    triton_lib: ModuleType,
    *,
    fn: Any,
    scalar_args: Any,
    name: str,
    out_shapes: Any,
    grid: Any,
    num_warps: int | None,
    num_stages: int | None,
    num_ctas: int,
    enable_fp_fusion: bool,
    input_output_aliases: Any,
    zeroed_outputs: Any,
    debug: bool,
    serialized_metadata: bytes,
    cost_estimate: Any = None,
    has_side_effect: bool = False,
    custom_call_target_name: str = "",
    compute_capability: int | None = None,
    **metaparams: Any,
) -> CallSpec:
    scalars = {position: value for position, _, value in scalar_args}
    options = {"num_warps": num_warps, "num_stages": num_stages, "num_ctas": num_ctas}
    options.update({"enable_fp_fusion": enable_fp_fusion, "debug": debug})
    given = _arguments_in_order(scalars, len(ctx.avals_in), len(out_shapes))
    parameters = [param.name for param in _function_of(fn).params]
    return CallSpec(
        kernel=fn,
        name=name,
        arguments=tuple(zip(parameters, given, strict=False)),
        metaparams=_constants(metaparams),
        options=_constants({key: value for key, value in options.items() if value is not None}),
        shapes=tuple(out_shapes),
        grid=grid,
        aliases=tuple(dict(input_output_aliases).items()),
        zeroed=zeroed_outputs,
        metadata=serialized_metadata,
        cost=tuple(sorted((cost_estimate or {}).items())),
        has_side_effect=has_side_effect,
    )


def _arguments_in_order(scalars: dict[int, Any], operands: int, results: int) -> Iterator[Any]:
    """Operands with the scalars at their positions, then results."""
    seen = 0
    for position in range(len(scalars) + operands):
        if position in scalars:
            yield Constant(scalars[position])
        else:
            yield Operand(seen)
            seen += 1
    yield from map(Result, range(results))


# ---- 0.4


def _spec_of_tree(
    ctx: Any,
    triton_lib: ModuleType,
    *,
    fn: Any,
    name: str,
    in_tree: Any,
    out_shapes: Any,
    grid: Any,
    backend_options: Any,
    input_output_aliases: Any,
    zeroed_outputs: Any,
    serialized_metadata: bytes,
    metaparams: Any,
    cost_estimate: Any = None,
    has_side_effect: bool = False,
    compute_capability: int | None = None,
) -> CallSpec:
    leaves = in_tree.unflatten([Operand(index) for index in range(len(ctx.avals_in))])
    names = [param.name for param in _function_of(fn).params if not param.is_constexpr]
    arguments = [
        (parameter, _argument(leaf, parameter, triton_lib, _function_of(fn).__name__))
        for parameter, leaf in zip(names, leaves, strict=True)
    ]
    given = [leaf for _, argument in arguments for leaf in leaves_of(argument)]
    given = [leaf for leaf in given if not isinstance(leaf, Result)]
    aliases = [(given[index].index, result) for index, result in input_output_aliases.items()]
    return CallSpec(
        kernel=fn,
        name=name,
        arguments=tuple(arguments),
        metaparams=_constants(metaparams),
        options=_constants(backend_options),
        shapes=tuple(out_shapes),
        grid=grid,
        aliases=tuple(aliases),
        zeroed=zeroed_outputs,
        metadata=serialized_metadata,
        cost=tuple(sorted((cost_estimate or {}).items())),
        has_side_effect=has_side_effect,
    )


def _argument(leaf: Any, parameter: str, triton_lib: ModuleType, kernel: str) -> Any:
    if isinstance(leaf, Operand):
        return leaf
    if isinstance(leaf, triton_lib._OutputPlaceholder):
        return Result(leaf.ordinal)
    if isinstance(leaf, triton_lib._StaticArg):
        return Constant(_number(leaf.value, parameter, kernel))
    if isinstance(leaf, tuple):
        parts = [_argument(part, parameter, triton_lib, kernel) for part in leaf]
        return type(leaf)(*parts) if hasattr(leaf, "_fields") else tuple(parts)
    raise NotImplementedError(
        f"argument `{parameter}` of {kernel} is a {type(leaf).__name__}; on the CPU, calls take "
        "arrays, numbers and tuples of these"
    )
