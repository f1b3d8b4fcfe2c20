"""Launching on the CPU: where arguments have memory, and how: arrays of libraries, read-only ones, ones without any."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _vectors import add_kernel, arrays


class OnlyDLPack:
    """An array of an unknown library, with a DLPack older than version 1."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_numpy_arrays():
    x, y, out = arrays()
    kernel = add_kernel[(2,)](x, y, out, 100)
    assert np.array_equal(out, x + y)
    assert kernel.name == "add_kernel"


def test_dlpack_arrays():
    x, y, out = arrays()
    add_kernel[(2,)](OnlyDLPack(x), OnlyDLPack(y), OnlyDLPack(out), 100)
    assert np.array_equal(out, x + y)


class VersionedDLPack(OnlyDLPack):
    """An array whose DLPack marks read-only memory."""

    def __dlpack__(self, stream=None, max_version=None):
        return self.array.__dlpack__(max_version=max_version)


def frozen(array):
    array = array.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("wrap", [np.asarray, VersionedDLPack])
def test_read_only_arrays_are_read(wrap):
    x, y, out = arrays()
    for _ in range(2):
        out[:] = -1
        add_kernel[(2,)](wrap(frozen(x)), wrap(frozen(y)), wrap(out), 100)
        assert np.array_equal(out, x + y)


@pytest.mark.parametrize("wrap", [np.asarray, VersionedDLPack])
@pytest.mark.parametrize("warm", [False, True])
def test_read_only_arrays_are_not_written(wrap, warm):
    x, y, out = arrays()
    if warm:
        add_kernel[(2,)](wrap(x), wrap(y), wrap(out), 100)
    untouched = frozen(out)
    text = (
        f"kernel `add_kernel` writes to argument `out_ptr`, and the `.*{type(wrap(x)).__name__}` "
        "given for it is read-only; pass an array that may be written, such as a copy of it"
    )
    with pytest.raises(ValueError, match=text):
        add_kernel[(2,)](wrap(x), wrap(y), wrap(untouched), 100)
    assert np.array_equal(untouched, out)
    broadcast = np.broadcast_to(np.float32(1), (100,))
    with pytest.raises(ValueError, match="is read-only"):
        add_kernel[(2,)](wrap(x), wrap(y), wrap(broadcast), 100)


def test_constants_whose_value_raises_raise_it():
    class Broken(tl.constexpr):
        def __init__(self):
            pass

        @property
        def value(self):
            raise LookupError("no value today")

    @triton.jit
    def f(out_ptr, N: tl.constexpr):
        tl.store(out_ptr, N)

    for _ in range(2):
        with pytest.raises(LookupError, match="no value today"):
            f[(1,)](np.zeros(1, np.int32), Broken())


def test_an_array_that_one_kernel_of_a_function_writes_and_another_reads():
    @triton.jit
    def f(p_ptr, out_ptr, WRITES: tl.constexpr):
        if WRITES:
            tl.store(p_ptr, 1)
        else:
            tl.store(out_ptr, tl.load(p_ptr))

    fixed, out = frozen(np.full(1, 7, np.int32)), np.zeros(1, np.int32)
    for _ in range(2):
        f[(1,)](fixed, out, False)
        assert out[0] == 7
        with pytest.raises(ValueError, match="kernel `f` writes to argument `p_ptr`"):
            f[(1,)](fixed, out, True)
    assert fixed[0] == 7


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    x, y, out = (torch.from_numpy(array) for array in arrays())
    for _ in range(3):
        out.fill_(-1)
        add_kernel[(2,)](x, y, out, 100)
        assert torch.equal(out, x + y)


@triton.jit
def total_of_arrays(out_ptr, arrays):
    total = 0
    for array in tl.static_range(len(arrays)):
        total += tl.load(arrays[array])
    tl.store(out_ptr, total)


@pytest.mark.parametrize("count", [63, 64, 65, 100, 300])
def test_a_tuple_may_hold_more_arrays_than_a_kernel_has_parameters(count):
    out = np.zeros(1, np.int32)
    arrays = tuple(np.array([value], np.int32) for value in range(count))
    for _ in range(3):
        out[0] = 0
        total_of_arrays[(1,)](out, arrays)
        assert out[0] == sum(range(count))


class NoMemory:
    """An array of a library's own that has a device and no memory."""

    def __init__(self, torch, device):
        self.dtype, self.device = torch.float32, torch.device(device)

    def data_ptr(self):
        return 0


@triton.jit
def add_optional(x_ptr, y_ptr, out_ptr, n, HAS_Y: tl.constexpr, BLOCK: tl.constexpr = 64):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    if HAS_Y:
        x += tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x, mask=mask)


@triton.jit
def add_parts(arrays, n, BLOCK: tl.constexpr = 64):
    add_optional(arrays[0], arrays[1], arrays[2], n, False, BLOCK)


@pytest.mark.parametrize("n", [0, 100])
@pytest.mark.parametrize("device", ["meta", "cuda:3", "cpu"])
def test_an_array_without_memory_is_on_no_device(device, n):
    torch = pytest.importorskip("torch")
    x, _, out = arrays()
    empty = torch.empty(n, device=device) if device == "meta" else NoMemory(torch, device)
    for _ in range(3):  # compiled, remembered, and by the key alone
        out[:] = -1
        add_optional[(2,)](x, empty, out, 100, False)
        assert (out == x).all()
        out[:] = -1
        add_optional[(2,)](x, out, out_ptr=empty, n=n, HAS_Y=True) if n == 0 else None
        add_parts[(2,)]((x, empty, out), 100)
        assert (out == x).all()
        add_optional[(2,)](empty, x, out, 0, True)
    add_optional[(2,)](x, 2 * x, out, 100, True)
    assert (out == 3 * x).all()


def test_arrays_that_all_have_no_memory_still_tell_a_device():
    torch = pytest.importorskip("torch")
    kernels = {add_optional[(2,)](*(torch.empty(0) for _ in range(3)), 0, True) for _ in range(3)}
    assert len(kernels) == 1
    other = [NoMemory(torch, "xpu")] * 3
    with pytest.raises(ValueError, match="tensors are on a xpu device"):
        add_optional[(2,)](*other, 0, True)


def test_mixed_devices_are_named():
    torch = pytest.importorskip("torch")
    x, y, out = arrays()

    class Elsewhere(NoMemory):
        def data_ptr(self):
            return 1 << 40

    with pytest.raises(
        ValueError,
        match="on different devices: `x_ptr` on cpu, `y_ptr` on xpu.*, `out_ptr` on cpu; a kernel",
    ):
        add_kernel[(2,)](x, Elsewhere(torch, "xpu"), out, 100)
    with pytest.raises(
        ValueError, match="tensors are on a meta device, and this build has no backend for it"
    ):
        add_kernel[(2,)](*(torch.empty(100, device="meta") for _ in range(3)), 100)
