"""A process whose kernels cannot be cached warns, even for a single kernel at exit."""
# SPDX-License-Identifier: MIT

import os
import subprocess
import sys

SCRIPT = """
import numpy as np
import triton
import triton.language as tl

triton.runtime.driver.set_active_to_cpu()

@triton.jit
def one(x):
    tl.store(x, 1.0)

x = np.zeros(1, np.float32)
one[(1,)](x)
assert x[0] == 1
"""


def stderr_of(tmp_path, folder, *flags):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, *flags, str(script)],
        capture_output=True,
        text=True,
        env={**os.environ, "TRITON_CACHE_DIR": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_a_file_in_the_place_of_the_folder(tmp_path):
    place = tmp_path / "cache"
    place.write_text("")
    output = stderr_of(tmp_path, place)
    assert output.count(f"RuntimeWarning: the kernel cache is off: folder `{place}`: ") == 1


def test_a_folder_that_cannot_be_made(tmp_path):
    assert "RuntimeWarning: the kernel cache is off: " in stderr_of(tmp_path, "/proc/nothing")
    assert stderr_of(tmp_path, "/proc/nothing", "-W", "ignore") == ""


def test_a_folder_that_works(tmp_path):
    assert stderr_of(tmp_path, tmp_path / "cache") == ""
    assert any((tmp_path / "cache").rglob("*"))
