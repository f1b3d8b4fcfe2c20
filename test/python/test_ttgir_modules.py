"""TTGIR files with bad attributes of the module."""
# SPDX-License-Identifier: MIT

import pytest
import triton
from triton.backends.compiler import GPUTarget

GOOD = {
    "ttg.num-ctas": "1 : i32",
    "ttg.num-warps": "4 : i32",
    "ttg.target": '"cuda:90"',
    "ttg.threads-per-warp": "32 : i32",
}
TEXT = """#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {ATTRIBUTES} {
  tt.func public @NAME(%p: !tt.ptr<f32>) {
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked>
    %q = tt.addptr %s, %r : tensor<128x!tt.ptr<f32>, #blocked>, tensor<128xi32, #blocked>
    %v = tt.load %q : tensor<128x!tt.ptr<f32>, #blocked>
    tt.store %q, %v : tensor<128x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
"""


def compile_text(folder, attributes=GOOD, name="k"):
    listed = ", ".join(f'"{key}" = {value}' for key, value in attributes.items())
    path = folder / "k.ttgir"
    path.write_text(TEXT.replace("ATTRIBUTES", listed).replace("NAME", name), encoding="utf-8")
    return triton.compile(str(path), target=GPUTarget("cuda", 90, 32))


COUNTS = ["num-ctas", "num-warps", "threads-per-warp", "total-num-warps"]
SIZES = ["maxnreg", "shared", "global_scratch_memory_size", "global_scratch_memory_alignment"]


@pytest.mark.parametrize("name", COUNTS + SIZES)
def test_numbers_of_the_module_are_checked(tmp_path, name):
    key = f"ttg.{name}"
    for value in ('"x"', "unit", "[1]", "1.5 : f32"):
        with pytest.raises(triton.CompilationError, match=f"{key} is not a number") as info:
            compile_text(tmp_path, {**GOOD, key: value})
        assert info.value.diagnostics[0].code == "invalid-ir"
        assert "k.ttgir:2:1: error:" in str(info.value)
    for value in (-1, -(2**31), 2**31, 2**63 - 1):
        with pytest.raises(triton.CompilationError, match=rf"{key} is {value}.*; it is between"):
            compile_text(tmp_path, {**GOOD, key: f"{value} : i64"})


@pytest.mark.parametrize("name", [*COUNTS[:3], SIZES[-1]])
def test_some_numbers_are_powers_of_two(tmp_path, name):
    for value in (3, 6, 12):
        with pytest.raises(triton.CompilationError, match=f"is {value}, which is no power of two"):
            compile_text(tmp_path, {**GOOD, f"ttg.{name}": f"{value} : i32"})


def test_the_target_is_text(tmp_path):
    for value in ("90 : i32", "unit", '["cuda:90"]'):
        with pytest.raises(triton.CompilationError, match=r"ttg\.target is not a string"):
            compile_text(tmp_path, {**GOOD, "ttg.target": value})
