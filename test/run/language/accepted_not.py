"""What Triton lets through"""
# SPDX-License-Identifier: MIT

import pytest
import triton
import triton.language as tl
from _accepted import accepts


@triton.jit
def variable_after_loop(x, out, n, B: tl.constexpr):
    for k in range(n):
        tl.store(out + k, 1.0)
    tl.store(out, k)


def test_variable_after_loop(device):
    """Differs: the variable of a run-time loop has no value after it; in Triton it has an undefined one."""
    with pytest.raises(triton.CompilationError, match="is not defined"):
        accepts(variable_after_loop, lambda x, n: 0, device)


@triton.jit
def else_of_loop(x, out, n, B: tl.constexpr):
    for k in tl.static_range(2):
        tl.store(out + k, 1.0)
    else:
        tl.store(out, 2.0)


def test_else_of_loop(device):
    """Differs: a loop has no `else`; Triton runs the one of a `static_range` after each iteration."""
    with pytest.raises(triton.CompilationError, match="else"):
        accepts(else_of_loop, lambda x, n: 0, device)
