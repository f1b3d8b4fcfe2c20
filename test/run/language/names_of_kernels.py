"""Kernels and helpers named as C's functions, device libraries' functions, macros and words of assemblers are."""
# SPDX-License-Identifier: MIT

import re

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check


@triton.jit
def kernel(x_ptr, out_ptr, n, VALUE: tl.constexpr):
    """Loops and functions for which a compiler calls its library."""
    for i in range(n):
        tl.store(out_ptr + i, tl.exp(tl.load(x_ptr + i)) + VALUE)
    if n == 77:
        tl.device_print("n", n)


NAMES = "printf vprintf malloc main memcpy memset exp expf __nv_expf __ocml_exp_f32 __assertfail _init WARP_SZ register tid"


def named(name, tmp_path):
    """The kernel and a helper with that name, as in a file of their own."""
    text = re.sub(r"\bkernel\b", name, kernel.src)
    path = tmp_path / f"of_{name}.py"
    path.write_text(f"import triton\nimport triton.language as tl\n\n\n@triton.jit\n{text}")
    space = {"__name__": f"of_{name}"}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return space[name]


@pytest.mark.parametrize("name", NAMES.split())
def test_kernel(name, tmp_path, device):
    x = np.linspace(-1, 1, 5, dtype=np.float32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(5, np.float32), n=5, VALUE=0)
    check(named(name, tmp_path), (1,), arguments, dict(out_ptr=np.exp(x)), device=device, rtol=1e-5)


@triton.jit
def memset(out_ptr, n):
    for i in range(n):
        tl.store(out_ptr + i, 0)


@triton.jit
def vprintf(x):
    return tl.exp(x) * 2


@triton.jit
def WARP_SZ(x_ptr, out_ptr):  # noqa: N802
    value = vprintf(tl.load(x_ptr))
    tl.device_assert(value > 0, "positive")
    tl.store(out_ptr, value)


def test_loops_that_a_library_has(device):
    arguments = dict(out_ptr=np.ones(300, np.int32), n=300)
    check(memset, (1,), arguments, dict(out_ptr=np.zeros(300, np.int32)), device=device)


def test_helper(device):
    x = np.ones(1, np.float32)
    check(WARP_SZ, (1,), dict(x_ptr=x, out_ptr=x * 0), dict(out_ptr=np.exp(x) * 2), device=device, rtol=1e-5)
