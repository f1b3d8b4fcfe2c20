"""One form of the language per test: a kernel of a row of 16 floats, a number and a constant, against NumPy.

The docstring of each test names the accepted form and becomes a line of the page of compatibility. `Beyond:` marks a form
that Triton rejects, `Differs:` a form with another meaning there.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import check


def accepts(
    kernel: Any, expected: Callable[[np.ndarray, int], Any], device: str, n: int = 5
) -> None:
    """Runs `kernel(x, out, n, B)`: `out` must then equal `expected` of x and n."""
    x = np.arange(16, dtype=np.float32) - 4
    result = np.broadcast_to(np.asarray(expected(x, n), dtype=np.float32), x.shape)
    arguments = {"x": x, "out": np.zeros_like(x), "n": n, "B": 16}
    check(kernel, (1,), arguments, {"out": result.copy()}, device=device)
