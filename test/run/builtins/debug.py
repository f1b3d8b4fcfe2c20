"""Printing and asserting while a kernel runs: texts, types, order, failures at the launch."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import ByteFloat, check, launch


def printed(capfd, device, kernel, grid=(1,), **arguments):
    """What a launch writes; other devices only show that they take the kernel."""
    launch(kernel, grid, device=device, **arguments)
    if device != "cpu":
        pytest.skip("the text of devices is formatted on the device")
    return capfd.readouterr().out


@triton.jit
def print_tile(x_ptr, N: tl.constexpr, HEX: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.device_print("x", x, hex=HEX)


def test_integers_are_aligned_eight_a_line(capfd, device):
    x = np.arange(16, dtype=np.int32) * -7
    out = printed(capfd, device, print_tile, x_ptr=x, N=16, HEX=False)
    first, second = out.splitlines()
    head = "(0, 0, 0) x: ["
    assert first == head + "   0,   -7,  -14,  -21,  -28,  -35,  -42,  -49,"
    assert second == " " * len(head) + " -56,  -63,  -70,  -77,  -84,  -91,  -98, -105]"


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint64"])
def test_every_integer_type(dtype, capfd, device):
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max], dtype)
    out = printed(capfd, device, print_tile, x_ptr=x, N=2, HEX=False)
    assert [int(each) for each in out.split("[")[1].rstrip("]\n").split(",")] == [info.min, info.max]
    digits = info.bits // 4
    out = printed(capfd, device, print_tile, x_ptr=x, N=2, HEX=True)
    unsigned = x.view(f"uint{info.bits}")
    assert out == f"(0, 0, 0) x: [0x{unsigned[0]:0{digits}x}, 0x{unsigned[1]:0{digits}x}]\n"


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1.0, -2.0, 3.0, 0.0], " 1., -2.,  3.,  0."),
        ([0.5, -1.25, 3.0, 100.0], "  0.5000,  -1.2500,   3.0000, 100.0000"),
        ([1e-6, 1.0, 2.0, 1e6], "1.0000e-06, 1.0000e+00, 2.0000e+00, 1.0000e+06"),
        ([np.nan, np.inf, -np.inf, 1.0], " nan,  inf, -inf,   1."),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats(dtype, values, text, capfd, device):
    x = np.array(values, dtype)
    assert printed(capfd, device, print_tile, x_ptr=x, N=4, HEX=False) == f"(0, 0, 0) x: [{text}]\n"


@pytest.mark.parametrize("name", ["float8e5", "float8e5b16", "float8e4nv", "float8e4b8"])
def test_small_floats(name, capfd, device):
    if device != "cpu":
        pytest.skip("GPUs have only some of these formats")
    x = ByteFloat({"float8e5": [0x3C, 0xC0], "float8e5b16": [0x40, 0xC4]}.get(name, [0x38, 0xC0]), name)
    if name == "float8e4b8":
        x = ByteFloat([0x40, 0xC8], name)
    out = printed(capfd, device, print_tile, x_ptr=x, N=2, HEX=False)
    assert out == "(0, 0, 0) x: [ 1., -2.]\n"


@triton.jit
def print_shapes(x_ptr, n, f, flag, N: tl.constexpr):
    i = tl.arange(0, 2)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i)
    tl.device_print("tile:", x)
    tl.device_print("n", n, f)
    print("flags", x > 2, flag > 0)
    print("plain")
    print("", n)
    tl.device_print("pid ", tl.program_id(1))


def of_program(out, head):
    """The lines that one program has written, with those that continue them."""
    lines, is_wanted = [], False
    for line in out.splitlines(keepends=True):
        if not line.startswith(" "):
            is_wanted = line.startswith(head)
        if is_wanted:
            lines.append(line)
    return "".join(lines)


def test_prefixes_shapes_and_scalars(capfd, device):
    x = np.arange(8, dtype=np.int16)
    arguments = dict(x_ptr=x, n=-5, f=2.5, flag=1, N=4)
    out = printed(capfd, device, print_shapes, (1, 2), **arguments)
    for y in range(2):
        head = f"(0, {y}, 0)"
        tile, flags = f"{head} tile: [", f"{head} flags: (operand 0) ["
        assert of_program(out, head) == (
            f"{tile}[0, 1, 2, 3],\n{' ' * len(tile)}[4, 5, 6, 7]]\n"
            f"{head} n: (operand 0) -5\n{head} n: (operand 1) 2.5000\n"
            f"{flags}[False, False, False,  True],\n"
            f"{' ' * len(flags)}[ True,  True,  True,  True]]\n"
            f"{head} flags: (operand 1) True\n"
            f"{head} plain\n{head}: -5\n{head} pid: {y}\n"
        )


@triton.jit
def print_in_loop(x_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros((N,), tl.int32)
    for step in range(n):
        total += tl.load(x_ptr + i)
        tl.store(x_ptr + i, total)
        if step % 2 == 0:
            tl.device_print("total", total)
    tl.device_print("end", tl.sum(total))


def test_prints_stand_in_program_order(capfd, device):
    x = np.ones(2, np.int32)
    out = printed(capfd, device, print_in_loop, x_ptr=x, n=3, N=2)
    assert out == "(0, 0, 0) total: [1, 1]\n(0, 0, 0) total: [4, 4]\n(0, 0, 0) end: 8\n"
    assert (x == 4).all()


# --- assert -----------------------------------------------------------------------------------------


@triton.jit
def checked(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    mask = i < n
    x = tl.load(x_ptr + i, mask, other=-1)
    tl.device_assert(x >= 0, "x is negative", mask)
    assert n > 0, f"n must be positive, N is {N}"
    tl.store(out_ptr + i, x, mask)


def test_assertions_that_hold(device):
    x = np.arange(10, dtype=np.float32)
    arguments = dict(x_ptr=x, out_ptr=np.full(10, -1, np.float32), n=10, N=8)
    check(checked, (2,), arguments | dict(debug=True), dict(out_ptr=x), device=device)


def test_a_failed_assertion_is_an_exception_at_the_launch(device):
    if device != "cpu":
        pytest.skip("a failed assertion ends a GPU's context, and the tests after it")
    x, out = np.arange(32, dtype=np.float32), np.full(32, -1, np.float32)
    x[9] = -3
    with pytest.raises(RuntimeError, match="device assertion failed: x is negative") as failure:
        checked[(4,)](x, out, 32, N=8, debug=True)
    line = checked.starting_line_number + 5
    assert f"debug.py:{line}: " in str(failure.value)
    assert "in program (1, 0, 0)" in str(failure.value)
    assert (out[8:16] == -1).all()  # what stands behind the assertion has not run
    checked[(4,)](np.abs(x), out, 32, N=8, debug=True)  # the next launch is another
    assert (out == np.abs(x)).all()


def test_assertions_are_off_without_debug(device):
    x = np.full(8, -1, np.float32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(8, np.float32), n=8, N=8)
    check(checked, (1,), arguments, dict(out_ptr=x), device=device)


@triton.jit
def overflowing(x_ptr, y_ptr, out_ptr, OP: tl.constexpr, CHECK: tl.constexpr):
    x = tl.load(x_ptr)
    y = tl.load(y_ptr)
    tl.store(out_ptr, OP(x, y, sanitize_overflow=CHECK))


@pytest.mark.parametrize(
    ("operation", "x", "y", "overflows"),
    [
        ("add", 2**31 - 1, 1, True),
        ("add", 2**31 - 2, 1, False),
        ("sub", -(2**31), 1, True),
        ("mul", 2**16, 2**15, True),
        ("mul", 2**16, -(2**15), False),
    ],
)
def test_overflow_sanitizer(operation, x, y, overflows, device):
    if device != "cpu":
        pytest.skip("a failed assertion ends a GPU's context, and the tests after it")
    a, b, out = (np.array([v], np.int32) for v in (x, y, 0))
    function = getattr(tl, operation)
    text = f"int32 overflow detected for operation {operation}"
    if overflows:
        with pytest.raises(RuntimeError, match=text):
            overflowing[(1,)](a, b, out, function, True, debug=True)
    else:
        overflowing[(1,)](a, b, out, function, True, debug=True)
    overflowing[(1,)](a, b, out, function, False, debug=True)
    overflowing[(1,)](a, b, out, function, True, debug=True, sanitize_overflow=False)


@triton.jit
def hints(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.assume(n > 0)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.debug_barrier()
    tl.store(out_ptr + i, tl.expect_zero(x - x, i < n) + x, mask=i < n)


def test_promises_change_nothing(device):
    x = np.arange(10, dtype=np.float32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(10, np.float32), n=10, N=16)
    check(hints, (1,), arguments, dict(out_ptr=x), device=device)


@triton.jit
def not_zero(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.expect_zero(tl.load(x_ptr + i), i < n))


def test_expect_zero_is_held_to_its_mask(device):
    if device != "cpu":
        pytest.skip("a failed assertion ends a GPU's context, and the tests after it")
    x = np.array([0, 0, 1, 0], np.float32)
    out = np.ones(4, np.float32)
    not_zero[(1,)](x, out, 2, N=4, debug=True)
    with pytest.raises(RuntimeError, match=r"debug.py:\d+: device assertion failed: expect_zero"):
        not_zero[(1,)](x, out, 3, N=4, debug=True)


@triton.jit
def target_facts(out_ptr):
    info = tl.target_info
    tl.store(out_ptr, info.is_cuda())
    tl.store(out_ptr + 1, info.is_hip() or info.is_hip_cdna3() or info.is_hip_cdna4())
    tl.store(out_ptr + 2, info.is_hip_gfx1250())
    tl.store(out_ptr + 3, info.cuda_capability_geq(8) and not info.cuda_capability_geq(99, 9))
    tl.store(out_ptr + 4, tl.extra.cuda.num_warps() + tl.extra.cuda.num_threads())


def test_target_info(device):
    is_cuda = device != "cpu"
    expected = np.array([is_cuda, 0, 0, is_cuda, 4 + 128], np.int32)
    arguments = dict(out_ptr=np.full(5, -1, np.int32))
    check(target_facts, (1,), arguments, dict(out_ptr=expected), device=device)
    if device == "cpu":
        assert not tl.target_info.is_cuda() and not tl.target_info.cuda_capability_geq(0)
        assert tl.target_info.current_target().backend == "cpu"
