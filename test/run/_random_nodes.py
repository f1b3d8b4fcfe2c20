"""Expressions of random programs: each builds kernel text and numpy's computation of it from the same operands."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from _random_numbers import (
    FLOATS,
    INTS,
    SIGNED,
    UNSIGNED,
    Kind,
    Node,
    Value,
    cast,
    convert,
    in_tl,
    matmul,
    promote,
    rounded,
    running_total,
    storage,
    total,
    width,
)

COMPARISONS = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
BITWISE = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}
FAR = 100  # floats are clamped to -FAR..FAR before they become integers


def constant(number: int | float, dtype: str) -> Node:
    """A Python number as an operand with a tile of that type, whose type it takes."""
    value = convert(np.asarray(number), dtype)
    return Node(f"({number})" if number < 0 else str(number), Kind(dtype, ()), lambda env: Value(value))


def joint_shape(*nodes: Node) -> tuple[int, ...]:
    return np.broadcast_shapes(*(node.kind.shape for node in nodes))


def to(x: Node, dtype: str) -> Node:
    """x.to(dtype); floats must be in the range of an integer type."""
    if x.kind.dtype == dtype:
        return x
    if x.kind.dtype in FLOATS and dtype in INTS:
        low = 0.0 if dtype in UNSIGNED else -float(FAR)
        x = extreme("minimum", extreme("maximum", x, constant(low, x.kind.dtype)), constant(float(FAR), x.kind.dtype))
    kind = Kind(dtype, x.kind.shape, x.kind.exact)
    return Node(f"{x.text}.to({in_tl(dtype)})", kind, lambda env: cast(x.run(env), dtype))


def _promoted(x: Node, y: Node, dtype: str) -> Callable[[dict], tuple[Value, Value]]:
    return lambda env: (cast(x.run(env), dtype), cast(y.run(env), dtype))


def arithmetic(op: str, x: Node, y: Node) -> Node:
    """+, - or * after promotion."""
    dtype = promote(x.kind.dtype, y.kind.dtype)
    kind = Kind(dtype, joint_shape(x, y), x.kind.exact and y.kind.exact)
    both = _promoted(x, y, dtype)
    function = {"+": np.add, "-": np.subtract, "*": np.multiply}[op]

    def run(env):
        a, b = both(env)
        if kind.exact:
            return Value(convert(function(a.array, b.array), dtype))
        (x, dx), (y, dy) = a.widened(), b.widened()
        with np.errstate(all="ignore"):
            far = np.abs(x) * dy + np.abs(y) * dx + dx * dy if op == "*" else dx + dy
            return rounded(function(x, y), far, dtype)

    return Node(f"({x.text} {op} {y.text})", kind, run)


def _exact(x: Node, y: Node, text: str, dtype: str, function: Callable) -> Node:
    """An operation of two exact operands in the type they promote to."""
    both = _promoted(x, y, promote(x.kind.dtype, y.kind.dtype))

    def run(env):
        a, b = both(env)
        return Value(function(a.array, b.array))

    return Node(text, Kind(dtype, joint_shape(x, y)), run)


def compare(op: str, x: Node, y: Node) -> Node:
    return _exact(x, y, f"({x.text} {op} {y.text})", "bool", COMPARISONS[op])


def bitwise(op: str, x: Node, y: Node) -> Node:
    dtype = promote(x.kind.dtype, y.kind.dtype)
    return _exact(x, y, f"({x.text} {op} {y.text})", dtype, BITWISE[op])


def shift(op: str, x: Node, places: int) -> Node:
    function = np.left_shift if op == "<<" else np.right_shift
    kind = x.kind
    amount = storage(kind.dtype).type(places)
    return Node(f"({x.text} {op} {places})", kind, lambda env: Value(function(x.run(env).array, amount)))


def _toward_zero(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    quotient = x // y
    return quotient + ((quotient < 0) & (quotient * y != x)).astype(x.dtype)


def divide(op: str, x: Node, y: Node) -> Node:
    """// or % of integers of one type, by 1..16; the quotient is truncated, the remainder has the dividend's sign."""
    y = arithmetic("+", bitwise("&", y, constant(15, y.kind.dtype)), constant(1, y.kind.dtype))
    function = _toward_zero if op == "//" else np.fmod
    return _exact(x, y, f"({x.text} {op} {y.text})", x.kind.dtype, function)


