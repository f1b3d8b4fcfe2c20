"""Kernels of torch.compile from a pack: Inductor's own are packed from a record, and nothing compiles then."""
# SPDX-License-Identifier: MIT

import os
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="torch is not installed")

PROGRAM = """
import torch
import triton

triton.enable_cpu_backend()
torch._inductor.config.compile_threads = 1
x = torch.randn(37, 65)
softmax = torch.compile(lambda x: torch.softmax(x, 1).sum(0))
torch.testing.assert_close(softmax(x), torch.softmax(x, 1).sum(0))
print("served")
"""


def run(folder, *words, **variables):
    environment = {
        **os.environ,
        "TRITON_DEFAULT_BACKEND": "cpu",
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
        **variables,
    }
    return subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)  # fmt: skip


def test_kernels_of_inductor_are_served(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    first = {"TORCHINDUCTOR_CACHE_DIR": "first", "TRITON_CACHE_DIR": "cache"}
    done = run(tmp_path, "program.py", **first, TRITON_RECORD="run.jsonl")
    assert done.returncode == 0, done.stderr
    done = run(tmp_path, "-m", "nereid", "pack", "run.jsonl", "-o", "run.pack", **first)
    assert done.returncode == 0, done.stderr
    # A folder of Inductor's that is empty: it writes the same source again, to another path.
    second = {"TORCHINDUCTOR_CACHE_DIR": "second", "TRITON_CACHE_DIR": "empty"}
    done = run(tmp_path, "program.py", **second, TRITON_PACKS="run.pack", TRITON_JIT="forbid")
    assert done.stdout == "served\n", done.stderr
