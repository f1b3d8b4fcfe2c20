"""`nereid build`: kernels as functions of a C library, called from C and by ctypes."""
# SPDX-License-Identifier: MIT

import ctypes
import errno
import os
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


# A program that calls the library as any C program does: it knows CUDA's driver by name alone.
PROGRAM = """
#include "libg.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1000
static void *driver;
static void check(int status, const char *what) {
  if (status != 0) {
    printf("%s: %d\\n", what, status);
    exit(1);
  }
}
#define CALL(name, type, ...) check(((int (*) type)dlsym(driver, #name))(__VA_ARGS__), #name)

int main(void) {
  static float host[N], expected[N];
  unsigned long long memory;
  void *context;
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == NULL)
    check(1, dlerror());
  CALL(cuInit, (unsigned), 0);
  if (scale(NULL, 4, 1, 1, (float *)0, N, 2.0f) != 201) // there is no current context
    return 1;
  CALL(cuDevicePrimaryCtxRetain, (void **, int), &context, 0);
  CALL(cuCtxSetCurrent, (void *), context);
  CALL(cuMemAlloc_v2, (unsigned long long *, size_t), &memory, sizeof host);
  for (int i = 0; i < N; ++i)
    expected[i] = host[i] = (float)i;
  CALL(cuMemcpyHtoD_v2, (unsigned long long, const void *, size_t), memory, host, sizeof host);
  check(scale(NULL, 4, 1, 1, (float *)memory, 900, 3.0f), "scale");
  check(scale(NULL, 4, 1, 1, (float *)memory, 500, 0.5f), "scale again");
  check(scale64(NULL, 1, 1, 1, (float *)memory, 32, -1.0f), "scale64");
  check(scale(NULL, 0, 1, 1, (float *)memory, N, 9.0f), "an empty grid");
  check(scale(NULL, 4, 1, 1, (float *)(memory + 4), N, 9.0f) != 1, "an address that is not aligned");
  CALL(cuCtxSynchronize, (void));
  CALL(cuMemcpyDtoH_v2, (void *, unsigned long long, size_t), host, memory, sizeof host);
  for (int i = 0; i < N; ++i) {
    const float right = expected[i] * (i < 900 ? 3.0f : 1.0f) * (i < 500 ? 0.5f : 1.0f) * (i < 32 ? -1.0f : 1.0f);
    if (host[i] != right) {
      printf("%d: %g instead of %g\\n", i, host[i], right);
      return 1;
    }
  }
  puts("scaled");
  return 0;
}
"""

# The driver where there is none: its memory is the host's, and it knows what the kernels compute.
DRIVER = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *current;
static int loads;
int cuInit(unsigned flags) { return (int)flags; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = &current + device; return 0; }
int cuCtxSetCurrent(void *context) { current = context; return 0; }
int cuCtxGetCurrent(void **context) { *context = current; return 0; }
int cuCtxSynchronize(void) { return 0; }
int cuMemAlloc_v2(uint64_t *memory, size_t bytes) { *memory = (uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256); return 0; }
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) { memcpy((void *)(uintptr_t)to, from, bytes); return 0; }
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) { memcpy(to, (void *)(uintptr_t)from, bytes); return 0; }
int cuModuleLoadData(void **module, const void *image) {
  *module = (void *)image;
  return strstr(image, ".visible .entry") && ++loads <= 2 ? 0 : 200; // each of two functions once
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = module;
  return strstr(module, name) && strncmp(name, "scale", 5) == 0 ? 0 : 500;
}
int cuFuncSetAttribute(void *function, int attribute, int value) { return function && attribute && value ? 1 : 1; }
int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned threadsY, unsigned threadsZ,
                   unsigned shared, void *stream, void **arguments, void **extra) {
  float *memory = *(float **)arguments[0];
  const int n = *(int *)arguments[1], block = x == 1 ? 64 : 256;
  if (!function || y != 1 || z != 1 || threads != 128 || threadsY != 1 || threadsZ != 1 || shared || stream || extra)
    return 1;
  if (*(void **)arguments[3] || *(void **)arguments[4])
    return 1; // scratch memory that the kernels do not need
  for (int i = 0; i < (int)x * block && i < n; ++i)
    memory[i] *= *(float *)arguments[2];
  return 0;
}
"""


def run_c_program(folder, *words, **variables):
    words = (*(word for function in FUNCTIONS for word in ("--kernel", function)), *words)
    done = build(folder, *words, "-o", "libg")
    assert done.returncode == 0, done.stderr
    (folder / "program.c").write_text(PROGRAM)
    command = ["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "program.c", "./libg.so", "-ldl", "-o", "program"]  # fmt: skip
    subprocess.run(command, cwd=folder, check=True)
    environment = {**os.environ, **variables}
    done = subprocess.run(["./program"], cwd=folder, capture_output=True, text=True, env=environment, timeout=120)  # fmt: skip
    assert (done.stdout, done.returncode) == ("scaled\n", 0), done.stderr


def test_a_library_for_a_gpu_launches_as_its_header_says(tmp_path):
    (tmp_path / "driver.c").write_text(DRIVER)
    command = ["cc", "-shared", "-fPIC", "driver.c", "-o", "libcuda.so.1"]
    subprocess.run(command, cwd=tmp_path, check=True)
    run_c_program(tmp_path, "--target", "cuda:90", "--ptx", LD_LIBRARY_PATH=str(tmp_path))


@pytest.mark.parametrize("form", ["cubin", "ptx"])
def test_a_library_runs_on_a_gpu(tmp_path, device, form):
    if device != "cuda":
        pytest.skip("needs a GPU: --device cuda")
    import torch

    major, minor = torch.cuda.get_device_capability()
    words = ("--target", f"cuda:{major}{minor}", *(["--ptx"] if form == "ptx" else []))
    run_c_program(tmp_path, *words)


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
