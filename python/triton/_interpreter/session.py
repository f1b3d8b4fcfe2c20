"""One launch whose programs Python runs: executes their operations."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from .._C import libtriton
from ..language import values as language_values
from ..language.semantic import Semantic, _wrapped
from ..language.values import _unwrap_if_constexpr
from ..language.values import tuple as tl_tuple
from . import library
from .operations import Operation, compiled_operation
from .protection import ReadOnlyMemory, writes
from .values import BlockPointer, Descriptor, Tensor, bytes_of, decayed, kind_of
from .waits import contents


def has_no_sign(bound: Any) -> bool:
    return isinstance(bound, Tensor) and kind_of(bound.type)[0].startswith("u")


class LoopValues:
    """Python's `range` of tensors."""

    def __init__(self, numbers: builtins.range, kind: str):
        bits = 8 * bytes_of((kind, ()))
        if numbers and kind.startswith("i") and bits < 64 and max(numbers[0], numbers[-1]) >> (bits - 1):
            kind, bits = "i64", 64
        self._numbers, self._kind = numbers, kind
        # A bound with a sign beside one without: negative numbers are those of the type without.
        self._mask = (1 << bits) - 1 if kind.startswith("u") else -1

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Tensor]:
        return (Tensor.number(number & self._mask, self._kind) for number in self._numbers)

    def __getitem__(self, index: Any) -> Any:
        found = self._numbers[index]
        if isinstance(found, builtins.range):
            return LoopValues(found, self._kind)
        return Tensor.number(found & self._mask, self._kind)


class Session:
    """The grid, the running program, and the conversion of its calls to operations.

    Implements the emitter interface that Semantic calls.
    """

    def __init__(self, grid: tuple[int, int, int], target: Any, options: dict[str, Any]):
        self.grid, self.target = grid, target
        self.program = (0, 0, 0)
        self.scheduler: Any = None
        self._options = options
        self._read_only = ReadOnlyMemory()
        self._functions: dict[Any, Callable[..., Any]] = {}
        self.semantic = Semantic(self)

    # --- Functions ---------------------------------------------------------------------------------

    def call(self, function: Any, args: Any, keywords: dict[str, Any]) -> Any:
        """Runs the body of an interpreted function."""
        made = self._functions.get(function)
        if made is None:
            made = self._functions[function] = function.body.bound()
        given = inspect.signature(function.fn).bind(*args, **keywords)
        constants = {param.name for param in function.params if param.is_constexpr}
        for name in constants & given.arguments.keys():
            given.arguments[name] = _unwrap_if_constexpr(given.arguments[name])
        return made(*given.args, **given.kwargs)

    @property
    def codes(self) -> set[Any]:
        return {function.__code__ for function in self._functions.values()}

    # --- Operations --------------------------------------------------------------------------------

    def apply(self, operation: Operation, args: Any, keywords: dict[str, Any] | None = None) -> Any:
        if self.scheduler is not None:
            self.scheduler.check()
        made, operands = compiled_operation(
            operation, args, keywords or {}, self.target, self._options
        )
        return made.run(self.grid, self.program, operands)

    def call_builtin(self, module: str, name: str, args: Any, keywords: dict[str, Any]) -> Any:
        if self._read_only and writes(name):
            self._check_write(module, name, args, keywords)
        if self.scheduler is None:
            return self._perform(module, name, args, keywords)
        if args and (name == "load" or name.startswith("atomic_")):
            self.scheduler.note_read(args[0])
        if not writes(name):
            return self._perform(module, name, args, keywords)
        return self.scheduler.write(
            lambda: self._overwritten(module, name, args, keywords),
            lambda: self._perform(module, name, args, keywords),
        )

    def _overwritten(self, module: str, name: str, args: Any, keywords: dict[str, Any]) -> Any:
        """The contents of the memory that an operation writes to; None where they are not known."""
        from ..language import core

        given = core.BUILTINS[module][name].__signature__.bind(*args, **keywords).arguments
        target = next(iter(given.values()))
        if isinstance(target, BlockPointer):
            checked = {"boundary_check": given.get("boundary_check", ()), "padding_option": "zero"}
            return self._perform("triton.language", "load", (target,), checked).handle.raw
        if isinstance(target, Descriptor) and name in ("store", "store_tensor_descriptor"):
            load = name.replace("store", "load")
            return self._perform(module, load, (target, given["offsets"]), {}).handle.raw
        return contents(target, given.get("mask")) if isinstance(target, Tensor) else None

    def _perform(self, module: str, name: str, args: Any, keywords: dict[str, Any]) -> Any:
        special = _SPECIAL.get(name)
        if special is not None and module == "triton.language":
            return special(self, *args, **keywords)
        if args and isinstance(args[0], (BlockPointer, Descriptor)):
            return self._on_block(module, name, args, keywords)
        return self.apply(("builtin", module, name), args, keywords)

    def pointer_to(self, array: Any, kind: str) -> Tensor:
        """An array of the launch as a pointer in the program."""
        address = libtriton.address_of(array)
        self._read_only.note(array, address)
        return Tensor.pointer(address, kind)

    def _check_write(self, module: str, name: str, args: Any, keywords: dict[str, Any]) -> None:
        self._read_only.check(name, *_target_of_write(module, name, args, keywords))

    def call_function(self, function: Any, args: Any, keywords: dict[str, Any]) -> Any:
        return function(*args, **keywords)

    def binary(self, op: str, left: Any, right: Any) -> Any:
        return self.apply(("binary", op), (left, right))

    def compare(self, op: str, left: Any, right: Any) -> Any:
        return self.apply(("compare", op), (left, right))

    def unary(self, op: str, operand: Any) -> Any:
        return self.apply(("unary", op), (operand,))

    def item(self, held: Any, index: Any) -> Any:
        return self.apply(("item",), (held, index))

    def options(self) -> dict[str, Any]:
        return {"backend_name": "cpu", "arch": self.target.arch, "debug": False, **self._options}

    # --- Loops -------------------------------------------------------------------------------------

    def loop_values(self, bounds: Any) -> LoopValues:
        """The values of `range`: scalars of the common type of its bounds."""
        total: Any = None
        for bound in bounds:
            bound = decayed(bound)
            total = bound if total is None else self.binary("+", total, bound)
        text = kind_of(total.type)[0] if isinstance(total, Tensor) else "i32"
        if text.startswith("u") and not any(map(has_no_sign, bounds)):
            text = "i64"  # of numbers alone, which have a sign
        numbers = builtins.range(*(int(bound) for bound in bounds))
        return LoopValues(numbers, text)

    # --- Blocks ------------------------------------------------------------------------------------

    def _on_block(self, module: str, name: str, args: Any, keywords: dict[str, Any]) -> Any:
        """An operation on a block pointer or a descriptor, which its kernel rebuilds from the
        fields.
        """
        from ..language import core

        function = core.BUILTINS[module][name]
        block, *rest = args
        signature = function.__signature__
        bound = signature.bind(block, *rest, **keywords)
        bound.apply_defaults()
        names = [key for key in list(signature.parameters)[1:] if key != "_semantic"]
        positional = tuple(bound.arguments[key] for key in names)
        if isinstance(block, BlockPointer):
            return self.apply(
                ("function", library.with_block), (function, *block.parts, positional)
            )
        return self.apply(
            ("function", library.with_descriptor), (function, *block.parts, positional)
        )

    def make_block_ptr(
        self, base: Any, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any
    ) -> Any:
        numbers = [tuple(map(decayed, part)) for part in (shape, strides, offsets)]
        parts = [base, *numbers, _plain(block_shape), _plain(order)]
        self.apply(("function", library.check_block), parts)
        return BlockPointer(*parts)

    def advance(self, base: Any, offsets: Any) -> Any:
        base_ptr, shape, strides, old, block_shape, order = base.parts
        moved = self.apply(("function", library.advanced), (*base.parts, tuple(offsets)))
        return BlockPointer(base_ptr, shape, strides, moved, block_shape, order)

    def make_tensor_descriptor(
        self, base: Any, shape: Any, strides: Any, block_shape: Any, padding_option: Any = "zero"
    ) -> Any:
        last = len(list(strides)) - 1
        steps = tuple(item if at == last else decayed(item) for at, item in enumerate(strides))
        parts = (
            base,
            tuple(map(decayed, shape)),
            steps,
            _plain(block_shape),
            _unwrap_if_constexpr(padding_option),
        )
        extents, strides = self.apply(("function", library.descriptor_fields), parts)
        return Descriptor(parts, extents, strides, _block_type(base, parts[3]))

    def static_range(self, start: Any, end: Any = None, step: Any = None) -> Any:
        bounds = [_unwrap_if_constexpr(item) for item in (start, end, step) if item is not None]
        for bound in bounds:
            assert isinstance(bound, int), f"`static_range` bound {bound} is not a constexpr"
        return builtins.range(*bounds)

    def range(self, start: Any, end: Any = None, step: Any = None, **_: Any) -> Any:
        bounds = [item for item in (start, end, step) if item is not None]
        return self.loop_values(bounds)

    def condition(self, arg: Any, **_: Any) -> Any:
        return arg

    def static_print(self, *values: Any, **options: Any) -> None:
        print(*map(_unwrap_if_constexpr, values), **options)

    def to_tensor(self, x: Any) -> Any:
        return decayed(x)


