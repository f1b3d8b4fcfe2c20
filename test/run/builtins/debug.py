"""Printing and asserting while a kernel runs: texts, types, order, failures at the launch."""
# SPDX-License-Identifier: MIT

import re
import secrets

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import Float8, check, launch


def printed(capfd, device, kernel, grid=(1,), **arguments):
    """The output of a launch; other devices only have to accept the kernel."""
    launch(kernel, grid, device=device, **arguments)
    if device.startswith(("cuda", "hip")):
        pytest.skip("the text of devices is formatted on the device")
    return capfd.readouterr().out


@triton.jit
def print_tile(x_ptr, N: tl.constexpr, HEX: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.device_print("x", x, hex=HEX)


def lines(indices, prefix, elements, pid=(0, 0, 0)):
    """What Triton prints for the elements of one operand."""
    head = f"pid ({pid[0]}, {pid[1]}, {pid[2]}) idx "
    return "".join(
        f"{head}({index}){prefix}{element}\n"
        for index, element in zip(indices, elements, strict=True)
    )


def test_a_line_for_each_element(capfd, device):
    x = np.arange(16, dtype=np.int32) * -7
    out = printed(capfd, device, print_tile, x_ptr=x, N=16, HEX=False)
    assert out == lines([f"{i:2}" for i in range(16)], " x: ", x)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint64"])
def test_every_integer_type(dtype, capfd, device):
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max], dtype)
    out = printed(capfd, device, print_tile, x_ptr=x, N=2, HEX=False)
    assert out == lines(range(2), " x: ", x)
    digits = info.bits // 4
    out = printed(capfd, device, print_tile, x_ptr=x, N=2, HEX=True)
    unsigned = x.view(f"uint{info.bits}")
    assert out == lines(range(2), " x: ", [f"0x{each:0{digits}x}" for each in unsigned])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_have_six_digits(dtype, capfd, device):
    x = np.array([1.0, -1.25, 1e-7, 512.5, np.nan, np.inf, -np.inf, 0.0], dtype)
    texts = ["1.000000", "-1.250000", "0.000000", "512.500000", "nan", "inf", "-inf", "0.000000"]
    out = printed(capfd, device, print_tile, x_ptr=x, N=8, HEX=False)
    assert out == lines(range(8), " x: ", texts)
    if dtype == "float64":
        x[:] = -1e300
        out = printed(capfd, device, print_tile, x_ptr=x, N=8, HEX=False)
        assert out == lines(range(8), " x: ", [f"{-1e300:f}"] * 8)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_hexadecimal_floats(dtype, capfd, device):
    x = np.array([1, 1.5, -0.1, -0.0, np.inf, -np.inf, 6, 2**-24], dtype)
    out = printed(capfd, device, print_tile, x_ptr=x, N=8, HEX=True)
    values = [float.fromhex(line.partition(": ")[2]).hex() for line in out.splitlines()]
    assert values == [float(value).hex() for value in x]


@pytest.mark.parametrize("name", ["float8e5", "float8e5b16", "float8e4nv", "float8e4b8"])
def test_small_floats(name, capfd, device):
    if device != "cpu":
        pytest.skip("GPUs have only some of these formats")
    x = Float8({"float8e5": [0x3C, 0xC0], "float8e5b16": [0x40, 0xC4]}.get(name, [0x38, 0xC0]), name)
    if name == "float8e4b8":
        x = Float8([0x40, 0xC8], name)
    out = printed(capfd, device, print_tile, x_ptr=x, N=2, HEX=False)
    assert out == lines(range(2), " x: ", ["1.000000", "-2.000000"])


@triton.jit
def print_shapes(x_ptr, n, f, flag, N: tl.constexpr):
    i = tl.arange(0, 2)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i)
    tl.device_print("tile:", x)
    tl.device_print("n ", n, f)
    print("flags", x > 2, flag > 0)
    print("plain")
    print("", n)
    tl.device_print("100% pid: ", tl.program_id(1))


def test_prefixes_shapes_and_scalars(capfd, device):
    x = np.arange(24, dtype=np.int16)
    arguments = dict(x_ptr=x, n=-5, f=2.5, flag=1, N=12)
    out = printed(capfd, device, print_shapes, (1, 2), **arguments)
    indices = [f"{i}, {j:2}" for i in range(2) for j in range(12)]
    for y in range(2):
        head = f"pid (0, {y}, 0)"
        of_program = "".join(line for line in out.splitlines(keepends=True) if head in line)
        expected = (
            lines(indices, " tile: ", x, (0, y, 0))
            + f"{head} idx () n: (operand 0) -5\n{head} idx () n: (operand 1) 2.500000\n"
            + lines(indices, " flags: (operand 0) ", (x > 2).astype(int), (0, y, 0))
            + f"{head} idx () flags: (operand 1) 1\n"
            + f"{head} plain\n{head} idx (): -5\n{head} idx () 100% pid: {y}\n"
        )
        if device == "cpu":
            assert of_program == expected
        else:  # each thread prints scalars; the lanes of a warp print the operands of one call in turns
            assert set(of_program.splitlines()) == set(expected.splitlines())
            assert of_program.count(f"{head} plain\n") == of_program.count(f"{head} idx (): -5\n")


@triton.jit
def print_once_per_thread(x_ptr, n):
    print("text")
    tl.device_print("scalar", n)
    tl.device_print("loaded", tl.load(x_ptr))
    tl.device_print("one", tl.load(x_ptr + tl.arange(0, 1)))


