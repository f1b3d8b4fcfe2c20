"""`TRITON_INTERPRET=1`: what Python adds to a kernel's body, and what stays as compiled. Results of operations are
tested by test/run with --interpret.
"""
# SPDX-License-Identifier: MIT

import inspect
import os
import subprocess
import sys
import types

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.runtime.interpreter import InterpretedFunction, InterpreterError
from triton.runtime.jit import JITFunction


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    (offset,) = [at for at, line in enumerate(lines) if text in line]
    return first + offset


def test_bodies_print(capsys):
    @triton.jit
    def kernel(x_ptr, B: tl.constexpr):
        pid = tl.program_id(0)
        x = tl.load(x_ptr + pid * B + tl.arange(0, B))
        print("program", pid, x, B)
        print(f"{tl.sum(x, 0)} {tl.max(x, 0):>6} {x > 0.25}")

    assert isinstance(kernel, InterpretedFunction) and not isinstance(kernel, JITFunction)
    x = np.array([0.5, 0.1, -0.25, 3], np.float32)
    assert kernel[(2,)](x, B=2) is None
    assert capsys.readouterr().out == (
        "program 0 [0.5, 0.1] 2\n0.6    0.5 [True, False]\nprogram 1 [-0.25, 3.0] 2\n2.75    3.0 [False, True]\n"
    )


def test_breakpoints_stop_at_the_line_with_its_names(monkeypatch):
    @triton.jit
    def helper(x, SCALE: tl.constexpr):
        y = x * SCALE
        breakpoint()
        return y

    @triton.jit
    def kernel(x_ptr):
        x = tl.load(x_ptr + tl.arange(0, 4))
        tl.store(x_ptr + tl.arange(0, 4), helper(x, 3))

    stops = []

    def hook():
        frame = sys._getframe(1)
        caller = frame.f_back
        while caller.f_code.co_name != "kernel":
            caller = caller.f_back
        stops.append((frame.f_code.co_filename, frame.f_lineno, caller.f_lineno))
        stops.append((str(frame.f_locals["y"]), frame.f_locals["SCALE"], str(caller.f_locals["x"])))

    monkeypatch.setattr(sys, "breakpointhook", hook)
    x = np.arange(4, dtype=np.int32)
    kernel[(1,)](x)
    assert x.tolist() == [0, 3, 6, 9]
    places = (__file__, line_of(helper.fn, "breakpoint()"), line_of(kernel.fn, "helper(x, 3)"))
    assert stops == [places, ("[0, 3, 6, 9]", 3, "[0, 1, 2, 3]")]


