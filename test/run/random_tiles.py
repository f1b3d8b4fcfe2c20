"""Random programs over the whole language: arithmetic, reductions, scans, changes of shape, dots, carried tiles.

Usage: random_tiles.py [--count N] [--seed S] [--device cpu|cuda] [--keep]
Loads read overlapping views of shared buffers with strides of all kinds and masks; each store has its own memory. Integers,
booleans, comparisons, extremes and changes of shape are compared bit by bit, as are + - * / sqrt of floats (without fused
multiply-adds); sums, scans and dots with the error bound of a sum in any order.
"""
# SPDX-License-Identifier: MIT

import copy
import random
import sys

import _random_nodes as nodes
import _random_operations as operations
import _random_runs
import numpy as np
import pytest
from _random_numbers import FLOATS, INTS, Kind, Node, Value, convert, differences, storage
from harness import BFloat16, launch

BUFFER = 1 << 15  # elements of each shared buffer
OUTPUTS = 8
MOST_PROGRAMS = 3
DTYPES = [*INTS, *FLOATS, *FLOATS, "float32", "float32", "int32", "bool"]
UNTOUCHED = 1  # the content of outputs before the launch


class Program:
    """Statements: functions that write their lines and functions that run them, returning "break", "continue" or None."""

    def __init__(self, seed, device="cpu"):
        self.seed, self.device = seed, device
        r = self.random = random.Random(seed)
        self.dtypes = [r.choice(DTYPES) for _ in range(3)]  # of the shared buffers
        self.views = [(0, 0), (0, r.choice([0, 1, 7, 64])), (1, 0), (1, r.choice([0, 1, 100])), (2, 0)]
        self.grid = r.choice([1, 1, 2, MOST_PROGRAMS])
        self.arguments = dict(n=r.randint(2, 70), m=r.randint(2, 40), trips=r.choice([0, 1, 2, 3, 5]))
        self.arguments |= dict(s0=r.choice([1, 2, 3, 16]), s1=r.choice([1, 64, 65]))
        self.is_wild = r.random() < 0.2  # infinities and NaN among the inputs
        self.minds_zeros = True  # maximum and sort treat 0 and -0 as equal
        self.shapes = [self.new_shape() for _ in range(2)]
        self.count = 0
        self.outputs = []  # dtypes
        self.variables = [self.scalar("pid", "pid"), self.scalar("n0", "n")]
        self.statements = []
        for _ in range(2):
            self.statements.append(self.load())
        for _ in range(r.randint(3, 10)):
            self.statements.append(self.statement(0))
        self.statements += [self.store(variable) for variable in self.last_made(OUTPUTS)]

    # --- Operands of operations ----

    def pick(self, wanted=lambda kind: True):
        """A variable with the given properties; later ones and those with many elements are more likely."""
        fitting = [variable for variable in self.variables if wanted(variable.kind)]
        if not fitting:
            return None
        if self.random.random() < 0.7:
            fitting = [variable for variable in fitting if variable.kind.size > 1] or fitting
        return self.random.choice(fitting[-4:] if self.random.random() < 0.7 else fitting)

    def can_join(self, a, b):
        try:
            return np.prod(np.broadcast_shapes(a, b), dtype=np.int64) <= operations.LARGEST
        except ValueError:
            return False

    def scalar_condition(self):
        r = self.random
        s = self.pick(lambda kind: kind.exact and kind.dtype in ("int32", "int64") and kind.shape == ())
        if r.random() < 0.5:
            even = nodes.bitwise("&", s, nodes.constant(r.choice([1, 2, 3]), s.kind.dtype))
            return nodes.compare("==", even, nodes.constant(0, s.kind.dtype))
        return nodes.compare(r.choice("<>"), s, nodes.constant(r.randint(0, 40), s.kind.dtype))

    def condition(self, shape):
        """A mask whose shape broadcasts to this one."""

        def fits(kind):
            return kind.exact and kind.dtype == "bool" and self.can_join(kind.shape, shape) and (
                np.broadcast_shapes(kind.shape, shape) == shape
            )

        known = self.pick(fits)
        r = self.random
        if known is not None and r.random() < 0.4:
            return known
        if not shape or r.random() < 0.1:
            return self.scalar_condition()
        parts = [self.prefix(shape, dim) for dim in range(len(shape)) if r.random() < 0.6]
        mask = parts[0] if parts else self.prefix(shape, len(shape) - 1)
        for part in parts[1:]:
            mask = nodes.bitwise(r.choice("&&|"), mask, part)
        return mask

    # --- Indices --

    def new_shape(self):
        r = self.random
        rank = r.choice([1, 1, 2, 2, 2, 3])
        if rank == 1:
            return (2 ** r.choice([0, 1, 3, 4, 6, 7, 8, 10]),)
        return tuple(2 ** r.randint(0, 6 if rank == 2 else 4) for _ in range(rank))

    def index(self, shape, dim):
        """The index along a dimension, as a tile with extent 1 in the others."""
        rank, extent = len(shape), shape[dim]
        text = f"tl.arange(0, {extent})"
        if rank > 1:
            text += "[" + ", ".join(":" if d == dim else "None" for d in range(rank)) + "]"
        numbers = np.arange(extent, dtype=np.int32).reshape([extent if d == dim else 1 for d in range(rank)])
        return Node(text, Kind("int32", numbers.shape), lambda env: Value(numbers))

    def prefix(self, shape, dim):
        r, index = self.random, self.index(shape, dim)
        kind = r.choice(["argument", "argument", "argument", "number", "odd"])
        if kind == "odd":
            third = Node(f"({index.text} % 3)", index.kind, lambda env: Value(index.run(env).array % 3))
            return nodes.compare("!=", third, nodes.constant(1, "int32"))
        name = r.choice("nm")
        limit = nodes.constant(r.randint(0, shape[dim]), "int32")
        if kind == "argument":
            limit = Node(name, Kind("int32", ()), lambda env: Value(np.int32(env[name])))
        return nodes.compare("<", index, limit)

    def offsets(self, shape, distinct):
        """Offsets of a tile's elements as text and numbers, none below 0; different ones if `distinct`."""
        r = self.random
        order = r.sample(range(len(shape)), len(shape)) if r.random() < 0.3 else range(len(shape))[::-1]
        texts, numbers, pitch = [], np.zeros(shape, np.int64), 1
        for position, dim in enumerate(order):
            stride = f"{pitch}"
            if position == 0 and r.random() < 0.3:
                stride, pitch = r.choice([("2", 2), ("s0", self.arguments["s0"]), ("3", 3)])
            elif position and r.random() < 0.3:
                if not distinct and r.random() < 0.5:
                    stride, pitch = r.choice([("0", 0), ("1", 1), ("s1", self.arguments["s1"])])
                elif pitch <= 64 <= self.arguments["s1"]:
                    stride, pitch = "s1", self.arguments["s1"]
                else:
                    stride, pitch = f"{pitch + 3}", pitch + 3
            index = self.index(shape, dim)
            indices = index.run({}).array.astype(np.int64)
            text = index.text
            if r.random() < 0.15:  # backwards
                text, indices = f"({shape[dim] - 1} - {text})", shape[dim] - 1 - indices
            texts.append(f"{text} * {stride}" if stride != "1" else text)
            numbers = numbers + indices * pitch
            pitch = max(pitch * shape[dim], 1)
        return " + ".join(texts) if texts else "0", numbers

    # --- Statements ---

    def scalar(self, name, key):
        return Node(name, Kind("int32", ()), lambda env: Value(np.int32(env[key])))

    def define(self, node):
        """name = expression."""
        self.count += 1
        name = f"v{self.count}"
        if "tl.m" in node.text or "sort" in node.text or "topk" in node.text:
            self.minds_zeros = False

        def run(env):
            env[name] = node.run(env)

        self.variables.append(Node(name, node.kind, lambda env: env[name]))
        return lambda indent: [f"{indent}{name} = {node.text}"], run

    def load(self):
        r = self.random
        view = r.randrange(len(self.views))
        buffer, offset = self.views[view]
        shape = r.choice([*self.shapes, *self.shapes, self.new_shape(), ()])
        while True:
            text, numbers = self.offsets(shape, distinct=False)
            start, step = r.choice([0, 0, 1, 16, 333]), r.choice([0, 16, 100])
            if numbers.max(initial=0) + start + step * MOST_PROGRAMS + offset < BUFFER:
                break
        kind = Kind(self.dtypes[buffer], shape)
        address = f"p{view} + {start} + pid * {step}" + (f" + ({text})" if shape else "")
        mask = self.condition(shape) if r.random() < 0.6 else None
        other = nodes.constant(r.choice([0, 1, 3]) if kind.dtype != "bool" else 0, kind.dtype)
        options = f", mask={mask.text}, other={other.text}" if mask else ""

        def run(env):
            values = env["buffers"][buffer][numbers + offset + start + env["pid"] * step]
            if mask:
                values = np.where(mask.run(env).array, values, other.run(env).array)
            return Value(values)

        return self.define(Node(f"tl.load({address}{options})", kind, run))

    def store(self, variable):
        """A store to memory without other accesses."""
        r, kind = self.random, variable.kind
        out = len(self.outputs)
        text, numbers = self.offsets(kind.shape, distinct=True)
        step = int(numbers.max(initial=0)) + 1 + r.choice([0, 5])
        self.outputs.append((kind, step * self.grid + 8))
        mask = self.condition(kind.shape) if r.random() < 0.4 else None
        address = f"o{out} + pid * {step}" + (f" + ({text})" if kind.shape else "")
        line = f"tl.store({address}, {variable.text}" + (f", mask={mask.text})" if mask else ")")

        def run(env):
            value, where = variable.run(env), numbers + env["pid"] * step
            chosen = np.broadcast_to(mask.run(env).array, kind.shape) if mask else np.ones(kind.shape, bool)
            env["outputs"][out].array[where[chosen]] = value.array[chosen]
            if value.error is not None:
                env["outputs"][out].error[where[chosen]] = value.error[chosen]

        return lambda indent: [indent + line], run

    def last_made(self, count):
        made = self.variables[2:]
        chosen = made[-count // 2 :]
        rest = made[: -count // 2]
        return chosen + self.random.sample(rest, min(len(rest), count - len(chosen)))

    def operation(self):
        while True:
            node = self.random.choice(operations.OPERATIONS)(self)
            if node is not None and node.kind.size <= operations.LARGEST and len(node.kind.shape) <= operations.MOST_DIMS:
                return self.define(node)

    def statement(self, depth, targets=()):
        r = self.random
        kinds = [self.operation] * 6 + [self.load]
        if targets:
            kinds += [lambda: self.assign(r.choice(targets))] * 5
        if depth < 2:
            kinds += [lambda: self.loop(depth)] * 2 + [lambda: self.branch(depth, targets)]
        return r.choice(kinds)()

    def assign(self, target):
        """target = target op an expression of its type."""
        r, kind = self.random, target.kind

        def fits(other):
            same_shape = self.can_join(other.shape, kind.shape) and np.broadcast_shapes(other.shape, kind.shape) == kind.shape
            is_known = other.exact or not kind.exact
            return same_shape and is_known and (other.dtype == kind.dtype or self.can_become(other, kind.dtype))

        other = nodes.to(self.pick(fits), kind.dtype)
        if kind.dtype == "bool":
            node = nodes.bitwise(r.choice("&|^"), target, other)
        elif kind.dtype in INTS and r.random() < 0.3:
            node = nodes.bitwise(r.choice("&|^"), target, other)
        elif r.random() < 0.3:
            node = nodes.where(self.condition(kind.shape), target, other)
        else:
            node = nodes.arithmetic(r.choice("+-*"), target, other)
        if kind.exact and len(kind.shape) > 0 and r.random() < 0.2:
            node = nodes.moved(node, f"tl.flip({node.text}, 0)", lambda a: np.flip(a, 0))
        name = target.text

        def run(env):
            env[name] = node.run(env)

        return lambda indent: [f"{indent}{name} = {node.text}"], run

    def can_become(self, other, dtype):
        if dtype in INTS or dtype == "bool":
            return other.exact
        is_doubly_rounded = other.dtype == "float64" and dtype == "bfloat16"
        return operations.can_promote(other.dtype, dtype) and not is_doubly_rounded

    def block(self, depth, targets, in_loop=False):
        """Statements whose variables are local to them."""
        outside = len(self.variables)
        statements = []
        for _ in range(self.random.randint(1, 3)):
            statements.append(self.statement(depth, targets))
            if in_loop and self.random.random() < 0.15:
                statements.append(self.leave())
        statements.append(self.assign(self.random.choice(targets)) if targets else self.operation())
        del self.variables[outside:]
        return statements

    def leave(self):
        condition, word = self.scalar_condition(), self.random.choice(["break", "continue"])

        def run(env):
            return word if condition.run(env).array else None

        return lambda indent: [f"{indent}if {condition.text}:", f"{indent}    {word}"], run

    def carried(self):
        """Variables that a loop may change: any named ones, one of them an accumulator."""
        named = [variable for variable in self.variables if variable.text.startswith("v")]
        return self.random.sample(named, min(len(named), 3))

    def accumulator(self):
        """An accumulator of dots, in any order of summation; initially zero."""
        kind = Kind("float32", self.random.choice(self.shapes), False)
        zero = Value(np.zeros(kind.shape), np.zeros(kind.shape))
        shape = f"{list(kind.shape)}" if kind.shape else "[]"
        return self.define(Node(f"tl.zeros({shape}, tl.float32)", kind, lambda env: zero))

    def loop(self, depth):
        r = self.random
        before = [self.accumulator()] if r.random() < 0.3 else []
        targets = self.carried()
        form = r.choice(["range", "range", "down", "step", "while", "static"])
        self.count += 1
        k = f"k{self.count}"
        outside = len(self.variables)
        if form != "static":
            self.variables.append(Node(k, Kind("int32", ()), lambda env: env[k]))
        body = self.block(depth + 1, targets, in_loop=form not in ("static", "while"))
        del self.variables[outside:]
        heads = {
            "range": f"for {k} in range(trips):",
            "down": f"for {k} in range(trips - 1, -1, -1):",
            "step": f"for {k} in tl.range(1, trips * 3, 2):",
            "static": f"for {k} in tl.static_range(2):",
            "while": f"while {k} < trips:",
        }

        def text(indent):
            inner = [line for write, _ in body for line in write(indent + "    ")]
            lines = [line for write, _ in before for line in write(indent)]
            if form == "while":
                lines, inner = [*lines, f"{indent}{k} = trips * 0"], [*inner, f"{indent}    {k} += 1"]
            return [*lines, indent + heads[form], *inner]

        def run(env):
            trips = self.arguments["trips"]
            orders = {"down": range(trips - 1, -1, -1), "step": range(1, trips * 3, 2), "static": range(2)}
            for _, start in before:
                start(env)
            for step in orders.get(form, range(trips)):
                env[k] = Value(np.int32(step))
                if run_block(body, env) == "break":
                    break

        return text, run

    def branch(self, depth, targets):
        condition = self.scalar_condition()
        targets = targets or self.carried()
        then = self.block(depth + 1, targets)
        other = self.block(depth + 1, targets) if self.random.random() < 0.6 else []

        def text(indent):
            def lines(statements):
                return [line for write, _ in statements for line in write(indent + "    ")]

            return [f"{indent}if {condition.text}:", *lines(then), *([f"{indent}else:", *lines(other)] if other else [])]

        def run(env):
            return run_block(then if condition.run(env).array else other, env)

        return text, run

    # --- The kernel --

    def text(self):
        lines = [line for write, _ in self.statements for line in write("    ")]
        names = [*(f"p{i}" for i in range(len(self.views))), *(f"o{i}" for i in range(len(self.outputs)))]
        head = f"@triton.jit\ndef kernel{self.seed}({', '.join([*names, *self.arguments])}):\n"
        return head + "    pid = tl.program_id(0)\n    n0 = n + pid * 0\n" + "\n".join(lines) + "\n"

    def inputs(self):
        numbers = np.random.default_rng(self.seed)
        return [self.input(numbers, dtype) for dtype in self.dtypes]

    def input(self, numbers, dtype):
        if dtype == "bool":
            return numbers.random(BUFFER) < 0.5
        if dtype in INTS:
            info = np.iinfo(dtype)
            if numbers.random() < 0.5:
                return numbers.integers(max(info.min, -100), 100, BUFFER).astype(dtype)
            return numbers.integers(info.min, info.max, BUFFER, dtype=dtype, endpoint=True)
        is_round = numbers.random() < 0.4
        x = numbers.integers(-50, 50, BUFFER) / 4 if is_round else numbers.normal(0, 3, BUFFER)
        x[numbers.integers(0, BUFFER, 200)] = -0.0
        if self.is_wild:
            for special in (np.inf, -np.inf, np.nan):
                x[numbers.integers(0, BUFFER, 300)] = special
        return convert(x.astype(np.float32) if dtype == "bfloat16" else x, dtype)

    def expected(self, buffers):
        outputs = []
        for kind, size in self.outputs:
            array = np.full(size, UNTOUCHED, storage(kind.dtype) if kind.exact else np.float64)
            outputs.append(Value(array, None if kind.exact else np.zeros(size)))
        for pid in range(self.grid):
            env = dict(self.arguments, pid=pid, buffers=buffers, outputs=outputs)
            run_block(self.statements, env)
        return outputs

    def check(self, kernel, device):
        buffers = self.inputs()
        ours = [BFloat16(x) if d == "bfloat16" else x.copy() for x, d in zip(buffers, self.dtypes, strict=False)]
        views = [view_of(ours[buffer], offset) for buffer, offset in self.views]
        results = []
        for kind, size in self.outputs:
            blank = np.full(size, UNTOUCHED, storage(kind.dtype))
            results.append(BFloat16(blank) if kind.dtype == "bfloat16" else blank)
        arguments = self.arguments.values()
        if not launch(kernel, (self.grid,), *views, *results, *arguments, device=device, enable_fp_fusion=False):
            return None
        for index, (result, want) in enumerate(zip(results, self.expected(buffers), strict=False)):
            got = result.values() if isinstance(result, BFloat16) else result
            wrong = np.flatnonzero(differences(got, want, self.minds_zeros))
            if wrong.size:
                at = wrong[0]
                bound = "" if want.error is None else f" within {want.error[at]}"
                values = f"{got[at]!r} instead of {want.array[at]!r}{bound}"
                return f"o{index}: {wrong.size} of {got.size} differ, first at {at}: {values}"
        return None


def run_block(statements, env):
    """Runs statements up to a `break` or `continue`, which it returns."""
    for _, run in statements:
        left = run(env)
        if left is not None:
            return left
    return None


def view_of(array, offset):
    if not isinstance(array, BFloat16):
        return array[offset:]
    seen = copy.copy(array)
    seen.bits = array.bits[offset:]
    return seen


@pytest.mark.kernels(50)
@pytest.mark.seeds
@pytest.mark.parametrize("seed", range(0, 300, 50))
def test_random_tiles_agree_with_numpy(seed, device):
    programs = [Program(seed + index, device.partition(":")[0]) for index in range(50)]
    assert not _random_runs.run(programs, device, operations.PROLOGUE)


if __name__ == "__main__":
    sys.exit(_random_runs.main(Program, operations.PROLOGUE))
