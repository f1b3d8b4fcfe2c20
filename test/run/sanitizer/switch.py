"""How the sanitizer is enabled, and that it has no effect otherwise."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _faults import ramp
from triton.runtime.errors import SanitizerError
from triton.sanitizer import mark_unwritten, memory_of


@triton.jit
def first(x_ptr, out_ptr, n):
    index = n * 2
    tl.store(out_ptr, tl.log(tl.load(x_ptr + index)))


def artifact(device, **options):
    if device != "cpu":
        pytest.skip("the sanitizer runs on the CPU")
    return first.warmup(ramp(4), ramp(1), 3, grid=(1,), **options)


def test_no_check_is_left_without_the_option(device):
    plain, checked = artifact(device), artifact(device, sanitize="bounds")
    assert "nereid_host_calls" not in plain.asm["llir"] and "nereid_host_calls" in checked.asm["llir"]
    assert plain.asm["llir"] == artifact(device, sanitize="").asm["llir"]
    assert plain.hash != checked.hash


def test_the_setting(device, monkeypatch):
    if device != "cpu":
        pytest.skip("the sanitizer runs on the CPU")
    out = ramp(1)
    first[(1,)](ramp(8), out, 3)
    monkeypatch.setattr(triton.knobs.runtime, "sanitize", "bounds,nan")
    with pytest.raises(SanitizerError, match=r"element 6 of `x_ptr`.*\[sanitize-bounds\]"):
        first[(1,)](ramp(4), out, 3)
    with pytest.raises(SanitizerError, match=r"log\(-1\) is NaN \[sanitize-nan\]"):
        first[(1,)](ramp(8) - 7, out, 3)
    with pytest.raises(RuntimeError):
        first[(1,)](ramp(4), out, 3)
    monkeypatch.undo()
    first[(1,)](ramp(8) - 7, out, 3)
    assert np.isnan(out).all()


def test_unknown_words(device):
    with pytest.raises(ValueError, match="`bond` is no sanitizer; there are bounds,uninit,overflow,nan,nan-loads"):
        artifact(device, sanitize="nan,bond")


def test_the_span_of_a_view():
    x = np.zeros((10, 10), np.float32)
    assert memory_of(x, 4)[:2] == (0, 400)
    assert memory_of(x[2:4, 3:5], 4)[:2] == (0, 48)
    assert memory_of(x[::-1], 4)[:2] == (-360, 40)
    assert memory_of(x[:, :0], 4) == (0, 0, 0, 0)
    assert memory_of(12345, 4) is None


def test_memory_that_cannot_be_marked():
    with pytest.raises(ValueError, match="floats and integers of 16 bits and more, got int8"):
        mark_unwritten(np.zeros(4, np.int8))


def test_a_mark_goes_with_its_array():
    x = mark_unwritten(np.empty(4, np.float32))
    assert memory_of(x[1:], 4)[2:] == (0x7FC00000, 4)
    y = np.zeros(4, np.float32)
    assert memory_of(y, 4)[3] == 0
