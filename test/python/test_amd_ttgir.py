"""TTGIR of another compiler for AMD's GPUs (test/python/amd_ttgir): compiled, and run on simulated ones against NumPy."""
# SPDX-License-Identifier: MIT

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent
TEXTS = ROOT / "amd_ttgir"
sys.path[:0] = [str(ROOT), str(ROOT.parent / "run")]

import triton  # noqa: E402
from _amd_ttgir_kernels import CASES  # noqa: E402
from _microscaling import scale, tile  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402

ARCHS = sorted({case.arch for case in CASES.values()})


def random(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


# --- Runs on a simulated GPU: this file as a program, with its architecture -----------------------


def run_masked_sum(kernel, constants):
    n = 600 if "gfx942" in str(kernel.metadata.target) else 592
    x, y, out = random(1000), random(1000, seed=1), np.full(1000, 7, np.float32)
    kernel[(3,)](x, y, out, n)
    expected = np.full(1000, 7, np.float32)
    expected[:n] = x[:n] + np.where(np.arange(n) % 2 == 0, y[:n], 0)
    np.testing.assert_array_equal(out, expected)


def run_counters(kernel, constants):
    n, block = 400, constants["BLOCK"]
    x, sums = random(n).round(1), np.zeros(8, np.float32)
    most = np.full(2 * n, 2, np.int32)
    slots = np.arange(4 * block, dtype=np.int32)
    slots[3] = -1
    kernel[(2,)](x, sums, most, slots, n)
    at = np.arange(n)
    expected = np.array([x[at % 8 == lane].sum() for lane in range(8)])
    np.testing.assert_allclose(sums, expected, atol=1e-4)
    np.testing.assert_array_equal(most[:n], np.maximum(2, at % 5))
    np.testing.assert_array_equal(most[n:], np.full(n, 2))
    old = np.where(np.arange(2 * block) == 3, -1, np.arange(2 * block))
    np.testing.assert_array_equal(slots[2 * block :], old)
    np.testing.assert_array_equal(slots[: 2 * block], np.where(old < 0, -1, old + 1))


def run_matmul(kernel, constants):
    m, n, k = 80, 112, 208
    a, b = random(m, k, dtype=np.float16), random(k, n, dtype=np.float16, seed=1)
    c = np.full((m, n), np.nan, np.float32)
    kernel[(-(-m // constants["BM"]), -(-n // constants["BN"]))](a, b, c, m, n, k)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-4, atol=1e-4)


def run_attention(kernel, constants):
    n, d = 192, constants["D"]
    q, k, v = (random(n, d, dtype=np.float16, seed=seed) / 2 for seed in range(3))
    out = np.full((n, d), np.nan, np.float32)
    kernel[(n // constants["BLOCK"],)](q, k, v, out, n)
    weights = np.exp2(q.astype(np.float64) @ k.astype(np.float64).T)
    expected = weights / weights.sum(1, keepdims=True) @ v.astype(np.float64)
    np.testing.assert_allclose(out, expected, rtol=5e-3, atol=5e-3)


def run_scaled(kernel, constants):
    rows, columns, depth = constants["BM"], constants["BN"], 3 * constants["BK"]
    a, x = tile(constants["A"], rows, depth, 1)
    b, y = tile(constants["B"], columns, depth, 2)
    s, x_scale = scale("e8m0", rows, depth // 32, 3)
    t, y_scale = scale("e8m0", columns, depth // 32, 4)
    c = np.full((rows, columns), np.nan, np.float32)
    kernel[(1,)](a, s, b, t, c, depth)
    x, y = x * np.repeat(x_scale, 32, 1), y * np.repeat(y_scale, 32, 1)
    bound = 2 * depth * np.finfo(np.float32).eps * (np.abs(x) @ np.abs(y).T)
    assert (np.abs(c - x @ y.T) <= bound).all()


RUNS = {
    "masked_sum": run_masked_sum,
    "counters": run_counters,
    "matmul": run_matmul,
    "attention": run_attention,
    "scaled": run_scaled,
}


def run_all(arch):
    target = triton.runtime.driver.active.get_current_target()
    for name, case in CASES.items():
        if case.arch != arch:
            continue
        kernel = triton.compile(str(TEXTS / f"{name}.ttgir"), target=target)
        run = next(run for prefix, run in RUNS.items() if name.startswith(prefix))
        run(kernel, case.constants)
        print("ran", name)


# --- Tests ----------------------------------------------------------------------------------------


def target_of(arch):
    return GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32)


@pytest.mark.parametrize("arch", ARCHS)
def test_results_are_those_of_numpy(arch, tmp_path):
    environment = {**os.environ, "TRITON_DEVICE": f"sim:{arch}", "TRITON_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, __file__, arch], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("ran ") == sum(case.arch == arch for case in CASES.values())


@pytest.mark.parametrize("name", CASES)
def test_code_objects(name):
    kernel = triton.compile(str(TEXTS / f"{name}.ttgir"), target=target_of(CASES[name].arch))
    assert kernel.asm["hsaco"][:4] == b"\x7fELF"
    text = kernel.asm["amdgcn"]
    has_dots = not name.startswith(("counters", "masked_sum"))
    assert ("v_mfma_" in text or "v_wmma_" in text) == has_dots
    if name.startswith("scaled"):
        assert "v_mfma_scale_f32_" in text
    written = {"counters": 3, "masked_sum": 1, "matmul": 1, "attention": 1, "scaled": 1}
    prefix = next(prefix for prefix in written if name.startswith(prefix))
    assert len(kernel.metadata.written) == written[prefix]


ONE_OP = """
#blocked = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func public @k(%p: !tt.ptr<f32>, %o: !tt.ptr<i32>) {{
    {}
    tt.return
  }}
}}
"""


@pytest.mark.parametrize(
    "text, line, message",
    [
        ("amdg.async_tdm_wait {num = 0 : i32}", 4, "amdg.async_tdm_wait"),
        ("rocdl.s.sleep 1", 4, "rocdl.s.sleep"),
        (
            "%0 = rocdl.workitem.id.x : i32\n    tt.store %o, %0 : !tt.ptr<i32>",
            4,
            "condition of `amdg.cond_barrier` alone",
        ),
        (
            "%0 = arith.constant dense<0> : tensor<64xi64, #blocked>\n"
            "    %1 = amdg.buffer_load %p[%0] : tensor<64xf32, #blocked>",
            5,
            "tensor<64xi32",
        ),
    ],
)
def test_what_is_not_known_is_an_error_at_its_line(text, line, message, tmp_path):
    path = tmp_path / "k.ttgir"
    path.write_text(ONE_OP.format(text).lstrip())
    with pytest.raises(triton.CompilationError, match=message) as caught:
        triton.compile(str(path), target=target_of("gfx942"))
    assert str(caught.value).startswith(f"at {line}:")
    if "workitem" in text:
        assert caught.value.diagnostics[0].code == "amd-thread-index"


VIEWS = """
#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k() {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<16x16xf32, #rows, #smem, mutable>
    %1 = ttg.memdesc_subslice %0[0, 8] : !ttg.memdesc<16x16xf32, #rows, #smem, mutable> -> !ttg.memdesc<16x8xf32, #rows, #smem, mutable, 16x16>
    %2 = ttg.memdesc_trans %1 {order = array<i32: 1, 0>} : !ttg.memdesc<16x8xf32, #rows, #smem, mutable, 16x16> -> !ttg.memdesc<8x16xf32, #columns, #smem, mutable, 16x16>
    tt.return
  }
}
"""


def test_a_view_of_a_part_of_a_buffer(tmp_path):
    path = tmp_path / "k.ttgir"
    path.write_text(VIEWS.lstrip())
    assert triton.compile(str(path), target=target_of("gfx942")).metadata.shared == 16 * 16 * 4


if __name__ == "__main__":
    run_all(sys.argv[1])
