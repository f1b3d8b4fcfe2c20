"""Built-ins that Gluon shares with Triton, with layouts: values on simulated GPUs; and what surrounds a kernel."""
# SPDX-License-Identifier: MIT

import pathlib
import subprocess
import sys

import numpy as np
import pytest
import triton
import triton.language as tl
from _simulators import simulators
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.runtime import driver

simulator = simulators("sim:90", "sim:gfx942")


def warp_size():
    return driver.active.get_current_target().warp_size


def blocked_1d(per_thread=1):
    return gl.BlockedLayout([per_thread], [warp_size()], [4], [0])


def blocked_2d():
    return gl.BlockedLayout([1, 2], [warp_size() // 8, 8], [4, 1], [1, 0])


def numbers(*shape):
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


@gluon.jit
def load_2d(x, M: gl.constexpr, N: gl.constexpr, layout: gl.constexpr):
    rows = gl.arange(0, M, gl.SliceLayout(1, layout))
    columns = gl.arange(0, N, gl.SliceLayout(0, layout))
    offsets = rows[:, None] * N + columns[None, :]
    return gl.load(x + offsets), offsets


@gluon.jit
def scan_rows(x, out, layout: gl.constexpr):
    tile, offsets = load_2d(x, 16, 32, layout)
    gl.store(out + offsets, gl.associative_scan(tile, 1, plus))


@gluon.jit
def plus(a, b):
    return a + b


def test_scans(simulator):
    x, out = numbers(16, 32), np.zeros((16, 32), np.float32)
    scan_rows[(1,)](x, out, blocked_2d())
    np.testing.assert_allclose(out, x.cumsum(1), rtol=1e-5, atol=1e-5)


@gluon.jit
def transposes(x, out, layout: gl.constexpr, turned: gl.constexpr):
    tile, _ = load_2d(x, 16, 32, layout)
    rows = gl.arange(0, 32, gl.SliceLayout(1, turned))
    columns = gl.arange(0, 16, gl.SliceLayout(0, turned))
    there = gl.convert_layout(tile.permute(1, 0), turned)
    gl.store(out + rows[:, None] * 16 + columns[None, :], there)


def test_permutations(simulator):
    x, out = numbers(16, 32), np.zeros((32, 16), np.float32)
    transposes[(1,)](x, out, blocked_2d(), blocked_2d())
    np.testing.assert_array_equal(out, x.T)


@gluon.jit
def joins_and_splits(x, out, layout: gl.constexpr):
    offsets = gl.arange(0, 128, layout)
    tile = gl.load(x + offsets)
    first, second = gl.split(gl.join(tile, tile * 2))
    pairs = gl.reshape(gl.join(first, second), [256])
    places = gl.arange(0, 256, pairs.type.layout)
    gl.store(out + places, pairs)


def test_joins_and_splits(simulator):
    x, out = numbers(128), np.zeros(256, np.float32)
    joins_and_splits[(1,)](x, out, blocked_1d())
    np.testing.assert_array_equal(out, np.stack([x, x * 2], 1).ravel())


@gluon.jit
def gathers(x, index, out, layout: gl.constexpr):
    offsets = gl.arange(0, 64, layout)
    picked = gl.gather(gl.load(x + offsets), gl.load(index + offsets), 0)
    gl.store(out + offsets, picked)


def test_gathers(simulator):
    x, out = numbers(64), np.zeros(64, np.float32)
    index = np.random.default_rng(2).integers(0, 64, 64).astype(np.int32)
    gathers[(1,)](x, index, out, blocked_1d())
    np.testing.assert_array_equal(out, x[index])


@gluon.jit
def counts(x, out, layout: gl.constexpr, bins: gl.constexpr):
    values = gl.load(x + gl.arange(0, 256, layout))
    found = gl.histogram(values, 16, layout=bins)
    gl.store(out + gl.arange(0, 16, bins), found)


def test_histograms(simulator):
    x, out = np.random.default_rng(3).integers(0, 16, 256).astype(np.int32), np.zeros(16, np.int32)
    counts[(1,)](x, out, blocked_1d(), blocked_1d())
    np.testing.assert_array_equal(out, np.bincount(x, minlength=16))


@gluon.jit
def multiplies(a, b, out, layout: gl.constexpr):
    left, _ = load_2d(a, 16, 16, layout)
    right, offsets = load_2d(b, 16, 16, layout)
    left = gl.convert_layout(left, gl.DotOperandLayout(0, layout, 0))
    right = gl.convert_layout(right, gl.DotOperandLayout(1, layout, 0))
    gl.store(out + offsets, gl.dot_fma(left, right, gl.zeros([16, 16], gl.float32, layout)))


def test_dots_of_threads(simulator):
    a, b, out = numbers(16, 16), numbers(16, 16) + 1, np.zeros((16, 16), np.float32)
    multiplies[(1,)](a, b, out, blocked_2d())
    np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-4)


@gluon.jit
def elementwise(x, out, layout: gl.constexpr):
    offsets = gl.arange(0, 128, layout)
    tile = gl.load(x + offsets)
    result = gl.where(tile > 0, gl.exp(tile), gl.maximum(tile, -0.5))
    result = gl.fma(result, 2.0, gl.full_like(result, 1))
    result, twice = gl.map_elementwise(both, result, result)
    gl.store(out + offsets, result + twice - gl.zeros_like(result))


@gluon.jit
def both(a, b):
    return a, b * 2


def test_elementwise(simulator):
    x, out = numbers(128), np.zeros(128, np.float32)
    elementwise[(1,)](x, out, blocked_1d())
    expected = np.where(x > 0, np.exp(x), np.maximum(x, -0.5)) * 2 + 1
    np.testing.assert_allclose(out, expected * 3, rtol=1e-5)


@gluon.jit
def adds_atomically(out, layout: gl.constexpr):
    offsets = gl.arange(0, 64, layout)
    gl.atomic_add(out + offsets // 2, gl.full([64], 1, gl.int32, layout))


def test_atomics(simulator):
    out = np.zeros(32, np.int32)
    adds_atomically[(3,)](out, blocked_1d())
    np.testing.assert_array_equal(out, np.full(32, 6))


@gluon.jit
def coalesced(x, out):
    offsets = gl.arange(0, 256, gl.CoalescedLayout())
    gl.store(out + offsets, gl.load(x + offsets) + 1)


def test_coalesced_accesses_get_the_layout_of_vectors(simulator):
    x, out = numbers(256), np.zeros(256, np.float32)
    kernel = coalesced[(1,)](x, out)
    np.testing.assert_array_equal(out, x + 1)
    assert "gluon." not in kernel.asm["ttgir"]
    assert f"sizePerThread = [{2 if warp_size() == 32 else 1}]" in kernel.asm["ttgir"]


@triton.jit
def of_triton(x, FACTOR: tl.constexpr):
    return tl.where(x > 0, x * FACTOR, tl.zeros_like(x))


@gluon.jit
def calls_triton(x, out, layout: gl.constexpr):
    offsets = gl.arange(0, 64, layout)
    gl.store(out + offsets, of_triton(gl.load(x + offsets), 3))


def test_functions_of_triton(simulator):
    x, out = numbers(64), np.zeros(64, np.float32)
    calls_triton[(1,)](x, out, blocked_1d())
    np.testing.assert_allclose(out, np.where(x > 0, x * 3, 0))


@gluon.aggregate
class Window:
    offsets: gl.tensor
    layout: gl.constexpr

    @gluon.jit
    def make(start, SIZE: gl.constexpr, layout: gl.constexpr):
        return Window(start + gl.arange(0, SIZE, layout), layout)

    @gluon.jit
    def read(self, x):
        gl.static_assert(self.offsets.type.layout == self.layout)
        return gl.load(x + self.offsets)


@gluon.jit
def reads_windows(x, out, layout: gl.constexpr):
    total = gl.zeros([64], gl.float32, layout)
    for step in gl.static_range(3):
        total += Window.make(step * 64, 64, layout).read(x)
    gl.store(out + gl.arange(0, 64, layout), total)


def test_aggregates(simulator):
    x, out = numbers(3, 64), np.zeros(64, np.float32)
    reads_windows[(1,)](x, out, blocked_1d())
    np.testing.assert_allclose(out, x.sum(0), rtol=1e-5, atol=1e-5)


@gluon.jit
def counts_warps(out, layout: gl.constexpr):
    gl.static_assert(gl.num_warps() == 4 and gl.num_ctas() == 1)
    gl.barrier()
    gl.store(out + gl.arange(0, 64, layout), gl.num_warps())


def test_the_number_of_warps_is_a_constant(simulator):
    out = np.zeros(64, np.int32)
    counts_warps[(1,)](out, blocked_1d())
    np.testing.assert_array_equal(out, np.full(64, 4))


@triton.autotune([triton.Config({"PER": 1}), triton.Config({"PER": 2})], key=["n"])
@triton.heuristics({"BLOCK": lambda args: 256})
@gluon.jit
def tuned(x, out, n, PER: gl.constexpr, BLOCK: gl.constexpr, WARP: gl.constexpr):
    offsets = gl.arange(0, BLOCK, gl.BlockedLayout([PER], [WARP], [4], [0]))
    gl.store(out + offsets, gl.load(x + offsets, offsets < n), offsets < n)


def test_tuned_kernels(simulator):
    x, out = numbers(200), np.zeros(200, np.float32)
    tuned[(1,)](x, out, 200, WARP=warp_size())
    np.testing.assert_array_equal(out, x)


FILE = """
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

LAYOUT = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))


@gluon.jit
def copy(x, out, N: gl.constexpr):
    offsets = gl.arange(0, N, LAYOUT)
    gl.store(out + offsets, gl.load(x + offsets))
"""


def test_a_file_compiles_without_python(tmp_path):
    tool = pathlib.Path(triton.__file__).parents[2] / "bin" / "nereid"
    if not tool.exists():
        pytest.skip("the tools are not built")
    (tmp_path / "copy.py").write_text(FILE)
    command = [tool, "compile", f"{tmp_path}/copy.py:copy", "--signature", "*fp32,*fp32,128"]
    command += ["--target", "cuda:90", "--emit", "ttgir,ptx", "-o", f"{tmp_path}/out/"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "#ttg.blocked" in (tmp_path / "out" / "copy.ttgir").read_text()


INTERPRETED = """
import numpy as np
from triton.experimental import gluon


@gluon.jit
def kernel(x):
    pass


kernel[(1,)](np.zeros(1))
"""


def test_the_interpreter_refuses(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(INTERPRETED)
    done = subprocess.run(
        [sys.executable, path],
        capture_output=True,
        text=True,
        timeout=60,
        env={**__import__("os").environ, "TRITON_INTERPRET": "1"},
    )
    assert done.returncode and "kernel.py:7: `kernel` is a kernel in Gluon" in done.stderr, (
        done.stderr
    )
