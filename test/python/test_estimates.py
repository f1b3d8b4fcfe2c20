"""The compiler's estimates of launches, made before code generation."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from triton._C import libtriton
from triton.backends.compiler import GPUTarget
from triton.backends.sim.driver import SimDriver
from triton.compiler import ASTSource, make_backend
from triton.runtime import driver

MULTIPROCESSORS = 132


def estimate(
    fn, types, values, grid, constants, target=("cuda", 90, 32), memory=0, peak=0.0, **options
):
    """`types` are those of the parameters that are no constants, `values` those of integers."""
    names = fn.arg_names
    signature = {name: types.get(name, "constexpr") for name in names}
    attributes = {
        (index,): [["tt.divisibility", 16]]
        for index, name in enumerate(names)
        if signature[name].startswith("*") or values.get(name, 1) % 16 == 0
    }
    backend = make_backend(GPUTarget(*target))
    source = ASTSource(fn, signature, constants, attributes)
    parsed = backend.parse_options(options)
    integers = {names.index(name): value for name, value in values.items()}
    shape = (tuple(grid), integers, memory, MULTIPROCESSORS, peak)
    return libtriton.estimate(
        fn,
        source.signature,
        source.constants,
        source.attrs,
        backend.code_target(parsed),
        {**parsed.__dict__, "own_launcher": True},
        source.symbol(),
        shape,
    )


@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        acc += tl.load(x_ptr + row * n + start + tl.arange(0, BLOCK))
    tl.store(out_ptr + row, tl.sum(acc))


@triton.jit
def triangle(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros([BLOCK], tl.float32)
    for start in range(0, (row + 1) * BLOCK, BLOCK):
        acc += tl.load(x_ptr + row * n + start + tl.arange(0, BLOCK))
    tl.store(out_ptr + row, tl.sum(acc))


@triton.jit
def counted(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """`total` with a `while`."""
    row = tl.program_id(0)
    acc = tl.zeros([BLOCK], tl.float32)
    start = 0
    while start < n:
        acc += tl.load(x_ptr + row * n + start + tl.arange(0, BLOCK))
        start += BLOCK
    tl.store(out_ptr + row, tl.sum(acc))


@triton.jit
def ragged(x_ptr, lengths_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros([BLOCK], tl.float32)
    for start in range(0, tl.load(lengths_ptr + row), BLOCK):
        acc += tl.load(x_ptr + row * n + start + tl.arange(0, BLOCK))
    tl.store(out_ptr + row, tl.sum(acc))


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    depth = tl.arange(0, DEPTH)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, n, DEPTH):
        a = tl.load(a_ptr + rows[:, None] * n + (k + depth)[None, :])
        b = tl.load(b_ptr + (k + depth)[:, None] * n + columns[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], acc)


ROWS = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}


def of_rows(fn, n, grid=1024, block=1024, **options):
    return estimate(fn, ROWS, {"n": n}, (grid, 1, 1), {"BLOCK": block}, **options)


def of_matmul(n, block, depth=32, target=("cuda", 90, 32), **options):
    types = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp32", "n": "i32"}
    grid = (n // block, n // block, 1)
    constants = {"BLOCK": block, "DEPTH": depth}
    return estimate(matmul, types, {"n": n}, grid, constants, target, 8 * n * n, **options)


def test_a_copy_takes_as_long_as_its_memory():
    n = 1 << 26
    found = of_rows(copy, n, grid=n // 1024, memory=8 * n)
    assert found["limit"] == "DRAM" and found["bytes"] == 8 * n
    assert 8 * n / 4.35e12 * 1e6 <= found["microseconds"] <= 1.2 * 8 * n / 4.35e12 * 1e6


def test_the_memory_of_the_device_counts():
    n = 1 << 26
    fast, slow = (
        of_rows(copy, n, grid=n // 1024, memory=8 * n, peak=peak) for peak in (4.0e12, 2.0e12)
    )
    assert slow["microseconds"] == pytest.approx(2 * fast["microseconds"], rel=0.1)


def test_programs_come_in_waves():
    few, many = of_rows(copy, 1 << 20, grid=MULTIPROCESSORS), of_rows(copy, 1 << 20, grid=1 << 16)
    assert few["waves"] < 1 < many["waves"]
    assert many["waves"] == pytest.approx((1 << 16) / many["resident_ctas"] / MULTIPROCESSORS)


@pytest.mark.parametrize("fn", [total, counted])
def test_a_loop_counts_by_its_arguments(fn):
    short, long = of_rows(fn, 4096), of_rows(fn, 65536)
    assert long["bytes"] == pytest.approx(16 * short["bytes"], rel=0.01)
    assert short["bytes"] == pytest.approx(1024 * 4096 * 4, rel=0.01)


def test_a_bound_by_the_program_counts_by_the_middle():
    assert of_rows(triangle, 4096)["bytes"] == pytest.approx(1024 * 1024 * 4 * 512, rel=0.05)


def test_a_length_in_memory_counts_as_a_typical_one():
    types = {"lengths_ptr": "*i32", **ROWS}
    found = estimate(ragged, types, {"n": 65536}, (1024, 1, 1), {"BLOCK": 512})
    assert found["bytes"] == pytest.approx(1024 * 2048 * 4, rel=0.01)


def test_large_tiles_are_best_for_large_matrices():
    times = {
        (block, warps): of_matmul(8192, block, num_warps=warps)["microseconds"]
        for block, warps in ((32, 4), (64, 4), (128, 8))
    }
    assert min(times, key=times.get) == (128, 8)
    assert 2 * 8192**3 / times[128, 8] / 1e6 < 900  # TFLOP/s


def test_small_tiles_are_best_for_small_matrices():
    assert of_matmul(256, 32)["microseconds"] < of_matmul(256, 128, num_warps=8)["microseconds"]


def test_resources_are_those_of_the_compiled_kernel():
    found = of_matmul(1024, 128, 64, num_warps=8, num_stages=3)
    assert found["can_launch"] and found["resident_ctas"] >= 1
    assert 64 <= found["registers"] <= 255 and found["spilled"] == 0
    assert 2 * 3 * 128 * 64 * 2 <= found["shared_bytes"] <= found["shared_limit"]


def test_maxnreg_limits_registers():
    found = of_matmul(1024, 128, 64, num_warps=4, maxnreg=64)
    assert found["registers"] == 64 and found["spilled"] > 0


@pytest.mark.parametrize("capability", [80, 86, 89, 100, 120])
def test_each_generation_has_an_estimate(capability):
    assert of_matmul(1024, 64, target=("cuda", capability, 32))["microseconds"] > 0


# --- AMD -----------------------------------------------------------------------------------------

GFX942, GFX1100 = ("hip", "gfx942", 64), ("hip", "gfx1100", 32)


@pytest.mark.parametrize(
    "arch", ["gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1036", "gfx1100", "gfx1151", "gfx1201"]
)
def test_each_amd_architecture_has_an_estimate(arch):
    wave = 64 if arch.startswith("gfx9") else 32
    found = of_matmul(1024, 64, target=("hip", arch, wave))
    assert found["can_launch"] and 0 < found["microseconds"] < 1e5


@pytest.mark.parametrize("target, rate", [(GFX942, 5.3e12), (GFX1100, 0.96e12)])
def test_a_copy_on_amd_takes_as_long_as_its_memory(target, rate):
    n = 1 << 26
    found = of_rows(copy, n, grid=n // 1024, memory=8 * n, target=target)
    assert found["limit"] == "DRAM" and found["bytes"] == 8 * n
    assert 8 * n / rate * 1e6 <= found["microseconds"] <= 1.4 * 8 * n / rate * 1e6


def test_amd_matmuls_stay_below_the_peak():
    found = of_matmul(8192, 128, target=GFX942, num_warps=4)
    peak = 1307e12 * MULTIPROCESSORS / 304
    assert 0.2 * peak < 2 * 8192**3 / found["microseconds"] * 1e6 < peak
    assert of_matmul(8192, 32, target=GFX942)["microseconds"] > 1.5 * found["microseconds"]


def test_a_dot_without_matrix_instructions_is_slower():
    assert (
        of_matmul(4096, 64, target=("hip", "gfx1030", 32))["microseconds"]
        > 2 * of_matmul(4096, 64, target=GFX1100)["microseconds"]
    )


def test_lds_and_registers_limit_resident_workgroups():
    small, large = (of_matmul(1024, 64, depth, target=GFX942) for depth in (32, 128))
    assert small["shared_bytes"] < large["shared_bytes"] <= large["shared_limit"] == 65536
    assert small["resident_ctas"] > large["resident_ctas"] == 65536 // large["shared_bytes"]
    more = of_matmul(1024, 128, target=GFX942, num_warps=4, waves_per_eu=4)
    assert more["registers"] == 128 and more["resident_ctas"] == 4


@pytest.fixture(params=[GFX942, GFX1100], ids=["gfx942", "gfx1100"])
def simulated(request, monkeypatch):
    driver.set_active(SimDriver(f"sim:{request.param[1]}"))
    monkeypatch.setattr(triton.knobs.runtime, "sim_counters", True)
    yield request.param
    driver.reset_active()


def bytes_of(counters):
    return counters["global_load_bytes"] + counters["global_store_bytes"]


def test_the_bytes_of_a_copy_are_those_that_a_simulated_gpu_counts(simulated):
    x, out = np.ones(8192, np.float32), np.empty(8192, np.float32)
    counters = copy[(8,)](x, out, 8192, BLOCK=1024).counters
    assert of_rows(copy, 8192, grid=8, target=simulated)["bytes"] == bytes_of(counters)


def test_the_resources_of_a_matmul_are_those_of_its_code(simulated):
    a, b = (np.ones((128, 128), np.float16) for _ in range(2))
    kernel = matmul[(2, 2)](a, b, np.empty((128, 128), np.float32), 128, BLOCK=64, DEPTH=32)
    found = of_matmul(128, 64, target=simulated)
    assert found["shared_bytes"] == kernel.metadata.shared
    assert found["registers"] == pytest.approx(kernel.n_regs, rel=0.2)
    # Loads that run ahead are masked in the last iteration.
    assert bytes_of(kernel.counters) <= found["bytes"] <= 1.25 * bytes_of(kernel.counters)


# --- CPU -----------------------------------------------------------------------------------------

CPU = ("cpu", "", 1)


def test_a_loop_on_a_cpu_counts_by_its_arguments():
    short, long = of_rows(total, 4096, target=CPU), of_rows(total, 65536, target=CPU)
    assert long["bytes"] == pytest.approx(16 * short["bytes"], rel=0.01)
    assert long["cycles"] > 12 * short["cycles"]


def test_a_mask_ends_the_loops_of_a_cpu():
    inside, past = (of_rows(copy, n, grid=1, block=4096, target=CPU) for n in (4096, 64))
    assert inside["bytes"] == 2 * 4 * 4096 and past["bytes"] == 2 * 4 * 64
    assert past["cycles"] < inside["cycles"] / 4


def test_programs_of_a_cpu_are_divided_among_its_cores():
    one, many = (
        of_rows(copy, 1 << 30, grid=grid, target=CPU) for grid in (1, MULTIPROCESSORS * 64)
    )
    assert one["waves"] < 1 and many["waves"] == 64
    assert many["microseconds"] > 10 * one["microseconds"]


def test_tiles_that_fill_registers_are_best_on_a_cpu():
    times = {block: of_matmul(4096, block, target=CPU)["microseconds"] for block in (16, 64)}
    assert times[64] < 0.8 * times[16]


def test_exponentials_cost_more_than_sums_on_a_cpu():
    @triton.jit
    def exponential(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + at, tl.exp(tl.sin(tl.load(x_ptr + at))))

    plain, slow = (of_rows(fn, 1 << 20, target=CPU)["cycles"] for fn in (copy, exponential))
    assert slow > 2 * plain


def test_an_error_of_the_kernel_is_raised():
    @triton.jit
    def wrong(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        tl.store(out_ptr, missing)  # noqa: F821

    with pytest.raises(triton.CompilationError, match="missing"):
        of_rows(wrong, 1)


@pytest.mark.parametrize("launch", [1, (1,), ((1, 1), {}, 0, 0), ((1, 1, 1), {"n": 1}, 0, 0, 0.0)])
def test_a_launch_of_another_form_is_an_error(launch):
    with pytest.raises((TypeError, SystemError, ValueError)):
        libtriton.estimate(
            copy, {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"},
            {(3,): 64}, {}, GPUTarget("cuda", 90, 32), {}, "copy", launch,
        )  # fmt: skip
