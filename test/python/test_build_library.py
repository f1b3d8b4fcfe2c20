"""`nereid build`: kernels as functions of a C library, called from C and by ctypes."""
# SPDX-License-Identifier: MIT

import ctypes
import errno
import shutil
import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")

KERNELS = """
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * factor, mask=mask)
"""
FUNCTIONS = ("scale(*fp32:16,i32,fp32,256)", "scale64=scale(*fp32:16,i32:16,fp32,64)")


def build(folder, *words):
    (folder / "k.py").write_text(KERNELS)
    command = [sys.executable, "-m", "nereid", "build", "k.py", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    words = [word for function in FUNCTIONS for word in ("--kernel", function)]
    done = build(folder, *words, "-o", "libk")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def functions(library):
    return ctypes.CDLL(str(library / "libk.so"))


def arguments(x, n, factor=2.0):
    return ctypes.c_void_p(x.ctypes.data), ctypes.c_int32(n), ctypes.c_float(factor)


def aligned(size):
    memory = np.ones(size + 16, np.float32)
    return memory[(-memory.ctypes.data // 4) % 16 :][:size]


def test_a_function_runs_each_program(functions):
    x = aligned(1000)
    assert functions.scale(4, 1, 1, *arguments(x, 900)) == 0
    assert (x[:900] == 2).all() and (x[900:] == 1).all()


def test_a_range_runs_its_programs_alone(functions):
    x = aligned(640)
    begin, end = ctypes.c_uint64(2), ctypes.c_uint64(4)
    assert functions.scale64_range(10, 1, 1, begin, end, *arguments(x, 640)) == 0
    assert (x[128:256] == 2).all() and x.sum() == 640 + 128


def test_arguments_that_the_code_does_not_fit_are_refused(functions):
    x = aligned(1000)
    assert functions.scale(4, 1, 1, *arguments(x[1:], 900)) == errno.EINVAL
    assert functions.scale64(1, 1, 1, *arguments(x, 15)) == errno.EINVAL
    assert (x == 1).all()


@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_header_is_one_of_c_and_of_cpp(library, language):
    (library / "use.c").write_text(
        '#include "libk.h"\n'
        "int main(void) { float x[1]; return scale(0, 1, 1, x, (int32_t)0, 1.0f) < 0; }\n"
    )
    command = ["cc", "-x", language, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "use.c"]
    subprocess.run(command, cwd=library, check=True)


def test_a_library_for_a_gpu_says_that_there_is_no_context(tmp_path):
    words = ("--kernel", FUNCTIONS[0], "--target", "cuda:90", "--ptx", "-o", "libg")
    done = build(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    scale = ctypes.CDLL(str(tmp_path / "libg.so")).scale
    assert scale(None, 4, 1, 1, *arguments(aligned(16), 16)) in (3, 100, 201)
    assert scale(None, 4, 1, 1, *arguments(aligned(32)[1:], 16)) == 1


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--kernel", "scale"), "expected KERNEL(SIGNATURE)"),
        (("--kernel", "absent(i32)"), "kernel-not-found"),
        (("--kernel", FUNCTIONS[0], "--kernel", FUNCTIONS[0]), "two functions are named scale"),
        (("--kernel", FUNCTIONS[0], "--target", "hip:gfx942"), "a library is for"),
    ],
)
def test_what_cannot_be_built_is_named(tmp_path, words, text):
    done = build(tmp_path, *words, "-o", "libx")
    assert done.returncode == 1 and text in done.stderr, done.stderr
    assert not (tmp_path / "libx.so").exists() and "Traceback" not in done.stderr
