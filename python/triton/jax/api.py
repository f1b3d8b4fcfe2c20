"""`triton_call`: converts a call's arguments to operands, constants and results."""

# SPDX-License-Identifier: MIT
#
# The signature is that of jax_triton's function, so that programs may use either.
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax import tree_util

from ..runtime.autotuner import Autotuner, Heuristics
from ..runtime.jit import JITFunction
from ..xla.compile import ArrayType
from .lowering import leaves_of
from .primitive import CallSpec, Constant, Operand, Result, triton_call_p
from .versions import check_jaxlib


def triton_call(
    *args: Any,
    kernel: Any,
    out_type: Any = None,
    grid: Any,
    name: str = "",
    num_warps: int | None = None,
    num_stages: int | None = None,
    num_ctas: int | None = None,
    compute_capability: int | None = None,
    backend_options: Mapping[str, Any] | None = None,
    input_output_aliases: Mapping[int, int] | None = None,
    zeroed_outputs: Sequence[int] | Callable[[dict[str, Any]], Sequence[int]] = (),
    debug: bool = False,
    serialized_metadata: bytes = b"",
    cost_estimate: Mapping[str, int] | None = None,
    has_side_effect: bool = False,
    out_shape: Any = None,
    **kwargs: Any,
) -> Any:
    """Runs `kernel` on JAX arrays; returns its outputs, in the structure of `out_type`.

    `args`, and keywords that name parameters, are the kernel's arguments: arrays are operands,
    numbers become constants of the code. The remaining parameters are its results, in the order of
    the leaves of `out_type` (anything with a shape and a dtype). Other keywords are constants of
    the kernel; `grid` (an integer, a tuple, or a function of all of them) is the number of
    programs.

    `input_output_aliases` gives an operand (counted among the kernel's arguments that are not
    constants) the memory of a result, which is how a kernel changes an operand: the result then has
    no parameter of its own. `zeroed_outputs` are set to zero first. `backend_options` are options
    of the target. `cost_estimate` ("flops", "bytes_accessed") is for XLA's profilers.
    """
    check_jaxlib()
    out_type = _one_of(out_type, out_shape)
    fn = _function_of(kernel)
    options = _options(num_warps, num_stages, num_ctas, debug, backend_options)
    bound, metaparams = _bind(fn, args, kwargs)
    shapes, tree = tree_util.tree_flatten(
        tree_util.tree_map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), out_type)
    )
    if not shapes:
        raise ValueError(
            "out_type has no results, and JAX removes calls without results; a kernel that changes an "
            "operand has it as a result, too: see input_output_aliases"
        )
    aliases = dict(input_output_aliases or {})
    operands, arguments = _arguments(fn, bound, shapes, aliases)
    spec = CallSpec(
        kernel=kernel,
        name=name,
        arguments=arguments,
        metaparams=tuple((key, Constant(value)) for key, value in metaparams.items()),
        options=tuple((key, Constant(value)) for key, value in options.items()),
        shapes=tuple(shapes),
        grid=_resolved_grid(kernel, grid, bound, metaparams),
        compute_capability=compute_capability,
        aliases=tuple(_operand_aliases(arguments, aliases, len(shapes))),
        zeroed=zeroed_outputs if callable(zeroed_outputs) else tuple(zeroed_outputs),
        metadata=bytes(serialized_metadata),
        cost=tuple(sorted((cost_estimate or {}).items())),
        has_side_effect=has_side_effect,
    )
    return tree_util.tree_unflatten(tree, triton_call_p.bind(*operands, spec=spec))


def _one_of(out_type: Any, out_shape: Any) -> Any:
    if (out_type is None) == (out_shape is None):
        raise TypeError(
            "triton_call needs `out_type`, the shapes and dtypes of the results (`out_shape` is "
            "another name for it); give one of the two"
        )
    return out_shape if out_type is None else out_type


def _function_of(kernel: Any) -> JITFunction[Any]:
    fn = kernel
    while isinstance(fn, (Autotuner, Heuristics)):
        fn = fn.fn
    if not isinstance(fn, JITFunction):
        raise TypeError(
            f"kernel must be a function decorated with triton.jit, got {type(kernel).__name__}"
        )
    return fn


def _options(
    num_warps: int | None,
    num_stages: int | None,
    num_ctas: int | None,
    debug: bool,
    more: Mapping[str, Any] | None,
) -> dict[str, Any]:
    given = {"num_warps": num_warps, "num_stages": num_stages, "num_ctas": num_ctas}
    options = {name: value for name, value in given.items() if value is not None}
    if debug:
        options["debug"] = True
    twice = sorted(options.keys() & (more or {}).keys())
    if twice:
        raise ValueError(f"{twice[0]} is given twice: as an argument and in backend_options")
    return {**(more or {}), **options}


