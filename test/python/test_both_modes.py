"""Wrong programs: compilation and interpreter mode say the same, at the same place, with the same code."""
# SPDX-License-Identifier: MIT

import linecache
import math
import random
import re
import time
import warnings

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton._interpreter.refusals import RefusedWhenCompiled

PLAIN = 4
SIZES = [1, 2]
TABLE = tl.constexpr({"a": 1})


def plain(x):
    return x + 1


@triton.jit
def pair(a, b, C: tl.constexpr = 2):
    return a + b, a - b


@triton.jit
def nothing(a):
    tl.device_assert(a == a)


NAMES = {
    "np": np, "tl": tl, "math": math, "time": time, "torch": torch, "triton": triton, "random": random,
    "PLAIN": PLAIN, "SIZES": SIZES, "TABLE": TABLE, "plain": plain,
}  # fmt: skip

# Code of the error -> bodies of a kernel with the parameters x_ptr and n, where `i` is tl.arange(0, 16).
WRONG = {
    "pointer-arithmetic": ["x_ptr + 1.5", "x_ptr + x_ptr", "x_ptr * 2"],
    "invalid-operands": ["x_ptr == 0"],
    "shape-mismatch": [
        "i + tl.arange(0, 8)",
        "tl.load(x_ptr + i, mask=tl.arange(0, 4) < n)",
        "tl.store(x_ptr + i, tl.arange(0, 4))",
        "tl.where(i > 1, tl.arange(0, 8), 0)",
    ],
    "mask-not-bool": ["tl.load(x_ptr + i, mask=i)"],
    "not-a-pointer": [
        "tl.load(n)",
        "tl.store(n, 1.0)",
        "tl.atomic_add(n, 1)",
        "tl.load(None)",
        "tl.load(tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [8, 8]))",
    ],
    "too-many-indices": ["x_ptr[0]", "i[:, :, None]"],
    "unsupported-index": ["i[n]", "i[i > 3]", "i[..., None]", "i['a']", "i[0:n]"],
    "tile-index-range": ["i[16]"],
    "assign-subscript": ["i[0] = 1", "x_ptr[n] = 1.0"],
    "assign-attribute": ["i.name = 1"],
    "not-constant": ["tl.arange(0, n)", "tl.zeros((n,), tl.float32)", "tl.program_id(n)"],
    "wrong-constant": [
        "tl.arange(0, 8.0)",
        "n.to('float32')",
        "n.to(5)",
        "tl.zeros((8,), np.float32)",
        "tl.max(i, 0.0)",
    ],
    "arange-empty": ["tl.arange(8, 0)"],
    "missing-argument": ["tl.arange(8)", "pair(n)", "for k in range():\n  pass"],
    "too-many-arguments": ["pair(1, 2, 3, 4)", "for k in range(0, 1, 2, 3):\n  pass"],
    "unknown-keyword": ["pair(1, 2, D=3)", "tl.load(x_ptr, masks=None)"],
    "duplicate-argument": ["pair(1, 2, a=3)"],
    "double-star-argument": ["pair(**{'a': 1, 'b': 2})"],
    "unpack-count": ["a, b, c = pair(1, 2)"],
    "not-iterable": ["a, b = n", "a, b = i"],
    "not-callable": ["n()"],
    "reshape-count": ["tl.reshape(i, (4, 8))", "i.view(3, 5)"],
    "axis-range": ["tl.sum(i, axis=1)", "tl.cumsum(i, axis=2)"],
    "reduce-operand": ["tl.sum(n)"],
    "combine-parameter-count": ["tl.reduce(i, 0, lambda a: a)"],
    "dot-inner": ["tl.dot(tl.zeros((16, 32), tl.float16), tl.zeros((16, 16), tl.float16))"],
    "dot-operand": ["tl.dot(n, n)"],
    "atomic-type": ["tl.atomic_and(x_ptr, 1)"],
    "block-ranks": ["tl.make_block_ptr(x_ptr, (n, n), (n,), (0, 0), (8, 8), (1, 0))"],
    "descriptor-strides": ["tl.make_tensor_descriptor(x_ptr, [n, n], [n], [8, 8])"],
    "descriptor-last-stride": ["tl.make_tensor_descriptor(x_ptr, [n, n], [1, n], [8, 8])"],
    "offset-count": ["tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [8, 8]).load([0])"],
    "unsupported-operator": ["i @ i", "n ** 2", "n + 'a'", "None + 1", "nothing(n) + 1"],
    "unsupported-comparison": ["n in (1, 2)", "n in i"],
    "not-a-tensor": ["tl.store(x_ptr, None)", "tl.sqrt('a')"],
    "logic-needs-bool": ["i and i", "not i"],
    "ambiguous-truth": ["if i > 3:\n  pass", "while i > 3:\n  i -= 1", "i if i > 3 else 0"],
    "ternary-types-differ": ["1.0 if n > 2 else 1"],
    "scalar-range": ["n + 10000000000000", "tl.full((8,), 300, tl.int8)"],
    "integer-too-wide": ["n + 2**70"],
    "loop-else": ["while n < 0:\n  n += 1\nelse:\n  pass", "for k in range(n):\n  pass\nelse:\n  pass"],
    "loop-bound-not-int": ["for k in range(n / 2):\n  pass", "for k in range(0, n, 0.5):\n  pass"],
    "zero-step": ["for k in range(0, 4, 0):\n  pass"],
    "iterator-not-range": [
        "for k in i:\n  pass",
        "for k in (1, 2):\n  tl.store(x_ptr, k)",
        "for k in TABLE.items():\n  pass",
    ],
    "loop-changes-type": ["a = 0\nfor k in range(n):\n  a += 1.5"],
    "undefined-name": ["if n > 2:\n  a = 1\ntl.store(x_ptr, a)", "tl.store(x_ptr, nowhere)", "sorted((1, 2))"],
    "multiple-assignment": ["a = b = 1\ntl.store(x_ptr, a + b)"],
    "unsupported-statement": [
        "try:\n  pass\nfinally:\n  pass",
        "del n",
        "global PLAIN",
        "import os",
        "raise ValueError('no')",
    ],
    "unsupported-expression": ["a = {1, 2}", "a = {'b': 1}", "a = {k: 1 for k in (1, 2)}"],
    "format-not-constant": ["tl.device_print(f'{n}')"],
    "not-a-context": ["with n:\n  pass", "with (1, 2) as a:\n  pass"],
    "nested-function": ["@staticmethod\ndef f(a):\n  return a"],
    "static-assert-runtime": ["tl.static_assert(n == 4)"],
    "gather-index": ["tl.gather(i, i * 1.0, 0)"],
    "histogram-type": ["tl.histogram(i * 1.0, 8)"],
    "cannot-convert": ["int(n)"],
    "condition-not-constant": ["bool(n)"],
    "host-exception": [
        "triton.exp(i)",
        "triton.load(x_ptr)",
        "tl.jit",
        "tl.laod(x_ptr)",
        "plain(n)",
        "PLAIN + n",
        "SIZES[0]",
        "tl.store(\n  x_ptr,\n  math.exp(i))",
    ],
}  # fmt: skip