def test_each_thread_prints_scalars(capfd, device):
    threads = 1 if device == "cpu" else 2 * triton.runtime.driver.active.get_current_target().warp_size
    out = printed(capfd, device, print_once_per_thread, (1,), x_ptr=np.full(1, 7, np.int32), n=3, num_warps=2)
    head = "pid (0, 0, 0)"
    for line in ("text", "idx () scalar: 3", "idx () loaded: 7"):
        assert out.count(f"{head} {line}\n") == threads, line
    assert out.count(f"{head} idx (0) one: 7\n") == 1  # a tile's element is printed by one thread


@triton.jit
def print_types(x_ptr, n, UNIQUE: tl.constexpr):
    tile = tl.load(x_ptr + tl.arange(0, 4)[:, None] * 2 + tl.arange(0, 2)[None, :])
    tl.static_print(tile, n, x_ptr, tile > 0, sep=";")


def test_static_print_shows_the_type_of_a_value(capfd, device):
    arguments = dict(x_ptr=np.zeros(8, np.float32), n=3, UNIQUE=secrets.token_hex(4))
    out = printed(capfd, device, print_types, **arguments)
    extents = "[constexpr[4], constexpr[2]]"
    assert f"fp32{extents};int32[];pointer<fp32>[];int1{extents}\n" in out


@triton.jit
def print_pointers(x_ptr):
    tl.device_print("at", x_ptr + tl.arange(0, 2))


def test_pointers(capfd, device):
    x = np.zeros(2, np.int32)
    out = printed(capfd, device, print_pointers, x_ptr=x)
    first, second = (int(line.partition(" at: ")[2], 16) for line in out.splitlines())
    assert second == first + 4


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
    total = " total: "
    end = lines([""], " end: ", [8])  # printed by each thread
    assert end in out
    assert out.replace(end, "") == lines(range(2), total, [1, 1]) + lines(range(2), total, [4, 4])
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
    if device.startswith(("cuda", "hip")):
        pytest.skip("a failed assertion ends a GPU's context, and the tests after it")
    x, out = np.arange(32, dtype=np.float32), np.full(32, -1, np.float32)
    x[9] = -3
    with pytest.raises(RuntimeError, match="device-side assertion failed: x is negative") as failure:
        checked[(4,)](x, out, 32, N=8, debug=True)
    line = checked.starting_line_number + 5
    assert f"debug.py:{line}: " in str(failure.value)
    assert re.search(r"program \(?1, 0, 0", str(failure.value))
    assert (out[8:16] == -1).all()  # code after the assertion has not run
    checked[(4,)](np.abs(x), out, 32, N=8, debug=True)  # the next launch is not affected
    assert (out == np.abs(x)).all()


@pytest.mark.parametrize("extent", [1, 2, 24, 64, 256, 200])
def test_one_false_element_anywhere_fails(extent, device):
    if device.startswith(("cuda", "hip")):
        pytest.skip("a failed assertion ends a GPU's context, and the tests after it")
    for index in {0, extent // 2, extent - 1}:
        x, out = np.zeros(extent, np.float32), np.zeros(extent, np.float32)
        x[index] = -1
        with pytest.raises(RuntimeError, match="x is negative"):
            checked[(1,)](x, out, extent, N=extent, debug=True)
        checked[(1,)](-x, out, extent, N=extent, debug=True)
        assert out[index] == 1


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
    if device.startswith(("cuda", "hip")):
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


def test_hints_change_nothing(device):
    x = np.arange(10, dtype=np.float32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(10, np.float32), n=10, N=16)
    check(hints, (1,), arguments, dict(out_ptr=x), device=device)


@triton.jit
def not_zero(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.expect_zero(tl.load(x_ptr + i), i < n))


def test_expect_zero_is_held_to_its_mask(device):
    if device.startswith(("cuda", "hip")):
        pytest.skip("a failed assertion ends a GPU's context, and the tests after it")
    x = np.array([0, 0, 1, 0], np.float32)
    out = np.ones(4, np.float32)
    not_zero[(1,)](x, out, 2, N=4, debug=True)
    with pytest.raises(RuntimeError, match=r"debug.py:\d+: device-side assertion failed: expect_zero"):
        not_zero[(1,)](x, out, 3, N=4, debug=True)


@triton.jit
def target_properties(out_ptr):
    info = tl.target_info
    tl.store(out_ptr, info.is_cuda())
    tl.store(out_ptr + 1, info.is_hip() or info.is_hip_cdna3() or info.is_hip_cdna4())
    tl.store(out_ptr + 2, info.is_hip_gfx1250())
    tl.store(out_ptr + 3, info.cuda_capability_geq(8) and not info.cuda_capability_geq(99, 9))
    tl.store(out_ptr + 4, tl.extra.cuda.num_warps() + tl.extra.cuda.num_threads())


def test_target_info(device):
    is_hip = "gfx" in device
    is_cuda = device != "cpu" and not is_hip
    threads = 256 if "gfx9" in device else 128
    expected = np.array([is_cuda, is_hip, 0, is_cuda, 4 + threads], np.int32)
    arguments = dict(out_ptr=np.full(5, -1, np.int32))
    check(target_properties, (1,), arguments, dict(out_ptr=expected), device=device)
    if device == "cpu":
        assert not tl.target_info.is_cuda() and not tl.target_info.cuda_capability_geq(0)
        assert tl.target_info.current_target().backend == "cpu"
