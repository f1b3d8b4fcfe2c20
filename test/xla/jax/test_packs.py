"""Kernels of JAX's programs are taken from packs: the program is recorded, packed, and then compiles nothing."""
# SPDX-License-Identifier: MIT

import os
import subprocess
import sys

import pytest
import triton

PACKAGE = os.path.dirname(os.path.dirname(triton.__file__))
KERNEL = """
import jax
import jax.numpy as jnp
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, n, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask)
    tl.store(out_ptr + at, x + tl.load(y_ptr + at, mask=mask), mask=mask)


compiled = []
triton.knobs.compilation.listener = lambda **info: compiled.append(not info["cache_hit"])
x = jnp.arange(1000, dtype=jnp.float32)
out = jax.ShapeDtypeStruct(x.shape, x.dtype)
"""
PROGRAMS = {
    "triton_call": """
from triton.jax import triton_call
call = lambda x, y: triton_call(x, y, 1000, kernel=add_kernel, out_type=out, grid=(4,), BLOCK=256)
assert (jax.jit(call)(x, x) == 2 * x).all()
""",
    "lowered for a GPU": """
from triton.jax import triton_call
call = lambda x, y: triton_call(
    x, y, 1000, kernel=add_kernel, out_type=out, grid=(4,), BLOCK=256, compute_capability=90
)
text = jax.jit(call).trace(x, x).lower(lowering_platforms=("cuda",)).as_text()
assert "custom_call" in text
""",
    "jax_triton": """
import jax_triton
call = lambda x, y: jax_triton.triton_call(
    x, y, 1000, kernel=add_kernel, out_shape=out, grid=(4,), BLOCK=256
)
assert (jax.jit(call)(x, x) == 2 * x).all()
""",
    "autotuned": """
from triton.jax import triton_call
tuned = triton.autotune([triton.Config({"BLOCK": block}) for block in (128, 256)], key=["n"])(add_kernel)
call = lambda x, y: triton_call(x, y, 1000, kernel=tuned, out_type=out, grid=(8,))
assert (jax.jit(call)(x, x) == 2 * x).all()
""",
}


def run(folder, *words, **variables):
    """What a process prints whose cache folder is empty."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": PACKAGE, **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_process_with_a_pack_compiles_nothing(tmp_path, on_cpu, name):
    if name == "jax_triton":
        pytest.importorskip("jax_triton")
    (tmp_path / "program.py").write_text(KERNEL + PROGRAMS[name] + "print(*compiled)\n")
    first = run(tmp_path, "program.py", TRITON_RECORD="run.jsonl", TRITON_CACHE_DIR="first")
    assert set(first.split()) == {"True"}
    run(tmp_path, "-m", "nereid", "pack", "run.jsonl", "-o", "run.pack", TRITON_CACHE_DIR="first")
    served = {"TRITON_PACKS": "run.pack", "TRITON_JIT": "forbid", "TRITON_CACHE_DIR": "empty"}
    assert run(tmp_path, "program.py", **served).split() == ["False"] * len(first.split())
    assert not (tmp_path / "empty").exists()
