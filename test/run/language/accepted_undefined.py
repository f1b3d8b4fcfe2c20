"""What Triton leaves undefined"""
# SPDX-License-Identifier: MIT

import triton
import triton.language as tl
from _accepted import accepts


@triton.jit
def loop_variables(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    for up in range(3, n * 3, 4):  # noqa: B007
        v += 0
    for down in range(n, 0, -2):  # noqa: B007
        v += 0
    for left in range(1, 100, 3):
        if left > n:
            break
    for at_once in range(2, 100):  # noqa: B007
        if n > 0:
            break
    far = 9
    for far in range(n, n - 1):  # noqa: B007
        v += 0
    if n > 3:
        v += up
    tl.store(out + i, v + 10 * down + 100 * left + 1000 * at_once + 10000 * far)


def test_loop_variables(device):
    """Differs: the variable of a loop over `range` has its last index after the loop, after `break` too, as in Python;
    in Triton it is undefined."""
    expected = lambda x, n: x + 11 + 10 * 1 + 100 * 7 + 1000 * 2 + 10000 * 9  # noqa: E731
    accepts(loop_variables, expected, device)


@triton.jit
def least_to_greatest(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    for wide in range(n - 2000000005, 2000000000, 1000000001):  # noqa: B007
        v += 0
    tl.store(out + i, v + (wide - 1000000003))


def test_least_to_greatest(device):
    """Differs: the variable also has its last index if the distance of the bounds exceeds int32."""
    accepts(least_to_greatest, lambda x, n: x + 0, device)


@triton.jit
def variables_of_inner_loops(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    inner = 50
    for _ in range(2):
        for inner in range(n):  # noqa: B007
            v += 0
    within = 50
    if n > 2:
        for within in range(n):  # noqa: B007
            v += 0
    tl.store(out + i, v + inner + 10 * within)


def test_variables_of_inner_loops(device):
    """Differs: the same holds after loops and branches around that loop, if the variable was a number before."""
    accepts(variables_of_inner_loops, lambda x, n: x + 11 * (n - 1), device)


@triton.jit
def no_step(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    for _ in range(0, n, n - n):
        v += 1
    tl.store(out + i, v)


def test_no_step(device):
    """Differs: a range whose step turns out to be 0 at run time has no iteration, and with `debug=True` ends the
    launch with Python's message; in Triton such a loop runs for ever."""
    accepts(no_step, lambda x, n: x, device)