def remainder(x: Node, y: Node) -> Node:
    """% of floats: C's fmod, in float32 at least."""
    y = arithmetic("+", absolute(y), constant(1, y.kind.dtype))
    dtype = promote(x.kind.dtype, y.kind.dtype, is_quotient=True)
    both = _promoted(x, y, dtype)

    def run(env):
        a, b = both(env)
        return Value(np.fmod(a.array, b.array))

    return Node(f"({x.text} % {y.text})", Kind(dtype, joint_shape(x, y)), run)


def quotient(x: Node, y: Node, device: str) -> Node:
    """x / (|y| + 1); GPUs round the quotient of float32 to nearest only in div_rn."""
    y = arithmetic("+", absolute(y), constant(1, y.kind.dtype))
    dtype = promote(x.kind.dtype, y.kind.dtype, is_quotient=True)
    dtype = dtype if dtype in FLOATS else "float32"
    text = f"({x.text} / {y.text})"
    if device != "cpu" and dtype == "float32":
        text = f"tl.div_rn({to(x, dtype).text}, {to(y, dtype).text})"
    both = _promoted(x, y, dtype)

    def run(env):
        a, b = both(env)
        return Value(np.divide(a.array, b.array))

    return Node(text, Kind(dtype, joint_shape(x, y)), run)


def extreme(name: str, x: Node, y: Node, all_nan: bool = False) -> Node:
    """maximum or minimum; operands in bfloat16 are converted to float32 first."""
    widened = ("float32" if each.kind.dtype == "bfloat16" else each.kind.dtype for each in (x, y))
    dtype = promote(*widened)
    kind = Kind(dtype, joint_shape(x, y), x.kind.exact and y.kind.exact)
    number_wins = {"maximum": np.fmax, "minimum": np.fmin}[name]
    function = getattr(np, name) if all_nan else number_wins
    both = _promoted(x, y, dtype)

    def run(env):
        a, b = both(env)
        if kind.exact:
            return Value(function(a.array, b.array))
        (x, dx), (y, dy) = a.widened(), b.widened()
        return rounded(number_wins(x, y), np.maximum(dx, dy), dtype)

    rule = ", propagate_nan=tl.PropagateNan.ALL" if all_nan else ""
    return Node(f"tl.{name}({x.text}, {y.text}{rule})", kind, run)


def where(condition: Node, x: Node, y: Node) -> Node:
    """tl.where of two tiles of one type."""
    kind = Kind(x.kind.dtype, joint_shape(condition, x, y), x.kind.exact and y.kind.exact)

    def run(env):
        chosen, a, b = condition.run(env).array, x.run(env), y.run(env)
        if kind.exact:
            return Value(np.where(chosen, a.array, b.array))
        (x_array, dx), (y_array, dy) = a.widened(), b.widened()
        return Value(np.where(chosen, x_array, y_array), np.where(chosen, dx, dy))

    return Node(f"tl.where({condition.text}, {x.text}, {y.text})", kind, run)


def moved(x: Node, text: str, function: Callable[[np.ndarray], np.ndarray]) -> Node:
    """A tile with its elements moved to other coordinates."""
    shape = function(np.empty(x.kind.shape, bool)).shape
    return Node(text, Kind(x.kind.dtype, shape, x.kind.exact), lambda env: x.run(env).map(function))