def _bind(
    fn: JITFunction[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of parameters that are not constants, and everything else that has a name."""
    constants = {param.name for param in fn.params if param.is_constexpr}
    known = {name: value for name, value in kwargs.items() if name in fn.arg_names}
    try:
        bound = fn.signature.bind_partial(*args, **known).arguments
    except TypeError as error:
        raise TypeError(f"kernel {fn.__name__}: {error}") from None
    metaparams = {name: value for name, value in kwargs.items() if name not in known}
    metaparams.update({name: value for name, value in bound.items() if name in constants})
    return {name: bound[name] for name in bound if name not in constants}, metaparams


def _is_array(value: Any) -> bool:
    return isinstance(value, (jax.Array, np.ndarray)) and not isinstance(value, np.generic)


def _is_ref(value: Any) -> bool:
    return "Ref" in type(value).__name__ or "Ref" in type(getattr(value, "aval", None)).__name__


def _arguments(
    fn: JITFunction[Any], bound: dict[str, Any], shapes: list[Any], aliases: dict[int, int]
) -> tuple[list[Any], tuple[Any, ...]]:
    """The operands, and the argument of each parameter that is not a constant."""
    operands: list[Any] = []
    arguments: list[tuple[str, Any]] = []
    names = [param.name for param in fn.params if not param.is_constexpr]
    missing = [name for name in names if name not in bound]
    # An aliased result may have a parameter of its own, or share the operand's.
    own = list(range(len(shapes)))
    if len(missing) != len(own):
        own = [index for index in own if index not in aliases.values()]
    if len(missing) != len(own):
        raise ValueError(
            f"kernel {fn.__name__} has {len(missing)} parameters without an argument "
            f"({', '.join(missing) or 'none'}); out_type has {len(own)} results for them"
        )
    results = iter(own)
    for name in names:
        value = bound.get(name)
        if name not in bound:
            arguments.append((name, Result(next(results))))
        else:
            arguments.append((name, _argument(value, operands, name, fn.__name__)))
    return operands, tuple(arguments)


def _argument(value: Any, operands: list[Any], name: str, kernel: str) -> Any:
    """An argument whose arrays are replaced by operands."""
    if isinstance(value, tuple):
        parts = [_argument(part, operands, name, kernel) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if _is_ref(value):
        raise NotImplementedError(
            f"argument `{name}` of {kernel} is a Ref; pass the array, and let "
            "input_output_aliases give its memory to a result"
        )
    if not _is_array(value):
        return Constant(_number(value, name, kernel))
    operands.append(value)
    return Operand(len(operands) - 1)


def _number(value: Any, name: str, kernel: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float)):
        # JAX has its own subclasses of these.
        for kind in (bool, int, float):
            if isinstance(value, kind):
                return kind(value)
        return value
    raise TypeError(
        f"argument `{name}` of {kernel} is a {type(value).__name__}; a call takes arrays, numbers and "
        "tuples of these"
    )


def _operand_aliases(
    arguments: tuple[Any, ...], aliases: dict[int, int], results: int
) -> list[tuple[int, int]]:
    """(operand, result): the caller's numbers also count scalar arguments."""
    given = [leaf for _, argument in arguments for leaf in leaves_of(argument)]
    given = [leaf for leaf in given if not isinstance(leaf, Result)]
    if len(set(aliases.values())) != len(aliases):
        raise ValueError("input_output_aliases gives one result the memory of two operands")
    pairs = []
    for index, result in aliases.items():
        if not 0 <= index < len(given) or not isinstance(given[index], Operand):
            raise ValueError(
                f"input_output_aliases names argument {index}, which is no array; the call has "
                f"{len(given)} arguments"
            )
        if not 0 <= result < results:
            raise ValueError(
                f"input_output_aliases names result {result}; the call has {results} of them"
            )
        pairs.append((given[index].index, result))
    return pairs


def _resolved_grid(
    kernel: Any, grid: Any, bound: dict[str, Any], metaparams: dict[str, Any]
) -> Any:
    """Evaluates a grid function immediately where all its arguments are known: calls are cached by
    their contents, and each evaluation of a lambda is a new function.
    """
    if callable(grid) and isinstance(kernel, JITFunction):
        defaults = {
            param.name: param.default
            for param in kernel.params
            if param.is_constexpr and param.has_default
        }
        known = {
            name: ArrayType.of(value) if _is_array(value) else value
            for name, value in bound.items()
        }
        grid = grid({**defaults, **known, **metaparams})
    return tuple(grid) if isinstance(grid, list) else grid
