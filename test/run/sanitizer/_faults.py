"""Launches a kernel with a planted bug and compares the report with the bug."""
# SPDX-License-Identifier: MIT

import inspect

import numpy as np
import pytest
from harness import launch
from triton.runtime.errors import SanitizerError


def line_of(kernel, text):
    """The number of the only line of the kernel that contains `text`."""
    lines, first = inspect.getsourcelines(kernel.fn)
    found = [first + index for index, line in enumerate(lines) if text in line]
    assert len(found) == 1, f"{len(found)} lines contain {text!r}"
    return found[0]


def fault(kernel, grid, *args, sanitize, device, **named):
    """The report of the launch, which fails; arrays that the report does not name may have been written."""
    if device != "cpu":
        pytest.skip("the sanitizer runs on the CPU")
    with pytest.raises(SanitizerError) as caught:
        launch(kernel, grid, *args, device=device, sanitize=sanitize, **named)
    return str(caught.value)


def expect(report, where, line, *parts, program, tile=None, code):
    """`where` is the kernel (or function) whose line contains `line`, underlined in the report."""
    head = report.splitlines()[0]
    assert f"{inspect.getsourcefile(where.fn)}:{line_of(where, line)}:" in head
    assert head.endswith(f"[{code}]")
    assert line in report.splitlines()[1] and "^~" in report.splitlines()[2]
    for part in parts:
        assert part in head
    program_note = f"note: in program ({', '.join(map(str, program))}) of `"
    assert program_note in report
    if tile is None:
        assert "of a tile" not in report
    else:
        index, shape = tile
        text = f"at ({', '.join(map(str, index))}) of a tile [{', '.join(map(str, shape))}]"
        assert report.endswith(text)


def ramp(*shape, dtype=np.float32):
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)
