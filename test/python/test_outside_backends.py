"""Backends of other packages: found by their entry point, used for their target and on their device."""
# SPDX-License-Identifier: MIT

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "backend"

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler `cc`")

KERNELS = """
import json, os
import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)

@triton.jit
def clamped(value, limit):
    return tl.where(value > limit, limit, value)

@triton.jit
def formula(x_ptr, out_ptr, n, limit, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=1.0)
    tl.store(out_ptr + offsets, clamped(tl.sqrt(x) * 3 - x, limit), mask=mask)

@triton.jit
def total(x_ptr, out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK))))

SIGNATURE = {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}
SOURCE = ASTSource(add_kernel, SIGNATURE, {"BLOCK": 128})
TOY = GPUTarget("toy", "v1", 1)
"""


def declared_entry_points():
    """The table of the example's pyproject.toml, as an installer writes it."""
    text = (EXAMPLE / "pyproject.toml").read_text()
    table = re.search(r'\[project\.entry-points\."triton\.backends"\]\n((?:\w+ = .*\n)+)', text)[1]
    return "[triton.backends]\n" + table.replace('"', "")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the installed package."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(EXAMPLE / "toy_backend", folder / "toy_backend")
    info = folder / "toy_backend-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-backend\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(declared_entry_points())
    return folder


