"""Exported JAX programs in another process: the custom calls are registered where triton is imported."""
# SPDX-License-Identifier: MIT

import os
import subprocess
import sys

import pytest

EXPORT = """
import sys
import jax, jax.numpy as jnp
import triton, triton.language as tl
import triton.jax as tj
from jax import export

@triton.jit
def double(x_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out_ptr + at, 2 * tl.load(x_ptr + at))

def program(x):
    return tj.triton_call(x, kernel=double, out_type=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(1,), N=16) + 1

check = export.DisabledSafetyCheck.custom_call("nereid_triton_call")
made = export.export(jax.jit(program), disabled_checks=[check])(jax.ShapeDtypeStruct((16,), jnp.float32))
open(sys.argv[1], "wb").write(made.serialize())
"""
RUN = """
import sys
{imports}
import jax.numpy as jnp
from jax import export
made = export.deserialize(bytearray(open(sys.argv[1], "rb").read()))
print(made.call(jnp.arange(16, dtype=jnp.float32))[3])
"""


def run(script, path):
    file = path.with_suffix(".py")
    file.write_text(script)
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, str(file), str(path)], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


pytest.importorskip("flatbuffers")  # which `jax.export` needs


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    path = tmp_path_factory.mktemp("export") / "program"
    run(EXPORT, path)
    return path


@pytest.mark.parametrize(
    "imports", ["import triton.jax", "import triton", "import jax\nimport triton"]
)
def test_a_program_runs_where_triton_is_imported(imports, exported):
    assert run(RUN.format(imports=imports), exported) == "7.0"
