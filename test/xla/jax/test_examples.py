"""The examples run."""
# SPDX-License-Identifier: MIT

import os
import subprocess
import sys

import pytest

EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "..", "examples")


@pytest.mark.parametrize(
    ("name", "last"),
    [("jax_softmax", "agree with jax.nn.softmax"), ("jax_triton_add", "added 1024 numbers")],
)
def test_example(name, last):
    if name == "jax_triton_add":
        pytest.importorskip("jax_triton")
    done = subprocess.run(
        [sys.executable, os.path.join(EXAMPLES, name + ".py")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert last in done.stdout
