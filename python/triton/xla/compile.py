"""Compiles a kernel, for given argument types and an explicit target, to a payload."""

# SPDX-License-Identifier: MIT
#
# No device is queried: the target is explicit, and arrays are types with a shape.
from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._C import libtriton
from .._C.libtriton import native_specialize_impl
from ..backends import GPUTarget
from ..compiler import ASTSource, CompiledKernel, compile, make_backend  # noqa: A004
from ..language.signature_types import canonical_name, is_scalar_name
from ..runtime.binder import Binder, normalize_grid
from ..runtime.jit import JITFunction, _describe
from . import payload as payloads
from .configs import candidates
from .jaxlib import fill_for_jaxlib
from .scalars import scalar_parameter

_ALIGNMENT = 16  # of an array's start, which code is specialised for


@dataclasses.dataclass(frozen=True)
class ArrayType:
    """The properties of an array that a call's payload needs."""

    dtype: str  # "fp32"
    shape: tuple[int, ...]
    divisibility: int = _ALIGNMENT  # of its address
    bytes_to_zero: int = 0  # at its start, zeroed before each launch
    buffer: int | None = None  # index among the call's operands and results; None: in order

    @classmethod
    def of(cls, array: Any, **fields: Any) -> ArrayType:
        """The type of anything with a dtype and a shape."""
        if isinstance(array, ArrayType):
            return dataclasses.replace(array, **fields)
        return cls(type_name(array.dtype), tuple(map(int, array.shape)), **fields)

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def type_name(dtype: Any) -> str:
    """ "fp32" for numpy's, JAX's and torch's float32, and for "float32"."""
    text = getattr(dtype, "name", None) or str(dtype)
    name = canonical_name(text.rsplit(".", 1)[-1])
    if name is None or not is_scalar_name(name):
        raise TypeError(f"kernels have no elements of type {dtype}")
    return name


@dataclasses.dataclass(frozen=True)
class Call:
    """A custom call that can be added to a graph."""

    data: bytes  # the payload
    kernels: tuple[CompiledKernel, ...]  # one, or the candidates of an autotuned kernel
    target: GPUTarget
    written: frozenset[int]  # indices, among the arrays, of those that the kernel may write

    @property
    def is_autotuned(self) -> bool:
        return len(self.kernels) > 1

    @property
    def kernel(self) -> CompiledKernel:
        return self.kernels[0]


def resolve_target(target: Any) -> GPUTarget:
    """ "cpu" means this machine's processor; the code may not run on others."""
    if target == "cpu" or (isinstance(target, GPUTarget) and target.backend == "cpu"):
        return GPUTarget(*libtriton.driver_cpu.host_target())
    if not isinstance(target, GPUTarget):
        raise TypeError(
            f'target must be "cpu" or a GPUTarget such as GPUTarget("cuda", 90, 32), got {target!r}'
        )
    return target


def make_call(
    kernel: Any,
    args: Sequence[Any],
    grid: Any,
    target: Any = "cpu",
    metaparams: Mapping[str, Any] | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    name: str = "",
    metadata: bytes = b"",
    aliases: Sequence[tuple[int, int, int]] = (),
    may_write_operands: bool = False,
    jaxlib: str | None = None,
) -> Call:
    """Compiles `kernel` for `target` and puts the call into a payload.

    `args` are the kernel's arguments in its order, arrays as anything with a dtype and a shape.
    `metaparams` are its other arguments and its constants by name, and launch options, which may
    also be in `options`. An autotuned kernel becomes a payload that finds the fastest of its
    configurations at its first run; `aliases` (operand, result, bytes) are then restored. With
    `jaxlib` the payload is for the handlers of that version ("0.11.2") instead of this package's.
    """
    target = resolve_target(target)
    backend = make_backend(target)
    given = dict(metaparams or {})
    calls, kernels = [], []
    fn, configs = candidates(kernel, args, given)
    for config in configs:
        keywords = {**given, **config.kwargs}
        bound = Binder(fn.__name__, fn.params).bind(tuple(args), keywords)
        asked = {**(options or {}), **Binder(fn.__name__, fn.params, backend).options(keywords)}
        compiled, specialization = _compile(fn, bound, asked, target, backend)
        kernels.append(compiled)
        arguments = _runtime_arguments(fn, bound, specialization)
        calls.append(
            payloads.KernelCall(
                _code(compiled, target, jaxlib),
                _grid(grid, {**keywords, **bound}),
                _parameters(arguments, for_jaxlib=jaxlib is not None),
                may_write_operands and jaxlib is None,
            )
        )
    call = calls[0]
    if len(calls) > 1:
        described = [(each, str(config)) for each, config in zip(calls, configs, strict=True)]
        call = payloads.AutotunedCall(name or fn.__name__, described, [*map(list, aliases)])
    data = payloads.write(call, name or fn.__name__, metadata)
    return Call(data, tuple(kernels), target, _written(arguments, kernels))


