"""The harness of run-tests: `check` launches a kernel on numpy arrays and compares all of them.

def test_exp(device):
    x = values("float32", 1000)
    check(kernel, (4,), arguments, dict(out=np.exp(x)), device=device, rtol=1e-6)

`launch` is for tests with comparisons of their own, for example on views of one memory.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from _names import USED
from _results import RESULTS

GUARD_BYTES = 256  # bytes before and after each array, which no kernel may write
GUARD = 0xA5


class Coded:
    """An array of a type that numpy lacks: `bits` is its memory."""

    bits: np.ndarray
    dtype: str  # as `tl` spells it

    def values(self) -> np.ndarray:
        """The array that results are compared by."""
        return self.bits

    @property
    def shape(self) -> tuple[int, ...]:
        return self.bits.shape

    def data_ptr(self) -> int:
        return self.bits.ctypes.data


class Float8(Coded):
    """An fp8 array by its codes; results are compared code by code."""

    def __init__(self, codes: Any, dtype: str):
        self.bits = np.asarray(codes, dtype=np.uint8)
        self.dtype = dtype


class BFloat16(Coded):
    """An array of bfloat16: float32 in and out."""

    dtype = "bfloat16"

    def __init__(self, values: Any):
        bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
        rounded = bits + 0x7FFF + ((bits >> 16) & 1)  # to nearest, ties to even
        rounded = np.where(np.isnan(bits.view(np.float32)), bits | 0x400000, rounded)
        self.bits = (rounded >> 16).astype(np.uint16)

    def values(self) -> np.ndarray:
        return (self.bits.astype(np.uint32) << 16).view(np.float32)


class Addresses:
    """An argument that is an array of the addresses of other arrays, on the device of the launch."""

    def __init__(self, arrays: Iterable[np.ndarray]):
        self.arrays = list(arrays)

    def on_host(self) -> np.ndarray:
        return np.array([array.ctypes.data for array in self.arrays], np.int64)


def values(dtype: str, *shape: int, seed: int = 0, low: float = -4, high: float = 4) -> np.ndarray:
    """Random numbers of a numpy dtype in [low, high)."""
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.random(shape) < 0.5
    if np.issubdtype(np.dtype(dtype), np.integer):
        return random.integers(int(low), int(high), shape).astype(dtype)
    return (random.random(shape) * (high - low) + low).astype(dtype)


def empty_like(array: np.ndarray, dtype: Any = None) -> np.ndarray:
    """An array of the same shape, filled with bytes that no kernel writes by chance."""
    result = np.empty(array.shape, dtype or array.dtype)
    result.view(np.uint8).fill(0xCD)
    return result


def _bits(array: Any) -> np.ndarray:
    return array.bits if isinstance(array, Coded) else array


class _Guarded:
    """A copy of an array between two stretches of known bytes."""

    def __init__(self, array: Any):
        bits = _bits(array)
        self.original = array
        self.memory = np.full(bits.nbytes + 2 * GUARD_BYTES + 64, GUARD, np.uint8)
        self.start = GUARD_BYTES + -self.memory[GUARD_BYTES:].ctypes.data % 64
        self.end = self.start + bits.nbytes
        self.copy = self.memory[self.start : self.end].view(bits.dtype).reshape(bits.shape)
        self.copy[...] = bits

    def argument(self) -> Any:
        if not isinstance(self.original, Coded):
            return self.copy
        seen = copy.copy(self.original)
        seen.bits = self.copy
        return seen

    def result(self) -> np.ndarray:
        argument = self.argument()
        return argument.values() if isinstance(argument, Coded) else argument

    def check_guards(self, name: str) -> None:
        outside = np.concatenate([self.memory[: self.start], self.memory[self.end :]])
        assert (outside == GUARD).all(), f"the kernel wrote outside of `{name}`"


def launch(kernel: Any, grid: Any, *args: Any, device: str, **named: Any) -> bool:
    """Launches on numpy arrays, which may be views of one memory, on any device.

    Returns True if they now hold the results; False if kernels are only compiled.
    """
    USED.record(kernel, (*args, *named.values()))
    if device == "cuda":
        import _gpu

        RESULTS.launched(_gpu.launch_on_gpu(kernel, grid, args, named), args, named)
        return True
    host = tuple(arg.on_host() if isinstance(arg, Addresses) else arg for arg in args)
    if device == "cpu":
        RESULTS.launched(kernel[grid](*host, **named), args, named)
        return True
    import _gpu

    if device.startswith("sim"):
        RESULTS.launched(_gpu.launch_on_simulator(kernel, grid, host, named), args, named)
        return True

    if device.startswith("hip:"):
        import _amd

        _amd.compile_for_gpu(kernel, grid, host, named, device)
    else:
        _gpu.compile_for_gpu(kernel, grid, host, named, device.removeprefix("cuda:"))
    return False


def _run(
    kernel: Any, grid: Any, arguments: dict[str, Any], device: str
) -> dict[str, np.ndarray] | None:
    """Launches and returns the content of every array afterwards; None if nothing ran."""
    guarded = {
        name: _Guarded(arg)
        for name, arg in arguments.items()
        if isinstance(arg, (np.ndarray, Coded))
    }
    passed = {
        name: guarded[name].argument() if name in guarded else arg
        for name, arg in arguments.items()
    }
    if not launch(kernel, grid, device=device, **passed):
        return None
    for name, array in guarded.items():
        array.check_guards(name)
    return {name: array.result() for name, array in guarded.items()}


def _within_ulps(got: np.ndarray, want: np.ndarray, ulps: float, atol: float) -> np.ndarray:
    """`want` has higher precision than `got`; a unit is the spacing of `got`'s numbers at `want`."""
    with np.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
        distance = np.abs(got.astype(want.dtype) - want)
        near = distance <= ulps * np.spacing(np.abs(rounded)).astype(want.dtype) + atol
    return near | (got == rounded) | (np.isnan(got) & np.isnan(rounded))


