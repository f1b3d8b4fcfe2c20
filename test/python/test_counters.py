"""Counters of the simulated GPU: what kernels ask of memory, stated as tests."""
# SPDX-License-Identifier: MIT

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.backends.sim.driver import SimDriver
from triton.runtime import driver


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def strided(x_ptr, out_ptr, STRIDE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at * STRIDE))


@triton.jit
def multiply(a_ptr, b_ptr, out_ptr, K, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    rows, columns = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, K, STEP):
        k = start + tl.arange(0, STEP)
        left = tl.load(a_ptr + rows * K + k[None, :])
        total = tl.dot(left, tl.load(b_ptr + k[:, None] * N + columns), total)
    tl.store(out_ptr + rows * N + columns, total)


@triton.jit
def transpose(x_ptr, out_ptr, N: tl.constexpr):
    rows, columns = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tile = tl.load(x_ptr + rows * N + columns)
    tl.store(out_ptr + rows * N + columns, tl.trans(tile))


@triton.jit
def transpose_by_gather(x_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N * N)
    tl.store(out_ptr + at, tl.gather(tl.load(x_ptr + at), at % N * N + at // N, axis=0))


def aligned(shape, dtype=np.float32, fill=None):
    """An array that begins where a GPU's allocation would: at a multiple of 256 bytes."""
    count = int(np.prod(shape))
    raw = np.zeros(count * np.dtype(dtype).itemsize + 256, np.uint8)
    begin = -raw.ctypes.data % 256
    array = raw[begin : begin + count * np.dtype(dtype).itemsize].view(dtype).reshape(shape)
    if fill is not None:
        array[...] = fill
    return array


def random(*shape, dtype=np.float32):
    return aligned(shape, dtype, np.random.default_rng(0).standard_normal(shape))


@pytest.fixture(params=["sim", "sim:80"])
def counted(request, monkeypatch):
    driver.set_active(SimDriver(request.param))
    monkeypatch.setattr(triton.knobs.runtime, "sim_counters", True)
    yield request.param
    driver.reset_active()


def test_vector_add_moves_each_byte_once_in_16_byte_accesses(counted):
    n, block = 8192, 1024
    x, y, out = random(n), random(n), aligned(n)
    counters = add[(n // block,)](x, y, out, n, BLOCK=block).counters
    assert np.array_equal(out, x + y)
    assert counters["global_load_bytes"] == 2 * n * 4
    assert counters["global_load_sectors"] == counters["global_load_bytes"] // 32
    assert counters["global_load_requests_of_16_bytes"] == counters["global_load_requests"] > 0
    assert counters["global_store_requests_of_16_bytes"] == counters["global_store_requests"] > 0
    assert counters["global_store_sectors"] == n * 4 // 32
    assert counters["dram_read_bytes"] == 2 * n * 4
    assert counters["dram_write_bytes"] == n * 4
    assert counters["float32_instructions"] * 32 == n
    assert counters["mean_active_lanes"] == 32


def test_masked_lanes_ask_for_nothing(counted):
    x, y, out = random(1024), random(1024), aligned(1024)
    counters = add[(1,)](x, y, out, 100, BLOCK=1024).counters
    assert counters["global_store_bytes"] == 400
    assert counters["global_load_bytes"] == 800


def test_strided_load_asks_for_more_sectors_than_bytes(counted):
    x, out = random(256 * 16), aligned(256)
    counters = strided[(1,)](x, out, STRIDE=16, BLOCK=256).counters
    assert np.array_equal(out, x[::16])
    assert counters["global_load_bytes"] == 1024
    assert counters["global_load_sectors"] == 256
    assert counters["dram_read_bytes"] == 256 * 32


@pytest.mark.parametrize("m", [32, 64])
def test_matmul_has_no_bank_conflicts_and_counts_flops(counted, m):
    n, k = 64, 128
    a, b = random(m, k, dtype=np.float16), random(k, n, dtype=np.float16)
    out = aligned((m, n))
    counters = multiply[(1,)](a, b, out, k, M=m, N=n, STEP=32).counters
    assert np.allclose(out, a.astype(np.float32) @ b.astype(np.float32), atol=1e-1)
    assert counters["tensor_flops_f16"] == 2 * m * n * k
    copied = counters["global_load_bytes"] + counters["global_copy_bytes"]
    assert copied + counters["bulk_load_bytes"] == (m * k + k * n) * 2
    for kind in ("load", "store", "copy"):
        assert counters[f"shared_{kind}_bank_conflicts"] == 0, kind


def test_conversion_of_layouts_has_no_bank_conflicts(counted):
    x, out = random(64, 64), aligned((64, 64))
    counters = transpose[(1,)](x, out, N=64).counters
    assert np.array_equal(out, x.T)
    assert counters["shared_store_requests"] > 0
    assert counters["bank_conflicts"] == 0


def test_columns_of_words_in_one_bank_conflict(counted):
    x, out = random(32, 32), aligned((32, 32))
    counters = transpose_by_gather[(1,)](x, out, N=32).counters
    assert np.array_equal(out, x.T)
    assert counters["shared_load_requests"] == 32
    # A thread stores four neighbours, so that eight lanes of each load read the same column.
    assert counters["shared_load_wavefronts"] == counters["shared_load_requests"] * 8
    assert counters["bank_conflicts"] == 32 * 7
    lines = [line for line in counters.lines if line["bank_conflicts"]]
    assert [line["bank_conflicts"] for line in lines] == [32 * 7]


def test_lines_have_the_counts_of_the_source(counted):
    x, y, out = random(1024), random(1024), aligned(1024)
    counters = add[(1,)](x, y, out, 1024, BLOCK=1024).counters
    source = Path(__file__).read_text().splitlines()
    texts = {line["line"]: source[line["line"] - 1].strip() for line in counters.lines}
    loads = [line for line in counters.lines if "tl.load(x_ptr + offsets" in texts[line["line"]]]
    assert [line["global_bytes"] for line in loads] == [4096]
    assert all(Path(line["file"]).name == "test_counters.py" for line in counters.lines)
    total = sum(line["warp_instructions"] for line in counters.lines)
    assert total == counters["warp_instructions"]


def test_table_names_lines_occupancy_and_estimate(counted):
    x, y, out = random(1024), random(1024), aligned(1024)
    text = str(add[(1,)](x, y, out, 1024, BLOCK=1024).counters)
    assert "x = tl.load(x_ptr + offsets, mask=mask)" in text
    assert "100 % of 16 bytes" in text
    assert f"estimate on {'A100' if counted == 'sim:80' else 'H200'}" in text


def test_occupancy_is_limited_by_what_is_scarce(counted):
    x, y, out = random(1024), random(1024), aligned(1024)
    counters = add[(1,)](x, y, out, 1024, BLOCK=1024).counters
    found = counters.occupancy("H200")
    assert found["warps"] == found["ctas"] * 4 <= 64
    assert 8 <= found["registers"] <= 64
    assert found["registers_are_estimated"]


def test_estimate_grows_with_the_data_and_with_a_slower_gpu(counted):
    counters = []
    for n in (1 << 18, 1 << 20):
        x, y, out = random(n), random(n), aligned(n)
        counters.append(add[(n // 1024,)](x, y, out, n, BLOCK=1024).counters)
    small, large = (each.estimate("H200")["seconds"] for each in counters)
    assert small < large < counters[1].estimate("A100")["seconds"]


def test_unknown_names_are_errors_with_the_known_ones(counted):
    x, y, out = random(1024), random(1024), aligned(1024)
    counters = add[(1,)](x, y, out, 1024, BLOCK=1024).counters
    with pytest.raises(ValueError, match="`H300`; there are H200"):
        counters.table("H300")
    with pytest.raises(KeyError, match="global_load_sector"):
        counters["global_load_sector"]


def test_without_counting_there_are_no_counters(counted, monkeypatch):
    monkeypatch.setattr(triton.knobs.runtime, "sim_counters", False)
    x, out = random(64), aligned(64)
    kernel = strided[(1,)](x, out, STRIDE=1, BLOCK=64)
    with pytest.raises(RuntimeError, match="TRITON_SIM_COUNTERS"):
        kernel.counters  # noqa: B018


# --- nereid profile ------------------------------------------------------------------------------

KERNELS = """
import triton
import triton.language as tl

@triton.jit
def scale(x, out, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)
"""
ROOT = Path(__file__).resolve().parents[2]
NEREID = shutil.which("nereid") or str(ROOT / "build" / "dev" / "bin" / "nereid")
SIGNATURE = "*fp32:16,*fp32:16,i32:16,fp32,1024"


@pytest.fixture
def profile(tmp_path):
    (tmp_path / "scale.py").write_text(KERNELS)

    def run(*options, grid="16", arguments="16384,16384,16384,2.5", kernel="scale"):
        command = [
            NEREID,
            "profile",
            f"scale.py:{kernel}",
            "--signature",
            SIGNATURE,
            "--grid",
            grid,
        ]
        command += ["--arguments", arguments, *options]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    return run


def test_profile_prints_json(profile):
    done = profile("--json", "--gpu", "h100")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["kernel"] == "scale"
    assert found["counters"]["global_load_bytes"] == 65536
    assert found["counters"]["global_load_sectors"] == 2048
    assert found["occupancy"]["gpu"] == "H100"
    assert sum(line["global_bytes"] for line in found["lines"]) == 2 * 65536


def test_profile_prints_a_table(profile):
    done = profile("--device", "sim:80")
    assert done.returncode == 0, done.stderr
    assert "tl.store(out + at" in done.stdout
    assert "estimate on A100" in done.stdout


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"kernel": "scales"}, "scales"),
        ({"grid": "0"}, "--grid is `0`; write the number of programs"),
        ({"arguments": "16384,16384"}, "--arguments has 2 entries, the kernel takes 4: `x`"),
        ({"arguments": "abc,16384,16384,1"}, "`abc` is no shape for `x`"),
        ({"arguments": "16384,16384,1.5,1"}, "`1.5` is no value of `n`"),
    ],
)
def test_profile_reports_mistakes(profile, changes, message):
    done = profile(**changes)
    assert done.returncode != 0
    assert message in done.stderr


def test_profile_wants_a_simulated_gpu(profile):
    assert "sim, or sim:80" in profile("--device", "cuda").stderr


def test_names_of_counters_are_those_of_the_guide(counted):
    x, out = random(64), aligned(64)
    counters = strided[(1,)](x, out, STRIDE=1, BLOCK=64).counters
    text = (ROOT / "docs" / "guide" / "simulator.md").read_text()
    names = re.findall(r"^\| `(\w+)`", text[text.index("| counter |") :], re.M)
    assert len(names) > 10
    assert set(names) <= set(counters)
