"""The programs of examples/cpp, which compile and launch kernels without Python."""

# SPDX-License-Identifier: MIT

import os
import shutil
import subprocess
import sys
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


def test_a_kernel_of_a_pack_runs(tmp_path):
    environment = {**os.environ, "TRITON_DEFAULT_BACKEND": "cpu", "TRITON_RECORD": "run.jsonl"}
    program = (
        "import numpy as np, vector_add\n"
        "x = np.ones(98432, np.float32)\n"
        "vector_add.add_kernel[(97,)](x, x, x.copy(), x.size, BLOCK_SIZE=1024)\n"
    )
    for words in (("-c", program), ("-m", "nereid", "pack", "run.jsonl", "-o", "add.pack")):
        environment["PYTHONPATH"] = f"{EXAMPLES}:{os.environ.get('PYTHONPATH', '')}"
        subprocess.run([sys.executable, *words], cwd=tmp_path, env=environment, check=True)
    run = subprocess.run(
        [Path(NEREID).with_name("packed"), "add.pack"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.stdout == "add_kernel: 98432 elements, largest difference 0\n", run.stderr


def test_a_file_that_is_no_pack_is_named(tmp_path):
    (tmp_path / "bad.pack").write_bytes(b"x" * 500)
    program = Path(NEREID).with_name("packed")
    run = subprocess.run([program, "bad.pack"], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr == "bad.pack: the file is no pack of kernels [pack-magic]\n"
