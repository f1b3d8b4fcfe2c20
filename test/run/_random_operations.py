"""Operations of random programs: each picks operands of a program and returns an expression, or None if none fit."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import _random_nodes as nodes
import numpy as np
from _random_numbers import FLOATS, INTS, SIGNED, WIDE_FLOATS, Node, width

LARGEST = 4096  # elements of a tile
MOST_SORTED = 64
MOST_DIMS = 4

# Functions that generated kernels call.
PROLOGUE = '''
@triton.jit
def _multiply(a, b):
    return a * b


@triton.jit
def _larger(a, b):
    return tl.where(a > b, a, b)


@triton.jit
def _sum_and_xor(a0, b0, a1, b1):
    return a0 + a1, b0 ^ b1


@triton.jit
def _branches(a, b):
    if a > b:
        return a - b
    else:
        return b


@triton.jit
def _leaves_early(x, y, is_first):
    if is_first:
        return x * 2
    return y
'''


def is_int(kind):
    return kind.dtype in INTS


def is_tile(kind):
    return len(kind.shape) > 0


def is_exact_int(kind):
    return kind.exact and kind.dtype in INTS


def power_of_two(p, most):
    """A random number up to `most`."""
    return 2 ** p.random.randint(0, max(most, 1).bit_length() - 1)


def can_promote(a: str, b: str) -> bool:
    """Conversions that round once; wide integers are not converted to 16-bit floats."""
    kinds = {a, b}
    if kinds & {"float16", "bfloat16"}:
        ints = [dtype for dtype in kinds if dtype in INTS]
        return all(width(dtype) <= 8 for dtype in ints) and "bool" not in kinds
    return True


def numbers(p, like: str) -> Node:
    r = p.random
    if like in FLOATS and r.random() < 0.5:
        return nodes.constant(r.choice([0.5, 1.5, -2.25, 3.0]), like)
    return nodes.constant(r.randint(0 if like not in SIGNED else -9, 9), like)


def pair(p, wanted=lambda kind: True, may_be_number=True):
    """Two operands whose shapes fit together; the second may be a number."""
    x = p.pick(wanted)
    if x is None:
        return None
    if may_be_number and p.random.random() < 0.2:
        return x, numbers(p, x.kind.dtype)

    def fits(kind):
        return wanted(kind) and can_promote(kind.dtype, x.kind.dtype) and p.can_join(kind.shape, x.kind.shape)

    y = p.pick(fits)
    return (x, y) if y is not None else None


def add_multiply(p):
    found = pair(p, lambda kind: kind.dtype != "bool")
    return found and nodes.arithmetic(p.random.choice("+-*"), *found)


def compare(p):
    found = pair(p, lambda kind: kind.exact and kind.dtype != "bool")
    return found and nodes.compare(p.random.choice(list(nodes.COMPARISONS)), *found)


def bitwise(p):
    x = p.pick(lambda kind: kind.exact and kind.dtype not in FLOATS)
    y = x and p.pick(
        lambda kind: kind.exact
        and kind.dtype not in FLOATS
        and (kind.dtype == "bool") == (x.kind.dtype == "bool")
        and p.can_join(kind.shape, x.kind.shape)
    )
    return y and nodes.bitwise(p.random.choice("&|^"), x, y)


def shift(p):
    x = p.pick(is_exact_int)
    return x and nodes.shift(p.random.choice(["<<", ">>"]), x, p.random.randint(0, 7))


def divide(p):
    x = p.pick(is_exact_int)
    y = x and p.pick(lambda kind: kind.exact and kind.dtype == x.kind.dtype and p.can_join(kind.shape, x.kind.shape))
    return y and nodes.divide(p.random.choice(["//", "%"]), x, y)


def quotient(p):
    found = pair(p, lambda kind: kind.exact and kind.dtype != "bool", may_be_number=False)
    if not found:
        return None
    x, y = found
    ints = [node.kind.dtype for node in found if is_int(node.kind)]
    if len(ints) == 2 and (ints[0] in SIGNED) != (ints[1] in SIGNED):
        return None
    if not ints and p.random.random() < 0.3 and {x.kind.dtype, y.kind.dtype} <= set(WIDE_FLOATS):
        return nodes.remainder(x, y)
    return nodes.quotient(x, y, p.device)


def extreme(p):
    found = pair(p, lambda kind: kind.dtype != "bool")
    if not found:
        return None
    all_nan = p.random.random() < 0.3 and all(node.kind.exact and not is_int(node.kind) for node in found)
    return nodes.extreme(p.random.choice(["maximum", "minimum"]), *found, all_nan=all_nan)


def where(p):
    x = p.pick()
    y = p.pick(lambda kind: kind.dtype == x.kind.dtype and p.can_join(kind.shape, x.kind.shape))
    shape = nodes.joint_shape(x, y)
    condition = p.condition(shape)
    return nodes.where(condition, x, y)


def unary(p):
    r = p.random
    x = p.pick(lambda kind: kind.exact and kind.dtype in WIDE_FLOATS) if r.random() < 0.5 else None
    x = x or p.pick(lambda kind: kind.dtype != "bool")
    kind = x.kind
    if r.random() < 0.3 and (kind.dtype in SIGNED or kind.dtype in FLOATS):
        return nodes.negative(x)
    if kind.exact and kind.dtype in WIDE_FLOATS and r.random() < 0.6:
        name = r.choice(["sqrt", "floor", "ceil"])
        if name != "sqrt":
            return nodes.mapped(x, f"tl.{name}({x.text})", getattr(np, name))
        name = "sqrt_rn" if p.device != "cpu" and kind.dtype == "float32" else "sqrt"
        x = nodes.absolute(x)
        return nodes.mapped(x, f"tl.{name}({x.text})", np.sqrt)
    return nodes.absolute(x)


def cast(p):
    x = p.pick()
    have = x.kind.dtype
    possible = FLOATS if not x.kind.exact else (*INTS, *FLOATS, "bool")
    possible = [dtype for dtype in possible if can_promote(have, dtype) and dtype != have]
    if have == "float64":
        possible = [dtype for dtype in possible if dtype != "bfloat16"]  # numpy would round twice
    return nodes.to(x, p.random.choice(possible))


def reduction(p):
    r = p.random
    x = p.pick(lambda kind: is_tile(kind) and kind.dtype != "bool")
    if x is None:
        return None
    axis = r.choice([None, *range(len(x.kind.shape))])
    keep = r.random() < 0.5
    kinds = ["sum"] if not x.kind.exact else ["sum", "max", "min"]
    if x.kind.exact:
        kinds += ["argmax", "argmin"] if axis is not None else []
        kinds += ["xor_sum", "product"] if is_int(x.kind) else []
    kind = r.choice(kinds)
    if kind == "sum":
        return nodes.sum_of(x, axis, keep)
    if kind in ("max", "min"):
        return nodes.most_of(kind, x, axis, keep)
    if kind in ("argmax", "argmin"):
        return nodes.index_of(kind, x, axis)
    function = np.bitwise_xor if kind == "xor_sum" else np.multiply
    text = f"tl.xor_sum({x.text}, axis={axis}" if kind == "xor_sum" else f"tl.reduce({x.text}, {axis}, _multiply"
    text += ", keep_dims=True)" if keep else ")"
    dtype = x.kind.dtype
    return nodes.mapped(x, text, lambda a: function.reduce(a, axis=axis, keepdims=keep, dtype=dtype))


def reduction_of_two(p):
    """The second result of a reduction of two tiles at once."""
    x = p.pick(lambda kind: is_exact_int(kind) and is_tile(kind))
    y = x and p.pick(lambda kind: is_exact_int(kind) and kind.shape == x.kind.shape)
    if y is None:
        return None
    axis, index = p.random.randrange(len(x.kind.shape)), p.random.randrange(2)
    text = f"tl.reduce(({x.text}, {y.text}), {axis}, _sum_and_xor)[{index}]"
    chosen, function = ((x, np.add), (y, np.bitwise_xor))[index]
    return nodes.mapped(chosen, text, lambda a: function.reduce(a, axis=axis, dtype=a.dtype))


def scan(p):
    r = p.random
    x = p.pick(lambda kind: is_tile(kind) and kind.dtype != "bool")
    if x is None:
        return None
    axis, reverse = r.randrange(len(x.kind.shape)), r.random() < 0.4
    kind = r.choice(["sum", "product", "xor", "larger"]) if is_exact_int(x.kind) else "sum"
    if kind == "sum":
        return nodes.running_sum(x, axis, reverse)
    if kind == "product":
        return nodes.running_product(x, axis, reverse)
    if kind == "xor":
        return nodes.scan_by(x, axis, reverse, "lambda a, b: a ^ b", np.bitwise_xor)
    return nodes.scan_by(x, axis, reverse, "_larger", np.maximum)


def new_shape(p, size):
    """Extents that are powers of two, with the given product."""
    extents, left = [], size
    while left > 1 and len(extents) < MOST_DIMS - 1:
        extent = power_of_two(p, left)
        extents.append(extent)
        left //= extent
    return (*extents, left)


def reshape(p):
    x = p.pick(is_tile)
    if x is None:
        return None
    shape = new_shape(p, x.kind.size)
    if p.random.random() < 0.2:
        return nodes.moved(x, f"tl.ravel({x.text})", np.ravel)
    return nodes.moved(x, f"tl.reshape({x.text}, {shape})", lambda a: a.reshape(shape))


def permute(p):
    x = p.pick(lambda kind: len(kind.shape) > 1)
    if x is None:
        return None
    order = p.random.sample(range(len(x.kind.shape)), len(x.kind.shape))
    if p.random.random() < 0.3:
        return nodes.moved(x, f"tl.trans({x.text})", lambda a: np.swapaxes(a, -1, -2))
    return nodes.moved(x, f"tl.permute({x.text}, {tuple(order)})", lambda a: np.transpose(a, order))


def grow(p):
    """expand_dims and broadcast_to."""
    r = p.random
    x = p.pick(lambda kind: is_tile(kind) and len(kind.shape) < MOST_DIMS)
    if x is None:
        return None
    axis = r.randint(0, len(x.kind.shape))
    wider = nodes.moved(x, f"tl.expand_dims({x.text}, {axis})", lambda a: np.expand_dims(a, axis))
    if r.random() < 0.4:
        return wider
    extent = power_of_two(p, min(8, LARGEST // x.kind.size))
    shape = tuple(extent if d == axis else n for d, n in enumerate(wider.kind.shape))
    return nodes.moved(wider, f"tl.broadcast_to({wider.text}, {shape})", lambda a: np.broadcast_to(a, shape))


def flip(p):
    x = p.pick(is_tile)
    if x is None:
        return None
    dim = p.random.randrange(len(x.kind.shape))
    return nodes.moved(x, f"tl.flip({x.text}, {dim})", lambda a: np.flip(a, dim))


def join(p):
    """join, interleave and cat."""
    x = p.pick(lambda kind: is_tile(kind) and kind.size * 2 <= LARGEST and len(kind.shape) < MOST_DIMS)
    y = x and p.pick(lambda kind: kind.dtype == x.kind.dtype and kind.shape == x.kind.shape)
    if y is None:
        return None
    kind, shape = p.random.choice(["join", "interleave", "cat"]), x.kind.shape
    if kind == "join":
        return nodes.paired(x, y, f"tl.join({x.text}, {y.text})", lambda a, b: np.stack([a, b], -1))
    if kind == "interleave":
        wide = (*shape[:-1], shape[-1] * 2)
        text = f"tl.interleave({x.text}, {y.text})"
        return nodes.paired(x, y, text, lambda a, b: np.stack([a, b], -1).reshape(wide))
    dim = p.random.randrange(len(shape))
    return nodes.paired(x, y, f"tl.cat({x.text}, {y.text}, dim={dim})", lambda a, b: np.concatenate([a, b], dim))


def split(p):
    x = p.pick(lambda kind: is_tile(kind) and kind.shape[-1] == 2)
    if x is None:
        even = p.pick(lambda kind: is_tile(kind) and kind.shape[-1] % 2 == 0 and len(kind.shape) < MOST_DIMS)
        if even is None:
            return None
        shape = (*even.kind.shape[:-1], even.kind.shape[-1] // 2, 2)
        x = nodes.moved(even, f"tl.reshape({even.text}, {shape})", lambda a: a.reshape(shape))
    half = p.random.randrange(2)
    return nodes.moved(x, f"tl.split({x.text})[{half}]", lambda a: a[..., half])


def gather(p):
    x = p.pick(is_tile)
    index = x and p.pick(lambda kind: is_exact_int(kind) and kind.shape == x.kind.shape)
    if index is None:
        return None
    axis = p.random.randrange(len(x.kind.shape))
    index = nodes.to(index, "int32")
    index = nodes.bitwise("&", index, nodes.constant(x.kind.shape[axis] - 1, "int32"))
    text = f"tl.gather({x.text}, {index.text}, {axis})"

    def run(env):
        indices = index.run(env).array
        return x.run(env).map(lambda a: np.take_along_axis(a, indices, axis))

    return Node(text, x.kind, run)


def sort(p):
    """sort and topk of integers, or of floats without NaN."""
    r = p.random
    x = p.pick(lambda kind: is_exact_int(kind) and is_tile(kind) and kind.shape[-1] <= MOST_SORTED)
    if x is None:
        return None
    descending = r.random() < 0.5

    def ordered(a):
        return np.flip(np.sort(a, -1), -1) if descending else np.sort(a, -1)

    if r.random() < 0.6:
        return nodes.mapped(x, f"tl.sort({x.text}, descending={descending})", ordered)
    k = power_of_two(p, x.kind.shape[-1])
    return nodes.mapped(x, f"tl.topk({x.text}, {k}, descending={descending})", lambda a: ordered(a)[..., :k])


def histogram(p):
    x = p.pick(lambda kind: is_exact_int(kind) and len(kind.shape) == 1 and width(kind.dtype) >= 32)
    if x is None:
        return None
    x = nodes.bitwise("&", x, nodes.constant(15, x.kind.dtype))

    def count(a):
        return np.bincount(a.astype(np.int64), minlength=16).astype(np.int32)

    return nodes.mapped(x, f"tl.histogram({x.text}, 16)", count, "int32")


def elementwise_function(p):
    """map_elementwise: control flow for each element."""
    x = p.pick(lambda kind: is_exact_int(kind) and is_tile(kind))
    y = x and p.pick(lambda kind: kind.exact and kind.dtype == x.kind.dtype and kind.shape == x.kind.shape)
    if y is None:
        return None
    result = nodes.where(nodes.compare(">", x, y), nodes.arithmetic("-", x, y), y)
    return Node(f"tl.map_elementwise(_branches, {x.text}, {y.text})", result.kind, result.run)


def call(p):
    """A function that returns from a branch."""
    x = p.pick(lambda kind: kind.dtype != "bool")
    y = p.pick(lambda kind: kind == x.kind)
    flag = p.scalar_condition()
    result = nodes.where(flag, nodes.arithmetic("*", x, nodes.constant(2, x.kind.dtype)), y)
    return Node(f"_leaves_early({x.text}, {y.text}, {flag.text})", result.kind, result.run)


def matrix(p, x, rows=None):
    """A tile as a matrix, with the given number of rows, if any."""
    size = x.kind.size
    if len(x.kind.shape) == 2 and rows in (None, x.kind.shape[0]):
        return x
    rows = rows or power_of_two(p, min(size, 64))
    shape = (rows, size // rows)
    return nodes.moved(x, f"tl.reshape({x.text}, {shape})", lambda a: a.reshape(shape))


def dot(p):
    """A dot of existing tiles, which may be results of sums, scans and dots, or of a tile with itself."""
    r = p.random
    x = p.pick(lambda kind: is_tile(kind) and (kind.dtype in FLOATS or kind.exact and kind.dtype == "int8"))
    if x is None:
        return None
    a = matrix(p, x)
    inner = a.kind.shape[1]
    y = p.pick(lambda kind: is_tile(kind) and kind.dtype == x.kind.dtype and kind.size % inner == 0)
    b = matrix(p, y, inner)
    if r.random() < 0.3:
        b = nodes.moved(a, f"tl.trans({a.text})", np.transpose)
    if a.kind.shape[0] * b.kind.shape[1] > LARGEST or inner > 256:
        return None
    dtype = {"float64": "float64", "int8": "int32"}.get(x.kind.dtype, "float32")
    shape = (a.kind.shape[0], b.kind.shape[1])
    acc = p.pick(lambda kind: kind.dtype == dtype and kind.shape == shape) if r.random() < 0.5 else None
    if acc is not None and dtype == "int32" and not acc.kind.exact:
        acc = None
    result = nodes.dot(a, b, acc)
    return nodes.to(result, x.kind.dtype) if dtype == "float32" and r.random() < 0.4 else result


OPERATIONS = [add_multiply] * 4 + [reduction, dot] * 2
OPERATIONS += [compare, bitwise, shift, divide, quotient, extreme, where, unary, cast, reduction_of_two, scan, reshape]
OPERATIONS += [permute, grow, flip, join, split, gather, sort, histogram, elementwise_function, call]
