"""The native launcher: which launches it handles alone, which go through `run`, what it caches."""
# SPDX-License-Identifier: MIT

import gc
import struct
import sys
import weakref

import numpy as np
import pytest
import triton
import triton.language as tl
from triton._C import libtriton
from triton.tools.tensor_descriptor import TensorDescriptor

SCALE = tl.constexpr(3)


class Counter:
    """Counts the calls that `run` makes first, that is, the launches that the native table did not contain."""

    def __init__(self, monkeypatch):
        self.calls = 0
        original = triton.JITFunction._take_stream

        def counted(function, kwargs):
            self.calls += 1
            return original(function, kwargs)

        monkeypatch.setattr(triton.JITFunction, "_take_stream", counted)

    def of(self, launch):
        before = self.calls
        launch()
        return self.calls - before


@pytest.fixture
def runs(monkeypatch):
    return Counter(monkeypatch)


def make_kernel():
    @triton.jit
    def store(out_ptr, n, C: tl.constexpr = 0):
        tl.store(out_ptr, n)

    return store


# --- Tensor descriptors


@triton.jit
def copied(desc, out):
    rows: tl.constexpr = desc.block_shape[0]
    at = tl.arange(0, rows)[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(out + at, desc.load([0, 0]))


def described(array, block, **more):
    rows, columns = array.shape
    return TensorDescriptor(array, [rows, columns], [columns, 1], block, **more)


@pytest.fixture
def known_descriptor():
    copied._c_clear()
    out = np.zeros((4, 8), np.float32)
    copied[(1,)](described(np.ones((4, 8), np.float32), [4, 8]), out)
    return out


def test_descriptors_of_other_arrays_share_a_kernel(runs, known_descriptor):
    source = np.arange(15 * 8, dtype=np.float32).reshape(15, 8)
    assert runs.of(lambda: copied[(1,)](described(source[3:], [4, 8]), known_descriptor)) == 0
    assert np.array_equal(known_descriptor, source[3:7])


def test_extents_and_padding_of_descriptors_are_values(runs, known_descriptor):
    short = described(np.full((2, 8), 7, np.float32), [4, 8], padding="nan")
    assert runs.of(lambda: copied[(1,)](short, known_descriptor)) == 0
    assert (known_descriptor[:2] == 7).all() and np.isnan(known_descriptor[2:]).all()


def test_strides_of_descriptors_are_values(runs, known_descriptor):
    source = np.arange(4 * 16, dtype=np.float32).reshape(4, 16)
    half = TensorDescriptor(source, [4, 8], [16, 1], [4, 8])
    assert runs.of(lambda: copied[(1,)](half, known_descriptor)) == 0
    assert np.array_equal(known_descriptor, source[:, :8])


def test_changed_descriptor_is_read_again(runs, known_descriptor):
    desc = described(np.ones((4, 8), np.float32), [4, 8])
    desc.base = np.full((4, 8), 5, np.float32)
    assert runs.of(lambda: copied[(1,)](desc, known_descriptor)) == 0
    assert (known_descriptor == 5).all()
    desc.block_shape = [2, 8]
    assert runs.of(lambda: copied[(1,)](desc, known_descriptor)) == 1


@pytest.mark.parametrize("dtype", [np.float16, np.int32])
def test_other_elements_of_a_descriptor_are_another_kernel(dtype, runs, known_descriptor):
    desc = described(np.full((4, 8), 3, dtype), [4, 8])
    assert runs.of(lambda: copied[(1,)](desc, known_descriptor)) == 1
    assert (known_descriptor == 3).all()


@pytest.mark.parametrize("name, value", [("strides", [8]), ("shape", ["a", 8]), ("block_shape", 3)])
def test_broken_descriptor_is_an_error(name, value, known_descriptor):
    desc = described(np.ones((4, 8), np.float32), [4, 8])
    setattr(desc, name, value)
    with pytest.raises((TypeError, ValueError, IndexError)):
        copied[(1,)](desc, known_descriptor)


# The values of each pair are launched one after the other; does the second find the kernel of the first?
SAME = [(5, 7), (16, 32), (-16, 48), (2**40 + 16, 2**41), (1.5, 2.5), (True, False), (1, 1)]
DIFFERENT = [(5, 16), (5, 1), (5, 2**40), (2**40, 2**63), (5, 5.0), (1, True), (16, 0.0)]


@pytest.mark.parametrize("first, second", SAME)
def test_arguments_of_one_specialisation_share_a_kernel(first, second, runs):
    kernel, out = make_kernel(), np.zeros(4, np.float64)
    assert runs.of(lambda: kernel[(1,)](out, first)) == 1
    assert runs.of(lambda: kernel[(1,)](out, second)) == 0
    assert out[0] == second


@pytest.mark.parametrize("first, second", DIFFERENT)
def test_arguments_of_other_specialisations_do_not(first, second, runs):
    kernel, out = make_kernel(), np.zeros(4, np.float64)
    assert runs.of(lambda: kernel[(1,)](out, first)) == 1
    assert runs.of(lambda: kernel[(1,)](out, second)) == 1
    assert out[0] == second


CONSTANTS = [
    1,
    1.0,
    True,
    0,
    0.0,
    -0.0,
    False,
    None,
    "a",
    "b",
    (1, 2),
    (1, (2,)),
    tl.float32,
    tl.int32,
]


def test_constants_are_told_apart_by_type_and_value(runs):
    kernel, out = make_kernel(), np.zeros(4, np.float32)
    for constant in CONSTANTS:
        assert runs.of(lambda: kernel[(1,)](out, 5, constant)) == 1, constant  # noqa: B023
    for constant in CONSTANTS:
        assert runs.of(lambda: kernel[(1,)](out, 5, C=constant)) == 0, constant  # noqa: B023
    assert runs.of(lambda: kernel[(1,)](out, 5, tl.constexpr(1))) == 0
    assert runs.of(lambda: kernel[(1,)](out, 5, [1, 2])) == 0


def test_arrays_are_told_apart_by_type_and_alignment(runs):
    kernel, memory = make_kernel(), np.zeros(64, np.float32)
    start = (-memory.ctypes.data // 4) % 4
    aligned, shifted = memory[start:], memory[start + 1 :]
    assert runs.of(lambda: kernel[(1,)](aligned, 5)) == 1
    assert runs.of(lambda: kernel[(1,)](shifted, 5)) == 1
    assert runs.of(lambda: kernel[(1,)](aligned.view(np.int32), 5)) == 1
    assert runs.of(lambda: kernel[(1,)](memory[start + 4 :], 5)) == 0
    assert runs.of(lambda: kernel[(1,)](memory[start + 6 :], 5)) == 0


def test_options_are_part_of_the_key(runs):
    kernel, out = make_kernel(), np.zeros(4, np.float32)
    assert runs.of(lambda: kernel[(1,)](out, 5)) == 1
    assert runs.of(lambda: kernel[(1,)](out, 5, num_warps=8)) == 1
    assert runs.of(lambda: kernel[(1,)](out, 5, num_warps=8)) == 0
    assert runs.of(lambda: kernel[(1,)](out, 5)) == 0


def test_grid_functions_get_all_arguments(runs):
    kernel, out, seen = make_kernel(), np.zeros(4, np.float32), []

    def grid(arguments):
        seen.append(arguments)
        return (arguments["n"],)

    for _ in range(2):
        kernel[grid](out, 2)
    assert seen[0] == seen[1] == {"out_ptr": out, "n": 2, "C": 0}
    assert runs.calls == 1


def test_a_grid_function_may_drop_the_kernel(runs):
    kernel, out = make_kernel(), np.zeros(4, np.float32)

    def grid(arguments):
        kernel._c_clear()
        libtriton.bump_epoch()
        gc.collect()
        return (1,)

    for n in (5, 7, 9):
        kernel[grid](out, n)
        assert out[0] == n


class Forgetful:
    """An array that clears the parameters of the kernel while its arguments are bound."""

    def __init__(self, array, kernel):
        self.array, self.kernel = array, kernel

    def __dlpack__(self, stream=None):
        self.kernel._c_clear()
        gc.collect()
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_an_argument_may_drop_the_parameters():
    class Parameter:  # its default value has no other owner
        is_constexpr, has_default, is_variadic = False, True, False

        def __init__(self, like):
            self.like, self.name = like, like.name

        def __getattr__(self, name):
            return getattr(self.like, name)

        @property
        def default(self):
            return 10**18 + len(kernels)

    kernels = []

    @triton.jit
    def kernel(out_ptr, n=10**18 + 1):
        tl.store(out_ptr, n)

    kernels.append(kernel)
    out = np.zeros(4, np.int64)
    plain = kernel.params
    kernel.params = [plain[0], Parameter(plain[1])]
    for _ in range(3):
        kernel[(1,)](Forgetful(out, kernel))
        assert out[0] == 10**18 + 1
        out[0] = 0


def test_errors_of_a_grid_function_pass_through():
    kernel, out = make_kernel(), np.zeros(4, np.float32)
    kernel[(1,)](out, 5)
    with pytest.raises(ZeroDivisionError):
        kernel[lambda arguments: (1 // 0,)](out, 5)


def test_switches_send_launches_through_python(runs):
    kernel, out = make_kernel(), np.zeros(4, np.float32)
    kernel[(1,)](out, 5)
    kernel._c_slow = True
    assert runs.of(lambda: kernel[(1,)](out, 5)) == 1
    kernel._c_slow = False
    libtriton.set_slow_launch(True)
    assert runs.of(lambda: kernel[(1,)](out, 5)) == 1
    libtriton.set_slow_launch(False)
    assert runs.of(lambda: kernel[(1,)](out, 5)) == 0
    libtriton.bump_epoch()
    assert runs.of(lambda: kernel[(1,)](out, 5)) == 1
    kernel._c_clear()
    assert runs.of(lambda: kernel[(1,)](out, 5)) == 1


def test_watched_globals(runs, monkeypatch):
    @triton.jit
    def scaled(out_ptr):
        tl.store(out_ptr, SCALE)

    out = np.zeros(4, np.float32)
    scaled[(1,)](out)
    assert runs.of(lambda: scaled[(1,)](out)) == 0
    monkeypatch.setitem(globals(), "SCALE", tl.constexpr(3))  # equal, but not identical
    assert runs.of(lambda: scaled[(1,)](out)) == 1
    assert [entry[1:] for entry in scaled._c_watch] == [("SCALE", SCALE)]
    with pytest.raises(TypeError, match="_c_watch must be"):
        scaled._c_watch = 3


def test_half_precision_scalars_are_rounded_to_nearest():
    @triton.jit
    def halves(out_ptr, a: tl.float16, b: tl.bfloat16):
        tl.store(out_ptr, a.to(tl.float32))
        tl.store(out_ptr + 1, b.to(tl.float32))

    out = np.zeros(2, np.float32)
    numbers = [
        0.0,
        1.0,
        -2.5,
        1 / 3,
        65504.0,
        65520.0,
        6e-8,
        2.9e-8,
        1e-5,
        -1e30,
        3.4e38,
        2049.0,
        2051.0,
    ]
    for number in [*numbers, float("inf"), 1.00390625, 1.01171875]:
        halves[(1,)](out, number, number)
        with np.errstate(over="ignore"):
            assert out[0] == np.float16(number), number
        bits = struct.unpack("<I", struct.pack("<f", number))[0]
        rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
        assert out[1] == struct.unpack("<f", struct.pack("<I", rounded & 0xFFFFFFFF))[0], number
    halves[(1,)](out, float("nan"), float("nan"))
    assert np.isnan(out).all()


def test_integers_outside_of_an_annotated_type_are_refused():
    @triton.jit
    def narrow(out_ptr, a: tl.int8, b: tl.uint16):
        tl.store(out_ptr, a.to(tl.int32) + b.to(tl.int32))

    out = np.zeros(1, np.int32)
    narrow[(1,)](out, -128, 65535)
    assert out[0] == 65535 - 128
    for a, b in ((128, 0), (-129, 0), (0, -1), (0, 65536)):
        with pytest.raises(OverflowError, match="cannot hold"):
            narrow[(1,)](out, a, b)


def test_launches_keep_nothing_of_a_call():
    kernel, out, grid = make_kernel(), np.zeros(4, np.float32), (1, 1)
    compiled = kernel[grid](out, 5)
    before = [sys.getrefcount(each) for each in (out, grid, compiled)]
    for _ in range(100):
        kernel[grid](out, 5)
    assert [sys.getrefcount(each) for each in (out, grid, compiled)] == before


def test_a_kernel_that_nobody_holds_goes():
    kernel = make_kernel()
    kernel[(1,)](np.zeros(4, np.float32), 5, C=tl.float32)
    alive = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert alive() is None


def test_launcher_wants_a_kernel():
    with pytest.raises(TypeError, match="Launcher takes a JITFunction, got `int`"):
        libtriton.Launcher(3, (1,))


@triton.jit
def increment(x):
    tl.store(x, tl.load(x) + 1)


def test_warmup_as_an_option_never_launches():
    """`kernel[grid](..., warmup=True)`, before and after launches of the same arguments."""
    x = np.zeros(4, np.float32)
    for expected in (0, 1):
        for _ in range(3):
            increment[(1,)](x, warmup=True)
        assert x[0] == expected
        if expected == 0:
            increment[(1,)](x)
    kept = increment[(1,)]
    for _ in range(2):
        kept(x, warmup=True)
    assert x[0] == 1
