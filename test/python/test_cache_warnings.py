"""A process whose kernels cannot be cached warns, even for a single kernel at exit."""
# SPDX-License-Identifier: MIT

import os
import subprocess
import sys

import pytest

TUNED = """
import numpy as np
import triton
import triton.language as tl

triton.runtime.driver.set_active_to_cpu()

@triton.autotune([triton.Config({"B": 1}), triton.Config({"B": 2})], key=[], cache_results=True)
@triton.jit
def one(x, B: tl.constexpr):
    tl.store(x, 1.0)

x = np.zeros(1, np.float32)
one[(1,)](x)
assert x[0] == 1
"""

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


def stderr_of(tmp_path, folder, *flags, text=SCRIPT, **variables):
    script = tmp_path / "script.py"
    script.write_text(text)
    done = subprocess.run(
        [sys.executable, *flags, str(script)],
        capture_output=True,
        text=True,
        env={**os.environ, "TRITON_CACHE_DIR": str(folder), **variables},
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


MANAGER = {"TRITON_CACHE_MANAGER": "triton.runtime.cache:FileCacheManager"}
DUMP = {"TRITON_KERNEL_DUMP": "1", "TRITON_DUMP_DIR": "/proc/nothing"}


@pytest.mark.parametrize("text, variables", [(TUNED, {}), (SCRIPT, MANAGER), (TUNED, MANAGER)])
def test_other_caches_in_a_folder_that_cannot_be_made(tmp_path, text, variables):
    output = stderr_of(tmp_path, "/proc/nothing", text=text, **variables)
    assert output.count("UserWarning: nothing is kept in /proc/nothing: ") == 1


def test_a_dump_that_cannot_be_written(tmp_path):
    output = stderr_of(tmp_path, tmp_path / "cache", **DUMP)
    assert output.count("UserWarning: nothing is kept in /proc/nothing: ") == 1


def test_the_reason_is_that_of_the_folder_that_cannot_be_made(tmp_path):
    """Not that the folder to be made is not there."""
    output = stderr_of(tmp_path, "/sys/nothing/cache")
    assert "the kernel cache is off: folder `/sys/nothing/cache`: " in output
    assert "No such file or directory" not in output


def test_a_folder_that_works(tmp_path):
    assert stderr_of(tmp_path, tmp_path / "cache") == ""
    assert any((tmp_path / "cache").rglob("*"))
