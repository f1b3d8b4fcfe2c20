"""TRITON_RECORD of torch.compile: Inductor's own kernels are recorded, and compile again from its files."""
# SPDX-License-Identifier: MIT

import json
import subprocess
import sys

import pytest
from triton import knobs
from triton.runtime.variants import recorded_kernels, variant_record

pytest.importorskip("torch", reason="torch is not installed")

PROGRAM = """
import torch
import triton

triton.enable_cpu_backend()
torch._inductor.config.compile_threads = 1
x = torch.randn(37, 65)
softmax = torch.compile(lambda x: torch.softmax(x, 1).sum(0))
torch.testing.assert_close(softmax(x), torch.softmax(x, 1).sum(0))
"""


def test_kernels_of_inductor_are_recorded(tmp_path, monkeypatch):
    program, path = tmp_path / "program.py", tmp_path / "run.jsonl"
    program.write_text(PROGRAM)
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "inductor"))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    with knobs.runtime.scope():
        knobs.runtime.record, knobs.runtime.device = str(path), "cpu"
        subprocess.run([sys.executable, str(program)], check=True, timeout=300)
    entries = variant_record.read(str(path))
    assert entries and all(str(tmp_path / "inductor") in entry.file for entry in entries)
    assert all(json.loads(line)["abi"] == "plain" for line in path.read_text().splitlines())
    for entry in entries:
        assert recorded_kernels.variant_of(entry).compile()._code.cache_hit