def _assert_equal(
    name: str, got: np.ndarray, want: Any, rtol: float, atol: float, ulps: float
) -> None:
    want = want.values() if isinstance(want, Coded) else np.asarray(want)
    assert got.shape == want.shape, f"`{name}` has shape {got.shape}, expected {want.shape}"
    if ulps:
        good = _within_ulps(got, want, ulps, atol)
    elif rtol or atol:
        with np.errstate(invalid="ignore"):
            good = np.isclose(
                got.astype(np.float64),
                want.astype(np.float64),
                rtol=rtol,
                atol=atol,
                equal_nan=True,
            )
    else:
        good = got == want
        if np.issubdtype(got.dtype, np.floating):
            good |= np.isnan(got) & np.isnan(want)
    if not good.all():
        bad = np.argwhere(~good)
        where = tuple(int(index) for index in bad[0])
        raise AssertionError(
            f"`{name}` differs at {len(bad)} of {math.prod(good.shape)} places, first at "
            f"{where}: got {got[where]!r}, expected {want[where]!r}"
        )


def check(
    kernel: Any,
    grid: Any,
    arguments: dict[str, Any],
    expected: dict[str, Any],
    *,
    device: str = "cpu",
    rtol: float = 0.0,
    atol: float = 0.0,
    ulps: float = 0.0,
) -> None:
    """Launches `kernel[grid](**arguments)` and compares all arrays.

    Arrays in `expected` are compared with it, the others with their content before the launch.

    Without tolerances values must be equal; NaN equals NaN. With `ulps` the expected values have
    higher precision than the output, which may differ by that many units in the last place (and `atol`).

    With a device like cuda:90 the kernel is compiled as for this call, and no results are compared.
    """
    unknown = expected.keys() - arguments.keys()
    assert not unknown, f"no such argument: {', '.join(sorted(unknown))}"
    results = _run(kernel, grid, arguments, device)
    for name, got in (results or {}).items():
        untouched = name not in expected
        before = (
            arguments[name].values() if isinstance(arguments[name], Coded) else arguments[name]
        )
        want = before if untouched else expected[name]
        if untouched:
            got, want = (
                got.view(np.uint8) if got.ndim else got,
                want.view(np.uint8) if want.ndim else want,
            )
        tolerances = (0.0, 0.0, 0.0) if untouched else (rtol, atol, ulps)
        _assert_equal(name, got, want, *tolerances)
