"""Random programs with loops and branches: tiles carried around loops, swapped, reduced, stored and loaded again.

Usage: random_loops.py [--count N] [--seed S] [--device cpu|cuda] [--keep]
Tiles t0..t3 and scalars s0..s1 are int32. Each statement has a kernel text and an execution on numpy.
"""
# SPDX-License-Identifier: MIT

import random
import sys

import _random_runs
import numpy as np
import pytest
from harness import launch

BUFFER = 4096
BINARY = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "^": np.bitwise_xor,
    "&": np.bitwise_and,
}
REDUCTIONS = {
    "sum": lambda x, axis: np.sum(x, axis=axis, dtype=np.int32),
    "max": np.max,
    "min": np.min,
    "xor_sum": lambda x, axis: np.bitwise_xor.reduce(x, axis=axis),
}


class Program:
    """A kernel as text, and its effect on an environment of numpy values.

    A statement is a function that writes its lines, one that runs it, and the blocks in it.
    """

    def __init__(self, seed, device="cpu"):
        self.seed, self.device = seed, device
        r = self.random = random.Random(seed)
        self.shape = r.choice([(1,), (8,), (16,), (64,), (256,), (2, 8), (4, 4), (8, 32), (16, 16)])
        self.trips = [r.choice([0, 1, 2, 3, 5]) for _ in range(2)]
        self.n = r.randint(0, self.shape[-1] + 1)
        self.views = [r.choice([512, 512, 513, 511, 530, 2000]) for _ in range(3)]
        self.budget = r.randint(4, 14)
        self.counter = 0
        grids = np.indices(self.shape)
        self.last = grids[-1]
        self.flat = np.arange(np.prod(self.shape)).reshape(self.shape)
        self.statements = self.block(0)

    def tile(self):
        return self.random.choice(["t0", "t1", "t2", "t3"])

    def scalar(self):
        return self.random.choice(["s0", "s1"])

    def block(self, depth):
        count = self.random.randint(1, 4) if depth else 100
        result = []
        while self.budget > 0 and len(result) < count:
            self.budget -= 1
            result.append(self.statement(depth))
        return result

    def statement(self, depth):
        kinds = [self.arithmetic] * 3 + [self.swap, self.reduction, self.load, self.store]
        kinds += [self.mixed, self.where, self.scalar_arithmetic]
        if len(self.shape) == 2:
            kinds += [self.along_axis] * 2
            if self.shape[0] == self.shape[1]:
                kinds.append(self.transpose)
        if depth < 2:
            kinds += [self.loop] * 3 + [self.branch] * 2
        return self.random.choice(kinds)(depth)

    def simple(self, text, function):
        return lambda indent: [indent + text], function, []

    def arithmetic(self, _):
        a, b, c = self.tile(), self.tile(), self.tile()
        op = self.random.choice(list(BINARY))

        def run(env):
            env[a] = BINARY[op](env[b], env[c])

        return self.simple(f"{a} = {b} {op} {c}", run)

    def mixed(self, _):
        a, b, s = self.tile(), self.tile(), self.scalar()
        op = self.random.choice(list(BINARY))

        def run(env):
            env[a] = BINARY[op](env[b], env[s])

        return self.simple(f"{a} = {b} {op} {s}", run)

    def scalar_arithmetic(self, _):
        a, b, number = self.scalar(), self.scalar(), self.random.randint(-9, 9)
        op = self.random.choice(list(BINARY))

        def run(env):
            env[a] = BINARY[op](env[b], np.int32(number))

        return self.simple(f"{a} = {b} {op} {number}", run)

    def swap(self, _):
        a, b = self.random.sample(["t0", "t1", "t2", "t3"], 2)

        def run(env):
            env[a], env[b] = env[b], env[a]

        return self.simple(f"{a}, {b} = {b}, {a}", run)

    def where(self, _):
        a, b, c, d = (self.tile() for _ in range(4))

        def run(env):
            env[a] = np.where(env[b] < env[c], env[d], env[b])

        return self.simple(f"{a} = tl.where({b} < {c}, {d}, {b})", run)

    def reduction(self, _):
        s, t, kind = self.scalar(), self.tile(), self.random.choice(list(REDUCTIONS))

        def run(env):
            env[s] = np.int32(REDUCTIONS[kind](env[t].reshape(-1), axis=0))

        return self.simple(f"{s} = tl.{kind}({t})", run)

    def along_axis(self, _):
        a, b, kind = self.tile(), self.tile(), self.random.choice(list(REDUCTIONS))
        axis = self.random.randrange(2)

        def run(env):
            env[a] = env[b] - np.expand_dims(REDUCTIONS[kind](env[b], axis=axis), axis)

        return self.simple(f"{a} = {b} - tl.{kind}({b}, axis={axis}, keep_dims=True)", run)

    def transpose(self, _):
        a, b = self.tile(), self.tile()

        def run(env):
            env[a] = env[b].T

        return self.simple(f"{a} = tl.trans({b})", run)

    def place(self):
        """A view and the order of its elements, as text and as numbers."""
        view, size = self.random.randrange(3), int(np.prod(self.shape))
        form = self.random.choice(["at", "at", f"{size - 1} - at", "at * 2"])
        numbers = eval(form, {"at": self.flat})  # noqa: S307
        return f"p{view} + ({form})", numbers + self.views[view]

    def mask(self):
        kind = self.random.choice(["none", "prefix", "odd", "scalar"])
        if kind == "none":
            return None, lambda env: np.ones(self.shape, bool)
        if kind == "prefix":
            return "last < n", lambda env: self.last < self.n
        if kind == "odd":
            return "at % 3 != 1", lambda env: self.flat % 3 != 1
        s = self.scalar()
        return f"last < {s}", lambda env: self.last < env[s]

    def load(self, _):
        t, (text, numbers), (mask, active) = self.tile(), self.place(), self.mask()

        def run(env):
            env[t] = np.where(active(env), env["memory"][numbers], np.int32(7))

        options = f", mask={mask}, other=7" if mask else ""
        return self.simple(f"{t} = tl.load({text}{options})", run)

    def store(self, _):
        t, (text, numbers), (mask, active) = self.tile(), self.place(), self.mask()

        def run(env):
            chosen = active(env)
            env["memory"][numbers[chosen]] = env[t][chosen]

        return self.simple(f"tl.store({text}, {t}" + (f", mask={mask})" if mask else ")"), run)

    def loop(self, depth):
        trips, form = self.random.randrange(2), self.random.choice(["for", "for", "while", "down"])
        self.counter += 1
        k, body = f"k{self.counter}", self.block(depth + 1)

        def text(indent):
            inner = [line for statement, _, _ in body for line in statement(indent + "    ")]
            if form == "while":
                start = [f"{indent}{k} = 0 * trips{trips}", f"{indent}while {k} < trips{trips}:"]
                return [*start, *inner, f"{indent}    s0 += {k}", f"{indent}    {k} += 1"]
            head = f"range(trips{trips})" if form == "for" else f"range(trips{trips} - 1, -1, -1)"
            return [f"{indent}for {k} in {head}:", *inner, f"{indent}    s0 += {k}"]

        def run(env):
            order = range(self.trips[trips])
            for step in reversed(order) if form == "down" else order:
                for _, function, _ in body:
                    function(env)
                env["s0"] = np.add(env["s0"], np.int32(step))

        return text, run, [body]

    def branch(self, depth):
        s, modulus = self.scalar(), self.random.choice([2, 3])
        then, other = self.block(depth + 1), self.block(depth + 1)

        def text(indent):
            def lines(block):
                inner = [line for statement, _, _ in block for line in statement(indent + "    ")]
                return inner or [indent + "    pass"]

            head = f"{indent}if {s} % {modulus} == 0:"
            return [head, *lines(then), f"{indent}else:", *lines(other)]

        def run(env):
            for _, function, _ in then if np.fmod(env[s], modulus) == 0 else other:
                function(env)

        return text, run, [then, other]

    def text(self):
        """The kernel; on a GPU with barriers around stores to what other threads read."""
        size = int(np.prod(self.shape))
        lines = [f"    at = tl.arange(0, {size})", "    last = at"]
        if len(self.shape) == 2:
            rows, columns = self.shape
            lines = [f"    last = tl.arange(0, {columns})[None, :] + tl.zeros({self.shape}, tl.int32)"]
            lines += [f"    at = tl.arange(0, {rows})[:, None] * {columns} + last"]
        lines += ["    t0 = tl.load(p0 + at)", "    t1 = t0 + at", "    t2 = t1 * 3", "    t3 = t0 ^ at"]
        lines += ["    s0 = n * 5", "    s1 = n - 7"]
        for line in (line for statement, _, _ in self.statements for line in statement("    ")):
            indent = line[: len(line) - len(line.lstrip())]
            barrier = [indent + "tl.debug_barrier()"]
            is_shared = self.device != "cpu" and line.lstrip().startswith("tl.store(p")
            lines += [*barrier, line, *barrier] if is_shared else [line]
        for index in range(4):
            lines += [f"    tl.store(out + {index * size} + at, t{index})"]
        lines += [f"    tl.store(out + {4 * size}, s0)", f"    tl.store(out + {4 * size + 1}, s1)"]
        names = "p0, p1, p2, out, n, trips0, trips1"
        return f"@triton.jit\ndef kernel{self.seed}({names}):\n" + "\n".join(lines) + "\n"

    def expected(self, memory):
        start = memory[self.flat + self.views[0]]
        env = dict(memory=memory, t0=start, t1=start + self.flat.astype(np.int32))
        env |= dict(t2=env["t1"] * np.int32(3), t3=start ^ self.flat.astype(np.int32))
        env |= dict(s0=np.int32(self.n * 5), s1=np.int32(self.n - 7))
        with np.errstate(all="ignore"):
            for _, function, _ in self.statements:
                function(env)
        tiles = [np.asarray(env[f"t{index}"]).reshape(-1) for index in range(4)]
        return np.concatenate([*tiles, [env["s0"], env["s1"]]]).astype(np.int32)

    def check(self, kernel, device):
        numbers = np.random.default_rng(self.seed)
        memory = numbers.integers(-100, 100, BUFFER).astype(np.int32)
        ours, out = memory.copy(), np.zeros(4 * self.flat.size + 2, np.int32)
        views = [ours[view:] for view in self.views]
        if not launch(kernel, (1,), *views, out, self.n, *self.trips, device=device):
            return None
        want = self.expected(memory)
        for name, got, right in (("results", out, want), ("memory", ours, memory)):
            wrong = np.flatnonzero(got != right)
            if wrong.size:
                at = wrong[0]
                return f"{wrong.size} {name} differ, first at {at}: {got[at]} instead of {right[at]}"
        return None


@pytest.mark.kernels(50)
@pytest.mark.seeds
@pytest.mark.parametrize("seed", range(0, 300, 50))
def test_random_loops_agree_with_numpy(seed, device):
    programs = [Program(seed + index, device) for index in range(50)]
    assert not _random_runs.run(programs, device)


if __name__ == "__main__":
    sys.exit(_random_runs.main(Program))