# Functions of the host on tensors, and how their messages end.
INSTEAD = {
    "np.mean(i)": "divide `tl.sum` by the count",
    "np.concatenate([i, i])": "use `tl.cat`",
    "np.clip(i, 0, 1)": "use `tl.clamp`",
    "np.absolute(i)": "use `tl.abs`",
    "np.power(i, 2)": "use `libdevice.pow` of triton.language.extra",
    "np.float32(i)": "use `.to(tl.float32)`",
    "math.exp(i)": "use `tl.exp`",
    "math.tanh(i)": "use `libdevice.tanh` of triton.language.extra",
    "torch.sigmoid(i)": "use `tl.sigmoid`",
    "torch.matmul(i, i)": "use `tl.dot`",
    "torch.nn.functional.relu(i)": "use `tl.maximum(x, 0)`",
    "torch.float32(i)": "use `.to(tl.float32)`",
    "math.gcd(n, 4)": "exists only while the kernel runs",
    "triton.arange(0, 4)": "use `tl.arange`",
    "triton.float32": "use `tl.float32`",
    "tl.next_power_of_2(3)": "use `triton.next_power_of_2`",
    "tl.libdevice": "import it: `from triton.language.extra import libdevice`",
}
# Calls whose results every launch would have from the compilation of the first, and the names in their messages.
STATE = {
    "random.random()": "random.random",
    "random.randint(0, 4)": "random.randint",
    "time.time()": "time.time",
    "time.perf_counter()": "time.perf_counter",
    "np.random.rand(4)": "numpy.random.rand",
    "torch.initial_seed()": "torch.random.initial_seed",
    "torch.get_num_threads()": "torch.get_num_threads",
}


