"""The programs of examples/cpp, which compile and launch kernels without Python."""

# SPDX-License-Identifier: MIT

import shutil
import subprocess
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NEREID = shutil.which("nereid") or str(EXAMPLES.parent / "build" / "dev" / "bin" / "nereid")

pytestmark = pytest.mark.skipif(
    not Path(NEREID).with_name("vector_add").exists(),
    reason="no examples beside nereid: wheels have none",
)


@pytest.mark.parametrize(
    ("program", "kernel", "size"),
    [
        ("vector_add", "vector_add.py", "add_kernel: 98432 elements"),
        ("matmul", "cpp/matmul.py", "matmul_kernel: 128 x 128 x 192"),
    ],
)
def test_an_example_computes_what_the_host_does(program, kernel, size):
    run = subprocess.run(
        [Path(NEREID).with_name(program), EXAMPLES / kernel], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"{size}, largest difference 0\n"