def test_constants_become_tensors_where_compiled_code_has_them():
    @triton.jit
    def kernel(x_ptr, out_ptr, N: tl.constexpr):
        acc = 0.0
        for i in range(N):
            acc += tl.load(x_ptr + i)
        tl.store(out_ptr, acc)
        seed = 2166136261
        seed = seed * 16777619
        tl.store(out_ptr + 1, seed % 65536)
        quotient = -7
        quotient = quotient // 2
        tl.store(out_ptr + 2, quotient)
        kept: tl.constexpr = -7
        tl.store(out_ptr + 3, kept // 2)
        tl.store(out_ptr + 4, tl.load(x_ptr) / 3 if N > 2 else 0.0)

    def run(decorate):
        out = np.zeros(5, np.float64)
        decorate(kernel.fn)[(1,)](np.full(1000, 2.5, np.float16), out, 1000)
        return out.tolist()

    interpreted = run(triton.jit)
    assert interpreted == run(JITFunction)
    assert interpreted[:4] == [2500, 2166136261 * 16777619 % 2**32 % 65536, -3, -4]


def test_loops_count_in_the_type_of_their_bounds():
    @triton.jit
    def kernel(out_ptr, n, big):
        count = 0
        for i in range(n):
            tl.static_assert(i.dtype == tl.int32)
            count += i
        for j in tl.range(big - 2, big):
            tl.static_assert(j.dtype == tl.int64)
            count += 1
        while tl.condition(count > 100):
            count -= 7
        for k in range(5, 0, -2):
            count += k * 1000
        tl.store(out_ptr, count)

    out = np.zeros(1, np.int64)
    kernel[(1,)](out, 20, 2**40)
    count = sum(range(20)) + 2
    while count > 100:
        count -= 7
    assert out[0] == count + 9000


def test_conditions_of_tiles_and_short_circuits():
    @triton.jit
    def kernel(out_ptr, n, FLAG: tl.constexpr, NONE: tl.constexpr):
        i = tl.arange(0, 8)
        tile = i > 1 and i < 6 or not i != 7
        chained = 2 <= i < n
        value = 1
        if FLAG and NONE is None:
            value = 2
        if NONE is not None and NONE.missing > 3:
            value = 3
        tl.store(out_ptr + i, tile + chained * 10 + value * 100)

    out = np.zeros(8, np.int32)
    kernel[(1,)](out, 5, True, None)
    i = np.arange(8)
    assert (out == ((i > 1) & (i < 6) | (i == 7)) + ((i >= 2) & (i < 5)) * 10 + 200).all()


def test_errors_name_file_line_and_program():
    @triton.jit
    def inner(x):
        return tl.dot(x, x)

    @triton.jit
    def kernel(out_ptr):
        if tl.program_id(1) == 1:
            inner(tl.arange(0, 4))

    with pytest.raises(triton.InterpreterError) as caught:
        kernel[(2, 2)](np.zeros(1, np.int32))
    line = line_of(inner.fn, "tl.dot")
    place = f"{__file__}:{line}:23: in program (0, 1, 0) of `kernel`: "
    assert str(caught.value).startswith(place)
    text = "Unsupported lhs dtype int32; dot takes int8, fp8, fp16, bf16, fp32 and fp64 [dot-dtype]"
    assert str(caught.value).endswith(text)
    assert isinstance(caught.value.__cause__, AssertionError)

    @triton.jit
    def asserting(n):
        tl.static_assert(n.dtype == tl.int64, "a wide n")

    with pytest.raises(
        triton.InterpreterError, match=r"program \(0, 0, 0\) of `asserting`.*a wide n"
    ):
        asserting[(1,)](5)

    @triton.jit
    def ambiguous():
        if tl.arange(0, 4) > 2:
            pass

    with pytest.raises(triton.InterpreterError, match="more than one value is ambiguous"):
        ambiguous[(1,)]()


def test_device_prints_and_asserts_know_their_program(capfd):
    @triton.jit
    def kernel(n):
        pid = tl.program_id(0)
        tl.device_print("id", pid)
        assert pid < n, "too many programs"

    kernel[(2,)](1)
    assert capfd.readouterr().out == ("pid (0, 0, 0) idx () id: 0\npid (1, 0, 0) idx () id: 1\n")
    with pytest.raises(triton.InterpreterError, match="too many programs"):
        kernel[(2,)](1, debug=True)


def test_operations_are_made_once():
    from triton._interpreter import operations

    @triton.jit
    def kernel(x_ptr, out_ptr, n):
        total = tl.load(x_ptr)
        for i in range(1, n):
            total = total * 3 + tl.load(x_ptr + i)
        tl.store(out_ptr + tl.program_id(0), total)

    x, out = np.arange(40, dtype=np.int32), np.zeros(3, np.int32)
    kernel[(1,)](x, out, 4)
    known = len(operations._made)
    kernel[(3,)](x, out, 9)
    assert len(operations._made) == known
    want = 0
    for value in range(1, 9):
        want = want * 3 + value
    assert out.tolist() == [want] * 3


def test_functions_run_only_in_kernels():
    @triton.jit
    def helper(x):
        return x

    with pytest.raises(RuntimeError, match="outside of the scope of a kernel"):
        helper(3)
    with pytest.raises(ValueError, match="Did you forget to add @triton.jit"):
        tl.arange(0, 4)
    with pytest.raises(KeyError, match="num_wraps"):
        helper[(1,)](3, num_wraps=4)
    assert helper.warmup(3, grid=(1,)) is None


def test_hooks_grids_and_other_decorators():
    seen = []

    @triton.heuristics({"B": lambda args: triton.next_power_of_2(args["n"])})
    @triton.jit
    def kernel(out_ptr, n, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(out_ptr + i, i, mask=i < n)

    kernel.fn.add_pre_run_hook(lambda *args, **keywords: seen.append(keywords["B"]))
    out = np.zeros(8, np.int32)
    kernel[lambda args: (triton.cdiv(args["n"], args["B"]),)](out, 5, num_warps=8)
    assert out.tolist() == [0, 1, 2, 3, 4, 0, 0, 0] and seen == [8]


class OnDevice:
    """An array of another device, which is copied by `cpu()` and `copy_()`."""

    device = types.SimpleNamespace(type="cuda", index=0)
    dtype = "float32"

    def __init__(self, data):
        self.data = data

    def data_ptr(self):
        return 16

    def cpu(self):
        return self.data.copy()

    def copy_(self, other):
        self.data[...] = other


def test_arrays_of_other_devices_are_copied():
    @triton.jit
    def kernel(pair, y):
        tl.store(pair[1], tl.load(pair[0]) + tl.load(y))

    x, out = OnDevice(np.array([2.0], np.float32)), OnDevice(np.zeros(1, np.float32))
    kernel[(1,)]((x, out), x)
    assert out.data.tolist() == [4.0] and x.data.tolist() == [2.0]


def test_arrays_without_memory_are_not_copied():
    class Empty(OnDevice):
        def data_ptr(self):
            return 0

        def cpu(self):
            raise NotImplementedError("there is no data")

    @triton.jit
    def kernel(x, y, HAS_Y: tl.constexpr):
        tl.store(x, tl.load(x) + (tl.load(y) if HAS_Y else 1))

    x = OnDevice(np.array([2.0], np.float32))
    kernel[(1,)](x, Empty(np.zeros(0, np.float32)), False)
    assert x.data.tolist() == [3.0]


def test_memory_that_is_read_only_is_not_written():
    @triton.jit
    def kernel(x_ptr, out_ptr, n, FORM: tl.constexpr):
        at = tl.arange(0, 8)
        x = tl.load(x_ptr + at, mask=at < 4, other=0)
        if FORM == "tile":
            twice = at[:, None] + tl.arange(0, 2)[None, :] * 0
            tl.store(out_ptr + twice, x[:, None] + 1, mask=(at < n)[:, None])
        elif FORM == "scalar":
            tl.store(out_ptr + n, 1, mask=n == 4)
        elif FORM == "atomic":
            tl.atomic_add(out_ptr + at, x, mask=at < n)
        else:
            block = tl.make_block_ptr(out_ptr, (n,), (1,), (0,), (8,), (0,))
            tl.store(block, x, boundary_check=(0,))

    def run(n, form):
        memory = np.arange(12, dtype=np.int32)
        x = memory[4:8]
        x.flags.writeable = False
        kernel[(1,)](x, memory, n, form)
        return memory[:4].tolist()

    assert run(4, "tile") == [5, 6, 7, 8]
    assert run(3, "scalar") == [0, 1, 2, 3]
    assert run(4, "atomic") == [4, 6, 8, 10]
    assert run(4, "block") == [4, 5, 6, 7]
    for form in ("tile", "atomic"):
        with pytest.raises(
            InterpreterError, match="ValueError: `.*` writes to ndarray, which is read-only"
        ):
            run(5, form)
    with pytest.raises(InterpreterError, match="read-only"):
        run(4, "scalar")


def test_the_setting_is_read_at_decoration(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import triton\n@triton.jit\ndef kernel(n):\n    print('n is', n + 1)\nkernel[(1,)](4)\n"
    )
    environment = {**os.environ, "TRITON_INTERPRET": "1", "TRITON_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
    assert done.stdout == "n is 5\n" and not done.stderr


def test_functions_without_a_text_run_as_python_has_them():
    text = """
@triton.jit
def kernel(x_ptr, OFFSET: tl.constexpr):
    i = tl.arange(0, 4)
    tl.store(x_ptr + i, add(tl.load(x_ptr + i), OFFSET))

@triton.jit
def add(x, y):
    return x + y
"""
    names = {"triton": triton, "tl": tl}
    exec(text, names)
    x = np.arange(4, dtype=np.float32)
    names["kernel"][(1,)](x, 3)
    assert x.tolist() == [3, 4, 5, 6]
    assert str(inspect.signature(names["add"])) == "(x, y)"
    with pytest.raises(InterpreterError, match="unsupported operand|not supported|int32"):
        names["kernel"][(1,)](np.zeros(4, np.float32), "text")


def test_several_constants_of_one_assignment_stay_constants():
    @triton.jit
    def kernel(out_ptr, SHAPE: tl.constexpr):
        m: tl.constexpr
        n: tl.constexpr
        (m, n), k = SHAPE
        tl.static_assert(isinstance(k, tl.tensor))
        tile = tl.full((m, n), k, tl.float32)
        tl.store(out_ptr + tl.arange(0, m * n), tl.reshape(tile, (m * n,)))

    out = np.zeros(8, np.float32)
    kernel[(1,)](out, ((2, 4), 3))
    assert out.tolist() == [3] * 8


def test_shapes_equal_lists():
    @triton.jit
    def kernel(x_ptr, N: tl.constexpr):
        row = tl.arange(0, N)[None, :]
        tl.static_assert(row.shape == [1, N])
        tl.static_assert(row.shape != [N, 1] and tl.full([], 1, tl.int32).shape == [])
        tl.static_assert(tl.load(x_ptr)[None].shape == [1])
        for i in range(2, 8)[1:3]:
            tl.store(x_ptr + i, i)

    x = np.zeros(8, np.int32)
    kernel[(1,)](x, 8)
    assert x.tolist() == [0, 0, 0, 3, 4, 0, 0, 0]