def as_constant(value: Any) -> Any:
    """A value as built-ins written in Python receive it: constants in `tl.constexpr`."""
    if isinstance(value, (builtins.tuple, list)) and not hasattr(value, "_fields"):
        return tl_tuple([as_constant(item) for item in value])
    return _wrapped(value)


def _plain(items: Any) -> tuple[int, ...]:
    return tuple(_unwrap_if_constexpr(item) for item in items)


def _target_of_write(module: str, name: str, args: Any, keywords: dict[str, Any]) -> Any:
    """The pointer and the mask."""
    from ..language import core

    given = core.BUILTINS[module][name].__signature__.bind(*args, **keywords).arguments
    return next(iter(given.values())), given.get("mask")


def _block_type(base: Any, shape: tuple[int, ...]) -> Any:
    from ..language.dtypes import block_type

    return block_type(base.dtype.element_ty, list(shape))


# Operations that a program performs itself instead of by a kernel.
_SPECIAL: dict[str, Callable[..., Any]] = {
    name: getattr(Session, name)
    for name in (
        "advance",
        "condition",
        "make_block_ptr",
        "make_tensor_descriptor",
        "range",
        "static_print",
        "static_range",
        "to_tensor",
    )
}


def current() -> Session:
    """The session whose program runs on this thread."""
    semantic = language_values.active_semantic()
    if semantic is None:
        raise RuntimeError(
            "Cannot call @triton.jit'd outside of the scope of a kernel; a launch has a grid: "
            "`kernel[grid](...)`"
        )
    return semantic._native