def run(site, code, tmp_path, **environment):
    script = tmp_path / "program.py"
    script.write_text(KERNELS + code)
    done = subprocess.run(
        [sys.executable, str(script)],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([*sys.path, str(site)]),
            "TRITON_CACHE_DIR": str(tmp_path / "cache"),
            "TOY_MACHINE": "1",
            "CUDA_VISIBLE_DEVICES": "",  # of two active drivers none is chosen
            **environment,
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


LAUNCH = """
print(triton.runtime.driver.active.get_current_target())
x, y = np.random.default_rng(0).random((2, 1000), dtype=np.float32)
out = np.full(1024, 7, np.float32)
kernel = add_kernel[(triton.cdiv(1000, 128),)](x, y, out, 1000, BLOCK=128)
assert np.array_equal(out[:1000], x + y) and (out[1000:] == 7).all()
print(list(kernel.asm), kernel.metadata.target.backend, kernel.n_regs, kernel.n_spills)
"""


def test_a_launch_runs_on_the_active_driver_of_the_package(site, tmp_path):
    target, kernel = run(site, LAUNCH, tmp_path).splitlines()
    assert target == "GPUTarget(backend='toy', arch='v1', warp_size=1)"
    assert kernel == "['ttir', 'c', 'so'] toy 1 0"


def test_functions_are_inlined_and_results_are_numpys(site, tmp_path):
    code = """
x = np.random.default_rng(0).random(777, dtype=np.float32)
out = np.zeros_like(x)
formula[(triton.cdiv(777, 64),)](x, out, 777, 1.5, BLOCK=64)
np.testing.assert_allclose(out, np.minimum(np.sqrt(x) * np.float32(3) - x, np.float32(1.5)), rtol=1e-6)
"""
    run(site, code, tmp_path)


def test_an_inactive_driver_leaves_the_default_device_alone(site, tmp_path):
    out = run(site, LAUNCH, tmp_path, TOY_MACHINE="0")
    assert out.splitlines()[0].startswith("GPUTarget(backend='cpu'")


def test_a_driver_may_be_chosen(site, tmp_path):
    out = run(site, LAUNCH, tmp_path, TOY_MACHINE="0", TRITON_DEFAULT_BACKEND="toy")
    assert "backend='toy'" in out


def test_compilation_for_its_target_needs_no_device(site, tmp_path):
    code = """
kernel = triton.compile(SOURCE, target=TOY, options={"opt_level": 0, "unknown": 1})
assert "void add_kernel(int32_t program_x" in kernel.asm["c"]
assert "tt.load" in kernel.asm["ttir"] and kernel.asm["so"].startswith(b"\\x7fELF")
print(kernel.metadata.opt_level, kernel.name, kernel.hash == triton.compile(SOURCE, target=TOY).hash)
"""
    assert run(site, code, tmp_path, TOY_MACHINE="0") == "0 add_kernel False"


def test_compiled_kernels_are_found_again(site, tmp_path):
    code = """
seen = []
triton.knobs.compilation.listener = lambda **info: seen.append(info["cache_hit"])
kernels = [triton.compile(SOURCE, target=TOY) for _ in range(2)]
assert kernels[0].asm["so"] == kernels[1].asm["so"] and kernels[0].hash == kernels[1].hash
print(seen)
"""
    assert run(site, code, tmp_path) == "[False, True]"
    assert run(site, code, tmp_path) == "[True, True]"
    assert run(site, code, tmp_path, TRITON_ALWAYS_COMPILE="1") == "[False, False]"


def test_a_file_of_ttir_is_the_result_of_its_stage(site, tmp_path):
    code = """
kernel = triton.compile(SOURCE, target=TOY)
with open("k.ttir", "w") as file:
    file.write(kernel.asm["ttir"])
again = triton.compile("k.ttir", target=TOY)
print(list(again.asm), "program_x" in again.asm["c"])
""".replace("k.ttir", str(tmp_path / "k.ttir"))
    assert run(site, code, tmp_path) == "['c', 'so'] True"


def test_what_the_machine_lacks_is_an_error_of_the_stage(site, tmp_path):
    code = """
try:
    total[(1,)](np.zeros(64, np.float32), np.zeros(1, np.float32), BLOCK=64)
except Exception as error:
    print(type(error).__name__, error)
"""
    out = run(site, code, tmp_path)
    assert out.startswith("UnsupportedOp")
    assert "tt.reduce" in out


def test_errors_of_the_language_are_those_of_every_target(site, tmp_path):
    code = """
@triton.jit
def wrong(x_ptr):
    tl.store(x_ptr + tl.arange(0, 8), tl.zeros([16], tl.float32))
try:
    wrong[(1,)](np.zeros(16, np.float32))
except triton.CompilationError as error:
    print(error.diagnostics[0]["code"] if isinstance(error.diagnostics[0], dict) else error.diagnostics[0].code)
"""
    assert run(site, code, tmp_path) == "shape-mismatch"


def test_hooks_of_launches_are_called(site, tmp_path):
    code = """
seen = []
triton.knobs.runtime.launch_enter_hook = lambda data: seen.append(data.get()["name"])
out = np.zeros(8, np.float32)
add_kernel[(1,)](out + 1, out + 2, out, 8, BLOCK=8)
print(seen, out.tolist())
"""
    assert run(site, code, tmp_path) == f"['add_kernel'] {[3.0] * 8}"


def test_do_bench_measures_its_launches(site, tmp_path):
    code = """
out = np.zeros(8, np.float32)
bench = triton.runtime.driver.active.get_benchmarker()
times = bench(lambda: add_kernel[(1,)](out + 1, out + 2, out, 8, BLOCK=8), warmup=1, rep=2, return_mode="all")
print(len(times) > 0 and min(times) > 0)
"""
    assert run(site, code, tmp_path) == "True"


def test_a_misspelt_target_names_the_package_s(site, tmp_path):
    code = """
try:
    triton.compile(SOURCE, target=GPUTarget("toi", "v1", 1))
except RuntimeError as error:
    print(error)
"""
    out = run(site, code, tmp_path)
    assert out.startswith("0 compatible backends for target (toi)")
    assert "`toy`" in out


def test_a_class_may_be_registered_without_installing(site, tmp_path):
    code = """
from toy_backend.compiler import ToyBackend
from toy_backend.driver import ToyDriver
triton.backends.backends["mine"] = triton.backends.Backend(compiler=ToyBackend, driver=ToyDriver)
print("mine" in triton.backends.backends, len(triton.backends.backends), triton.compile(SOURCE, target=TOY).name)
"""
    shutil.copytree(site / "toy_backend", tmp_path / "toy_backend")
    assert run(tmp_path, code, tmp_path, TOY_MACHINE="0") == "True 4 add_kernel"


def test_a_module_without_a_whole_class_is_an_error(site, tmp_path):
    package = tmp_path / "broken"
    (package / "half").mkdir(parents=True)
    (package / "half" / "__init__.py").touch()
    (package / "half" / "compiler.py").write_text(
        "from triton.backends.compiler import BaseBackend\n"
        "class Half(BaseBackend):\n    binary_ext = 'x'\n"
    )
    (package / "half-1.dist-info").mkdir()
    (package / "half-1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: half\nVersion: 1\n"
    )
    (package / "half-1.dist-info" / "entry_points.txt").write_text(
        "[triton.backends]\nhalf = half\n"
    )
    code = """
try:
    triton.compile(SOURCE, target=GPUTarget("half", "", 1))
except RuntimeError as error:
    print(error)
"""
    out = run(package, code, tmp_path)
    assert out.startswith("half.compiler must have one class that completes BaseBackend, found 0; ")
    assert "Half lacks " in out and "parse_options" in out
