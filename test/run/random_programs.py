"""Random programs of loads, arithmetic, reductions and stores, each also run step by step on whole tiles by numpy.

Usage: random_programs.py [--count N] [--seed S] [--device cpu|cuda] [--keep]
Every program is a kernel text generated from its seed. Pointers are views into shared buffers, so that loads and stores
overlap; masks are absent, prefixes, rectangles or arbitrary; strides are positive, negative or larger than one. On a GPU
the stores of a program's threads are unordered: there memory that is stored is neither loaded nor stored again.
"""
# SPDX-License-Identifier: MIT
import random
import sys

import _random_runs
import numpy as np
import pytest
from harness import launch

BUFFER = 8192  # elements of each shared buffer
REGION = 4096  # elements in the range of one store
REGIONS = 14  # stores of one program, at most
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
FAR = 100.0  # floats are clamped to -FAR..FAR before they become integers


class Program:
    """A kernel under construction, with the same steps for numpy."""

    def __init__(self, seed, device="cpu"):
        self.random = random.Random(seed)
        self.seed = seed
        self.lines = []
        self.steps = []  # functions of an environment (dict name -> array)
        self.tiles = []  # (name, dtype, shape)
        self.count = 0
        r = self.random
        self.shape = (2 ** r.choice([0, 1, 3, 4, 6, 7, 8, 10]),) if r.random() < 0.6 else (2 ** r.randint(0, 4), 2 ** r.randint(0, 6))
        self.n = r.randint(0, self.shape[-1] + 2)
        self.rows = r.randint(0, self.shape[0] + 1)
        self.dtypes = [r.choice(INTS + FLOATS * 2) for _ in range(2)]
        self.is_ordered = device == "cpu"
        self.stores = 0
        if not self.is_ordered:  # two buffers to load from, two to store to
            self.sizes = [BUFFER, BUFFER, REGION * REGIONS, REGION * REGIONS]
            self.dtypes = self.dtypes * 2
            self.views = [(buffer, dtype, 2048 if buffer < 2 else 0) for buffer, dtype in enumerate(self.dtypes)]
        else:  # two pointers into each of two buffers, at offsets that often overlap
            self.sizes, self.views = [BUFFER, BUFFER], []
            for buffer, dtype in enumerate(self.dtypes):
                base = r.randint(2048, 2304)
                for _ in range(2):
                    self.views.append((buffer, dtype, base + r.choice([0, 0, 1, -1, 7, 64, 1500])))
        self.build()

    def name(self, prefix="v"):
        self.count += 1
        return f"{prefix}{self.count}"

    def emit(self, line, step):
        self.lines.append(line)
        self.steps.append(step)

    def indices(self):
        """Offsets of a tile as kernel text and as numbers; no two lanes share one."""
        r = self.random
        grids = np.indices(self.shape)
        if len(self.shape) == 1:
            stride = r.choice([1, 1, 1, 1, 2, 3, -1])
            start = 0 if stride > 0 else self.shape[0] - 1
            return f"(i * {stride} + {start})", grids[0] * stride + start
        rows, columns = self.shape
        if r.random() < 0.3:  # column-major
            return f"(i[:, None] + j[None, :] * {rows + 1})", grids[0] + grids[1] * (rows + 1)
        pitch = columns + r.choice([0, 0, 3])
        return f"(i[:, None] * {pitch} + j[None, :])", grids[0] * pitch + grids[1]

    def mask(self):
        r = self.random
        grids = np.indices(self.shape)
        last = "i" if len(self.shape) == 1 else "j[None, :]"
        full = "i" if len(self.shape) == 1 else "(i[:, None] * 5 + j[None, :])"
        prefix = np.broadcast_to(grids[-1] < self.n, self.shape)
        kind = r.choice(["none", "prefix", "prefix", "odd", "rectangle"])
        if kind == "none":
            return None, np.ones(self.shape, bool)
        if kind == "odd":
            number = grids[0] if len(self.shape) == 1 else grids[0] * 5 + grids[1]
            return f"(({full} % 3) != 1)", number % 3 != 1
        if kind == "rectangle" and len(self.shape) == 2:
            return "((i[:, None] < rows) & (j[None, :] < n))", prefix & (grids[0] < self.rows)
        if len(self.shape) == 2:
            return f"(({last} < n) & (i[:, None] >= 0))", prefix
        return f"({last} < n)", prefix

    def load(self):
        r = self.random
        view = r.randrange(4 if self.is_ordered else 2)
        buffer, dtype, offset = self.views[view]
        text, numbers = self.indices()
        mask, active = self.mask()
        other = r.choice([0, 1, 3])
        name = self.name()
        line = f"{name} = tl.load(p{view} + {text}" + (f", mask={mask}, other={other})" if mask else ")")

        def step(env):
            memory = env["buffers"][buffer]
            safe = np.where(active, numbers + offset, 0)
            env[name] = np.where(active, memory[safe], np.asarray(other).astype(memory.dtype))

        self.emit(line, step)
        self.tiles.append((name, dtype, self.shape))

    def store(self):
        r = self.random
        view = r.randrange(4) if self.is_ordered else r.randrange(2, 4)
        buffer, dtype, offset = self.views[view]
        value, have, shape = r.choice(self.tiles)
        text, numbers = self.indices()
        if not self.is_ordered:
            text, numbers = f"{text} + {self.stores * REGION}", numbers + self.stores * REGION
            self.stores += 1
        mask, active = self.mask()
        line = f"tl.store(p{view} + {text}, {self.convert(value, have, dtype)}" + (f", mask={mask})" if mask else ")")

        def step(env):
            memory = env["buffers"][buffer]
            converted = np.broadcast_to(convert(env[value], dtype), self.shape)
            memory[(numbers + offset)[active]] = converted[active]

        self.emit(line, step)

    @staticmethod
    def convert(value, have, want):
        if have in FLOATS and want in INTS:
            value = f"tl.minimum(tl.maximum({value}, {lowest(want)}), {FAR})"
        return value if have == want else f"{value}.to(tl.{want})"

    def pick(self, dtype=None):
        same = [tile for tile in self.tiles if dtype in (None, tile[1])]
        return self.random.choice(same) if same else None

    def arithmetic(self):
        r = self.random
        a, dtype, shape_a = self.pick()
        other = self.pick(dtype)
        b, _, shape_b = other
        name = self.name()
        shape = np.broadcast_shapes(shape_a, shape_b)
        op = r.choice(["+", "-", "*", "max", "min", "where", "neg", "abs"])
        if op in "+-*":
            line, function = f"{name} = {a} {op} {b}", {"+": np.add, "-": np.subtract, "*": np.multiply}[op]
        elif op in ("max", "min"):
            line = f"{name} = tl.{op}imum({a}, {b})"
            function = np.fmax if op == "max" else np.fmin
        elif op == "where":
            line, function = f"{name} = tl.where({a} < {b}, {a}, {b} + {b})", lambda x, y: np.where(x < y, x, y + y)
        elif op == "neg":
            if dtype.startswith("u"):
                return
            line, function, shape = f"{name} = -{a}", lambda x, _: np.negative(x), shape_a
        else:
            line, function, shape = f"{name} = tl.abs({a})", lambda x, _: np.abs(x), shape_a

        def step(env):
            with np.errstate(all="ignore"):
                env[name] = function(env[a], env[b]).astype(env[a].dtype)

        self.emit(line, step)
        self.tiles.append((name, dtype, shape))

    def cast(self):
        a, dtype, shape = self.pick()
        want = self.random.choice(self.dtypes)
        name = self.name()

        def step(env):
            env[name] = convert(env[a], want)

        self.emit(f"{name} = {self.convert(a, dtype, want)}", step)
        self.tiles.append((name, want, shape))

    def reduce(self):
        r = self.random
        a, dtype, shape = self.pick()
        if len(shape) != len(self.shape) or 1 in shape and len(shape) == 2 and shape != self.shape:
            return
        axis = r.randrange(len(shape))
        kind = r.choice(["sum", "max", "min"])
        if kind == "sum" and dtype in FLOATS:
            kind = "max"  # a float sum has no unique result; test/run/builtins bounds its error
        name = self.name()
        narrow = dtype in ("int8", "int16", "uint8", "uint16")
        result = dtype if not narrow else ("uint32" if dtype.startswith("u") and kind == "sum" else "int32")
        if len(shape) == 1:
            line, out_shape = f"{name} = tl.{kind}({a}, axis=0).to(tl.{result}) + tl.zeros({list(shape)}, tl.{result})", shape
        else:
            index = "[None, :]" if axis == 0 else "[:, None]"
            line = f"{name} = tl.{kind}({a}, axis={axis}).to(tl.{result}){index}"
            out_shape = tuple(1 if d == axis else extent for d, extent in enumerate(shape))

        def step(env):
            function = {"sum": np.sum, "max": np.fmax.reduce, "min": np.fmin.reduce}[kind]
            wide = env[a].astype(result)
            with np.errstate(all="ignore"):
                value = function(wide, axis=axis).astype(result)
            env[name] = np.broadcast_to(value, shape) if len(shape) == 1 else np.expand_dims(value, axis)

        self.emit(line, step)
        self.tiles.append((name, result, out_shape))

    def build(self):
        r = self.random
        self.load()
        for _ in range(r.randint(3, 10)):
            r.choice([self.load, self.arithmetic, self.arithmetic, self.cast, self.reduce, self.store])()
        self.store()
        self.store()

    def text(self):
        ranges = f"    i = tl.arange(0, {self.shape[0]})\n"
        if len(self.shape) == 2:
            ranges += f"    j = tl.arange(0, {self.shape[1]})\n"
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"@triton.jit\ndef kernel{self.seed}(p0, p1, p2, p3, n, rows):\n{ranges}{body}"

    def check(self, kernel, device):
        numbers = np.random.default_rng(self.seed)
        start = []
        for dtype, size in zip(self.dtypes, self.sizes, strict=False):
            if dtype in FLOATS:
                start.append(numbers.integers(-50, 50, size).astype(dtype) / 4)
            else:
                low, high = (0, 100) if dtype.startswith("u") else (-60, 60)
                start.append(numbers.integers(low, high, size).astype(dtype))
        ours = [buffer.copy() for buffer in start]
        views = [ours[buffer][offset:] for buffer, _, offset in self.views]
        if not launch(kernel, (1,), *views, self.n, self.rows, device=device):
            return None
        env = {"buffers": [buffer.copy() for buffer in start]}
        for step in self.steps:
            step(env)
        for mine, reference in zip(ours, env["buffers"], strict=False):
            if not np.array_equal(mine, reference, equal_nan=True):
                where = np.flatnonzero(~((mine == reference) | ((mine != mine) & (reference != reference))))
                return f"{len(where)} elements differ, first at {where[0]}: {mine[where[0]]} instead of {reference[where[0]]}"
        return None


def lowest(dtype):
    return 0.0 if dtype.startswith("u") else -FAR


def convert(array, dtype):
    """Casts as a kernel does: integers wrap, floats are rounded toward zero."""
    if array.dtype.kind == "f" and dtype in INTS:
        array = np.fmin(np.fmax(array, lowest(dtype)), FAR)
    return array.astype(dtype)


@pytest.mark.kernels(100)
@pytest.mark.seeds
@pytest.mark.parametrize("seed", range(0, 700, 100))
def test_random_programs_agree_with_numpy(seed, device):
    programs = [Program(seed + index, device) for index in range(100)]
    assert not _random_runs.run(programs, device)


if __name__ == "__main__":
    sys.exit(_random_runs.main(Program))