def paired(x: Node, y: Node, text: str, function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Node:
    """A tile of the elements of two tiles of one type."""
    shape = function(np.empty(x.kind.shape, bool), np.empty(y.kind.shape, bool)).shape
    kind = Kind(x.kind.dtype, shape, x.kind.exact and y.kind.exact)

    def run(env):
        a, b = x.run(env), y.run(env)
        if kind.exact:
            return Value(function(a.array, b.array))
        (x_array, dx), (y_array, dy) = a.widened(), b.widened()
        return Value(function(x_array, y_array), function(dx, dy))

    return Node(text, kind, run)


def mapped(x: Node, text: str, function: Callable[[np.ndarray], np.ndarray], dtype: str | None = None) -> Node:
    """A function of an exact operand, elementwise or not: the shape is that of the result."""
    dtype = dtype or x.kind.dtype
    shape = np.shape(function(np.ones(x.kind.shape, storage(x.kind.dtype))))
    return Node(text, Kind(dtype, shape), lambda env: Value(np.asarray(function(x.run(env).array))))


def absolute(x: Node) -> Node:
    kind = x.kind
    return Node(f"tl.abs({x.text})", kind, lambda env: Value(np.abs(x.run(env).array), x.run(env).error))


def negative(x: Node) -> Node:
    return Node(f"(-{x.text})", x.kind, lambda env: Value(np.negative(x.run(env).array), x.run(env).error))


def widened_type(dtype: str) -> str:
    """The type of a sum of integers."""
    if width(dtype) >= 32:
        return dtype
    return "int32" if dtype in SIGNED else "uint32"


def _options(axis: int | None, keep: bool) -> str:
    return f"axis={axis}" + (", keep_dims=True" if keep else "")


def _reduced(shape: tuple[int, ...], axis: int | None, keep: bool) -> tuple[int, ...]:
    return np.sum(np.empty(shape), axis=axis, keepdims=keep).shape


def sum_of(x: Node, axis: int | None, keep: bool) -> Node:
    text = f"tl.sum({x.text}, {_options(axis, keep)})"
    shape = _reduced(x.kind.shape, axis, keep)
    dtype = x.kind.dtype
    if dtype in FLOATS:
        return Node(text, Kind(dtype, shape, False), lambda env: total(x.run(env), axis, dtype, keep))
    wide = widened_type(dtype)
    return mapped(x, text, lambda a: np.sum(a.astype(wide), axis=axis, keepdims=keep, dtype=wide), wide)


def most_of(name: str, x: Node, axis: int | None, keep: bool) -> Node:
    """max or min: NaN is dropped, narrow types are widened."""
    dtype = x.kind.dtype
    wide = dtype if width(dtype) >= 32 else "float32" if dtype in FLOATS else "int32"
    function = np.fmax if name == "max" else np.fmin
    text = f"tl.{name}({x.text}, {_options(axis, keep)})"
    return mapped(x, text, lambda a: function.reduce(a.astype(wide), axis=axis, keepdims=keep), wide)


def index_of(name: str, x: Node, axis: int) -> Node:
    """argmax or argmin: the first of equal elements; a NaN only if there is no number."""
    function = np.fmax if name == "argmax" else np.fmin

    def first(a):
        best = function.reduce(a, axis=axis, keepdims=True)
        return np.argmax((a == best) | (best != best), axis=axis).astype(np.int32)

    return mapped(x, f"tl.{name}({x.text}, axis={axis})", first, "int32")


def running_sum(x: Node, axis: int, reverse: bool) -> Node:
    dtype = x.kind.dtype
    text = f"tl.cumsum({x.text}, axis={axis}, reverse={reverse})"
    if dtype in FLOATS:
        wide = "float32" if dtype == "bfloat16" else dtype
        kind = Kind(wide, x.kind.shape, False)
        return Node(text, kind, lambda env: running_total(x.run(env), axis, wide, reverse))
    return _scan(x, text, np.add, axis, reverse, widened_type(dtype))


def running_product(x: Node, axis: int, reverse: bool) -> Node:
    text = f"tl.cumprod({x.text}, axis={axis}, reverse={reverse})"
    return _scan(x, text, np.multiply, axis, reverse, x.kind.dtype)


def scan_by(x: Node, axis: int, reverse: bool, combine: str, function: np.ufunc) -> Node:
    text = f"tl.associative_scan({x.text}, {axis}, {combine}, reverse={reverse})"
    return _scan(x, text, function, axis, reverse, x.kind.dtype)


def _scan(x: Node, text: str, function: np.ufunc, axis: int, reverse: bool, dtype: str) -> Node:
    def run(a):
        ordered = np.flip(a, axis) if reverse else a
        result = function.accumulate(ordered.astype(storage(dtype)), axis=axis, dtype=storage(dtype))
        return np.flip(result, axis) if reverse else result

    return mapped(x, text, run, dtype)


def dot(a: Node, b: Node, acc: Node | None) -> Node:
    """float32 for floats up to 32 bits, int32 for int8."""
    dtype = {"float64": "float64", "int8": "int32"}.get(a.kind.dtype, "float32")
    shape = (*a.kind.shape[:-1], b.kind.shape[-1])
    text = f"tl.dot({a.text}, {b.text}" + (f", {acc.text}" if acc else "") + ', input_precision="ieee")'
    if dtype != "int32":
        kind = Kind(dtype, shape, False)
        return Node(text, kind, lambda env: matmul(a.run(env), b.run(env), acc and acc.run(env), dtype))

    def run(env):
        start = acc.run(env).array if acc else np.int32(0)
        return Value((a.run(env).array.astype(np.int32) @ b.run(env).array.astype(np.int32) + start).astype(np.int32))

    return Node(text, Kind(dtype, shape), run)