def kernel_of(body: str, folder):
    """A kernel with this body in a file of its own."""
    path = folder / "wrong.py"
    lines = ["    " + line for line in ["i = tl.arange(0, 16)", *body.split("\n")]]
    path.write_text("\n".join(["def kernel(x_ptr, n):", *lines, ""]))
    linecache.checkcache(str(path))
    functions = {"pair": triton.jit(pair.fn), "nothing": triton.jit(nothing.fn)}
    names = {**NAMES, **functions, "__name__": __name__}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return triton.jit(names["kernel"])


def said_of(body: str, folder, monkeypatch, interpreted: bool) -> list[str]:
    """The errors, each with its line and code."""
    monkeypatch.setenv("TRITON_INTERPRET", str(int(interpreted)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            kernel_of(body, folder)[(1,)](np.ones(1024, np.float32), 4)
        except triton.CompilationError as error:
            errors = [each for each in error.diagnostics if each.severity == "error"]
            return [f"{each.line}: {each.message} [{each.code}]" for each in errors]
        except triton.InterpreterError as error:
            place = r".*wrong\.py:(\d+):\d+: in program \(0, 0, 0\) of `kernel`: (.*)"
            found = re.fullmatch(place, str(error))
            return [f"{found[1]}: {found[2]}" if found else str(error)]
    refused = [each for each in caught if each.category is RefusedWhenCompiled]
    return [f"{each.lineno}: {str(each.message).partition('refuses it: ')[2]}" for each in refused]


@pytest.mark.parametrize("code", WRONG)
def test_both_modes_say_the_same(code, tmp_path, monkeypatch, capfd):
    for body in WRONG[code]:
        compiled = said_of(body, tmp_path, monkeypatch, interpreted=False)
        interpreted = said_of(body, tmp_path, monkeypatch, interpreted=True)
        assert compiled and compiled[0].endswith(f"[{code}]"), (body, compiled)
        # An error ends the program in interpreter mode; compilation goes on.
        assert interpreted and set(interpreted) <= set(compiled), (body, compiled, interpreted)


def test_functions_of_the_host_say_what_serves_instead(tmp_path, monkeypatch):
    for body, hint in INSTEAD.items():
        for interpreted in (False, True):
            (said,) = said_of(body, tmp_path, monkeypatch, interpreted)
            assert said.endswith(f"{hint} [host-exception]") and said.count(" computes on") < 2, (
                said
            )


def test_functions_that_read_a_clock_or_random_numbers_are_refused(tmp_path, monkeypatch):
    for body, name in STATE.items():
        for interpreted in (False, True):
            (said,) = said_of(f"a = {body}", tmp_path, monkeypatch, interpreted)
            assert f"Unsupported function referenced: `{name}`; its result depends on" in said, said
            assert said.endswith(
                "before the launch and pass the result as an argument [host-exception]"
            )


def test_functions_of_their_arguments_alone_are_constants(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "0")
    for value in (
        "math.log2(8)",
        "np.sqrt(9.0)",
        "int('3')",
        "torch.iinfo(torch.int8).bits - 5",
        "max(1, 3)",
    ):
        x = np.zeros(1, np.float32)
        kernel_of(f"tl.store(x_ptr, {value})", tmp_path)[(1,)](x, 4)
        assert x[0] == 3, value