def _compile(
    fn: JITFunction[Any],
    bound: dict[str, Any],
    options: dict[str, Any],
    target: GPUTarget,
    backend: Any,
) -> tuple[CompiledKernel, list[Any]]:
    binder = Binder(fn.__name__, fn.params, backend)
    specialization = [_specialize(binder, param, bound[param.name]) for param in fn.params]
    signature, constants, attrs = _describe(bound, specialization, backend)
    source = ASTSource(fn, signature, constants, attrs)
    return compile(source, target=target, options=options, _folder_view=False), specialization


def _is_array(value: Any) -> bool:
    return (
        hasattr(value, "dtype")
        and hasattr(value, "shape")
        and not hasattr(value, "as_integer_ratio")
    )


def _specialize(binder: Binder, param: Any, value: Any) -> tuple[Any, Any]:
    """(type, key) of an argument, without an array's address; of a tuple, tuples of these."""
    if isinstance(value, tuple) and not param.is_constexpr:
        pairs = [_specialize_element(binder, param, part) for part in value]
        return tuple(kind for kind, _ in pairs), tuple(key for _, key in pairs)
    if param.is_constexpr or not _is_array(value):
        return _plain_type(binder, param, value, binder._specialize_one(param, value))
    kind = ("*k" if param.is_const else "*") + type_name(value.dtype)
    if param.do_not_specialize:
        return kind, None
    return kind, "" if param.do_not_specialize_on_alignment else _alignment_key(value)


def _specialize_element(binder: Binder, param: Any, value: Any) -> tuple[Any, Any]:
    """An element of a tuple: properties of the parameter do not apply to it."""
    if isinstance(value, tuple):
        pairs = [_specialize_element(binder, param, part) for part in value]
        return tuple(kind for kind, _ in pairs), tuple(key for _, key in pairs)
    if _is_array(value):
        return "*" + type_name(value.dtype), _alignment_key(value)
    return _plain_type(
        binder, param, value, native_specialize_impl(type(binder.backend), value, False, True, True)
    )


def _plain_type(binder: Binder, param: Any, value: Any, pair: tuple[Any, Any]) -> tuple[Any, Any]:
    if isinstance(pair[0], tuple) or not isinstance(pair[0], str):
        raise TypeError(
            f"argument `{param.name}` of {binder.kernel_name} is a {type(value).__name__}; "
            "a call in a graph takes arrays, numbers, constants and tuples of these"
        )
    return pair


def _alignment_key(array: Any) -> str:
    return "D" if ArrayType.of(array).divisibility % _ALIGNMENT == 0 else ""


def _leaves(value: Any, kind: Any, key: Any) -> Iterator[tuple[Any, str, Any]]:
    """(value, type, key) of every argument that exists at run time, tuples flattened."""
    if isinstance(kind, tuple):
        for part in zip(value, kind, key, strict=True):
            yield from _leaves(*part)
    elif kind != "constexpr":
        yield value, kind, key


def _runtime_arguments(
    fn: JITFunction[Any], bound: dict[str, Any], specialization: list[Any]
) -> list[tuple[str, Any, str, Any]]:
    """(parameter, value, type, key) in the kernel's order."""
    return [
        (param.name, *leaf)
        for param, (kind, key) in zip(fn.params, specialization, strict=True)
        for leaf in _leaves(bound[param.name], kind, key)
    ]


def _parameters(arguments: list[tuple[str, Any, str, Any]], for_jaxlib: bool) -> list[Any]:
    return [
        _array_parameter(ArrayType.of(value), key, for_jaxlib)
        if kind.startswith("*")
        else scalar_parameter(value, kind, name)
        for name, value, kind, key in arguments
    ]


def _array_parameter(array: ArrayType, key: str | None, for_jaxlib: bool) -> Any:
    alignment = _ALIGNMENT if key and "D" in key else 0
    if not for_jaxlib:
        return payloads.Array(array.bytes_to_zero, alignment, list(array.shape), array.buffer)
    if array.buffer is not None:
        raise ValueError("jaxlib's handlers take a call's buffers in order; leave out `buffer`")
    return payloads.Array(array.bytes_to_zero, alignment)


def _grid(grid: Any, bound: dict[str, Any]) -> tuple[int, int, int]:
    if callable(grid):
        grid = grid(bound)
    return normalize_grid((grid,) if isinstance(grid, int) else grid, bound)


def _code(compiled: CompiledKernel, target: GPUTarget, jaxlib: str | None) -> Any:
    code = payloads.Kernel()
    code.name = compiled.name
    if jaxlib is None:
        code.artifact = libtriton.xla.launchable(compiled._code)
        return code
    if target.backend != "cuda":
        raise ValueError(
            f"jaxlib's handlers run kernels for CUDA; this call is for {target.backend}: "
            "leave out `jaxlib`"
        )
    fill_for_jaxlib(code, compiled, jaxlib)
    return code


def _written(
    arguments: list[tuple[str, Any, str, Any]], kernels: list[CompiledKernel]
) -> frozenset[int]:
    """The arrays that any of the kernels may write."""
    flags = [libtriton.xla.written(kernel._code) for kernel in kernels]
    arrays = [index for index, (_, _, kind, _) in enumerate(arguments) if kind.startswith("*")]
    return frozenset(
        number for number, index in enumerate(arrays) if any(flag[index] for flag in flags)
    )
