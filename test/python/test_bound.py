"""`kernel.bind(...)`: handles for one variant on one device."""
# SPDX-License-Identifier: MIT

import gc
import pickle
import weakref

import numpy as np
import pytest
import triton
import triton.language as tl
from _stub_cuda import InterfaceArray, compile_by_hand, exchange_array_class, use_stub
from triton import knobs

X, Y = 0x7F0000000000, 0x7F0000100000


@triton.jit
def scaled(x, out, n, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * scale, mask=at < n)


def arrays(count=64):
    return np.arange(count, dtype=np.float32), np.zeros(count, np.float32)


def aligned(count):
    """A float32 array at a multiple of 64 bytes."""
    room = np.zeros(count * 4 + 64, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + count * 4].view(np.float32)


@pytest.fixture
def stub(monkeypatch):
    for each in use_stub("devices=2"):
        monkeypatch.setattr(triton.compiler, "compile", compile_by_hand(each, reads=("x",)))
        scaled.device_caches.clear()
        yield each
    scaled.device_caches.clear()


def bound_on_stub(device=0):
    tensor = exchange_array_class()
    x, out = tensor(X, device_id=device), tensor(Y, device_id=device)
    return scaled.bind(x, out, 64, 2.0, BLOCK=32), x, out


# --- Results --------------------------------------------------------------------------------------


def test_launch_computes():
    x, out = arrays()
    handle = scaled.bind(x, out, 64, 2.0, BLOCK=32)
    assert not out.any()  # binding launches nothing
    handle((2,), x, out, 64, 3.0)
    np.testing.assert_array_equal(out, 3 * x)


def test_launch_returns_the_kernel_of_a_launch():
    x, out = arrays()
    handle = scaled.bind(x, out, 64, 2.0, BLOCK=32)
    assert handle((2,), x, out, 64, 3.0) is handle.kernel
    assert scaled[(2,)](x, out, 64, 3.0, BLOCK=32) is handle.kernel


def test_other_arguments_of_the_variant():
    x, out = aligned(96), aligned(96)
    x[:] = np.arange(96)
    handle = scaled.bind(x, out, 96, 2.0, BLOCK=32)
    other, result = aligned(96), aligned(96)
    other[:] = 7
    handle((3,), other, result, 80, 0.5)
    np.testing.assert_array_equal(result, [3.5] * 80 + [0] * 16)


def test_keywords():
    x, out = arrays()
    handle = scaled.bind(x, out, 64, 2.0, BLOCK=32)
    handle((2,), x, scale=4.0, n=64, out=out)
    np.testing.assert_array_equal(out, 4 * x)


def test_grid_function_sees_arguments_and_constants():
    x, out = arrays()
    handle = scaled.bind(x, out, 64, 2.0, BLOCK=32)
    seen = []

    def grid(meta):
        seen.append((meta["n"], meta["BLOCK"]))
        return (triton.cdiv(meta["n"], meta["BLOCK"]),)

    handle(grid, x, out, 64, 5.0)
    np.testing.assert_array_equal(out, 5 * x)
    assert seen == [(64, 32)]


def test_default_of_a_runtime_parameter():
    @triton.jit
    def kernel(out, value=5):
        tl.store(out, value)

    out = np.zeros(1, np.int32)
    handle = kernel.bind(out)
    handle((1,), out)
    assert out[0] == 5
    handle((1,), out, 7)
    assert out[0] == 7


def test_tuple_argument():
    @triton.jit
    def kernel(out, pair):
        tl.store(out, pair[0] * pair[1])

    out = np.zeros(1, np.int32)
    handle = kernel.bind(out, (3, 5))
    for pair in ((3, 5), (4, 7), (4, 7)):
        handle((1,), out, pair)
        assert out[0] == pair[0] * pair[1]


def test_rest_arguments():
    @triton.jit
    def kernel(out, *values):
        tl.store(out, values[0] + values[1])

    out = np.zeros(1, np.int32)
    handle = kernel.bind(out, 3, 5)
    handle((1,), out, 6, 7)
    assert out[0] == 13


def test_bound_by_types_alone(monkeypatch):
    torch = pytest.importorskip("torch")
    active = triton.runtime.driver.for_device("cpu")
    monkeypatch.setattr(triton.runtime.driver, "_active", active)  # types name no device
    handle = scaled.bind(torch.float32, torch.float32, 64, 2.0, BLOCK=32)
    x, out = torch.ones(64), torch.zeros(64)
    for _ in range(2):
        handle((2,), x, out, 64, 3.0)
    assert (out == 3).all()


# --- Arguments of another variant -----------------------------------------------------------------


def handle_for_aligned():
    x, out = aligned(64), aligned(64)
    return scaled.bind(x, out, 64, 2.0, BLOCK=32), x, out


def test_other_alignment_is_an_error():
    handle, x, out = handle_for_aligned()
    text = r"argument `x` is `\*fp32` not aligned to 16 bytes; this handle of scaled is for `\*fp32` aligned"
    with pytest.raises(ValueError, match=text):
        handle((1,), x[1:], out, 32, 2.0)


def test_other_divisibility_is_an_error():
    handle, x, out = handle_for_aligned()
    with pytest.raises(
        ValueError, match="argument `n` is 33, `i32` not divisible by 16; this handle"
    ):
        handle((1,), x, out, 33, 2.0)


def test_one_is_another_variant():
    handle, x, out = handle_for_aligned()
    with pytest.raises(TypeError, match="argument `n` is 1, the constant 1; this handle"):
        handle((1,), x, out, 1, 2.0)


def test_other_type_is_an_error():
    handle, x, out = handle_for_aligned()
    with pytest.raises(
        TypeError, match=r"argument `x` is `\*fp16` .*this handle of scaled is for `\*fp32`"
    ):
        handle((1,), x.astype(np.float16), out, 64, 2.0)


def test_errors_repeat():
    handle, x, out = handle_for_aligned()
    for _ in range(3):
        with pytest.raises(ValueError, match="argument `n` is 33"):
            handle((1,), x, out, 33, 2.0)
        handle((1,), x, out, 32, 2.0)


def test_missing_argument_is_an_error():
    handle, x, out = handle_for_aligned()
    with pytest.raises(
        TypeError, match="takes a grid and 4 run-time arguments, `x`, `out`, `n`, `scale`; 3"
    ):
        handle((1,), x, out, 64)


def test_too_many_arguments_are_an_error():
    handle, x, out = handle_for_aligned()
    with pytest.raises(TypeError, match="4 run-time arguments.*; 5 were given"):
        handle((1,), x, out, 64, 2.0, 32)


def test_missing_grid_is_an_error():
    handle, _, _ = handle_for_aligned()
    with pytest.raises(TypeError, match=r"takes a grid, as in `handle\(\(1,\), ...\)`"):
        handle()


def test_constant_may_be_repeated():
    handle, x, out = handle_for_aligned()
    x[:] = 1
    handle((2,), x, out, 64, 2.0, BLOCK=32)
    assert (out == 2).all()


def test_other_constant_is_an_error():
    handle, x, out = handle_for_aligned()
    with pytest.raises(
        ValueError, match="`BLOCK` is 64, and this handle of scaled was bound with 32"
    ):
        handle((1,), x, out, 64, 2.0, BLOCK=64)


def test_unknown_keyword_is_an_error():
    handle, x, out = handle_for_aligned()
    with pytest.raises(TypeError, match="`num_warp` is no run-time argument of scaled"):
        handle((1,), x, out, 64, 2.0, num_warp=4)


def test_grid_belongs_to_the_handle():
    x, out = arrays()
    with pytest.raises(TypeError, match="takes no `grid`; it is an argument of the handle"):
        scaled.bind(x, out, 64, 2.0, BLOCK=32, grid=(1,))


def test_shape_of_the_grid_is_checked():
    handle, x, out = handle_for_aligned()
    with pytest.raises(ValueError, match="grid must have 1 to 3 dimensions, got 4"):
        handle((1, 1, 1, 1), x, out, 64, 2.0)


# --- What a handle is -----------------------------------------------------------------------------


def test_repr_tells_the_variant():
    handle, _, _ = handle_for_aligned()
    text = repr(handle)
    assert text.startswith("<handle of scaled(x: `*fp32` aligned to 16 bytes")
    assert "BLOCK=32" in text and text.endswith("on cpu>")


def test_constants_and_options():
    x, out = arrays()
    handle = scaled.bind(x, out, 64, 2.0, BLOCK=32, num_warps=2)
    assert handle.constants == {"BLOCK": 32}
    assert handle.options == {"num_warps": 2}
    assert handle.fn is scaled


def test_handle_is_not_pickled():
    handle, _, _ = handle_for_aligned()
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(handle)


def test_handle_is_freed():
    handle, _, _ = handle_for_aligned()
    handle.itself = handle  # a cycle
    gone = weakref.ref(handle)
    del handle
    gc.collect()
    assert gone() is None


def test_hooks_of_the_kernel_are_called():
    @triton.jit
    def kernel(out):
        tl.store(out, 3)

    out = np.zeros(1, np.int32)
    handle = kernel.bind(out)
    seen = []
    kernel.add_pre_run_hook(lambda *args, **kwargs: seen.append(args))
    handle((1,), out)
    assert len(seen) == 1 and seen[0][0] is out and out[0] == 3


def test_launch_hooks_are_called():
    handle, x, out = handle_for_aligned()
    handle((2,), x, out, 64, 2.0)
    seen = []
    with knobs.runtime.scope():
        knobs.runtime.launch_enter_hook = lambda metadata: seen.append(metadata.get()["name"])
        handle((2,), x, out, 64, 2.0)
    assert seen == ["scaled"]


def test_declined_compilation_is_an_error():
    @triton.jit
    def kernel(out):
        tl.store(out, 3)

    with knobs.runtime.scope():
        knobs.runtime.jit_cache_hook = lambda **details: True
        with pytest.raises(RuntimeError, match="`jit_cache_hook` has declined to compile kernel"):
            kernel.bind(np.zeros(1, np.int32))


# --- On a GPU -------------------------------------------------------------------------------------


def test_packed_as_a_launch_packs(stub):
    handle, x, out = bound_on_stub()
    scaled[(2,)](x, out, 48, 0.5, BLOCK=32)
    handle((2,), x, out, 48, 0.5)
    plain, bound = stub.launches()
    assert bound == plain


def test_stream(stub):
    handle, x, out = bound_on_stub()
    handle((2,), x, out, 48, 0.5, stream=0x70)
    assert stub.launches()[-1]["stream"] == 0x70


def test_current_stream(stub):
    handle, x, out = bound_on_stub()
    stub.set_current_stream(0x90)
    handle((2,), x, out, 48, 0.5)
    assert stub.launches()[-1]["stream"] == 0x90


def test_array_of_another_device_is_an_error(stub):
    handle, x, _ = bound_on_stub()
    elsewhere = exchange_array_class()(Y, device_id=1)
    with pytest.raises(
        ValueError,
        match="argument `out` is on cuda:1, and this handle of scaled is for cuda:0, which has no access",
    ):
        handle((2,), x, elsewhere, 48, 0.5)
    assert not stub.launches()


def test_current_device_does_not_matter(stub):
    handle, x, out = bound_on_stub()
    triton.runtime.driver.active.set_current_device(1)
    try:
        handle((2,), x, out, 48, 0.5)
    finally:
        triton.runtime.driver.active.set_current_device(0)
    assert len(stub.launches()) == 1
    assert handle.device == "cuda:0"


def test_host_array_is_an_error(stub):
    handle, x, _ = bound_on_stub()
    with pytest.raises(ValueError, match="argument `out` is on device cpu"):
        handle((2,), x, np.zeros(64, np.float32), 48, 0.5)


def test_arrays_of_another_library(stub):
    handle, _, out = bound_on_stub()
    for _ in range(2):
        handle((2,), InterfaceArray(X), out, 48, 0.5)
    assert len(stub.launches()) == 2


# --- Tuned, computed, interpreted -----------------------------------------------------------------


def time_once(call, quantiles):
    call()
    return [1.0] * len(quantiles)


def make_tuner(configs):
    @triton.autotune(configs, key=["n"], do_bench=time_once)
    @triton.jit
    def kernel(out, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(out + at, n + at * 0 + BLOCK, mask=at < 16)

    return kernel


def test_handle_of_the_chosen_configuration():
    tuner = make_tuner([triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 32})])
    out = np.zeros(16, np.int32)
    with pytest.raises(
        ValueError, match="no configuration of kernel is chosen yet.*pass the `grid`"
    ):
        tuner.bind(out, 5)
    handle = tuner.bind(out, 5, grid=(1,))
    (key,) = tuner.cache
    assert handle.constants == {"BLOCK": tuner.cache[key].kwargs["BLOCK"]}
    handle((1,), out, 7)
    assert (out == 7 + handle.constants["BLOCK"]).all()
    assert tuner.bind(out, 5).constants == handle.constants and tuner.nargs is None


def test_hook_of_the_configuration_is_called():
    seen = []
    hook = lambda nargs: seen.append((nargs["n"], nargs["BLOCK"]))  # noqa: E731
    tuner = make_tuner([triton.Config({"BLOCK": 16}, pre_hook=hook)])
    out = np.zeros(16, np.int32)
    handle = tuner.bind(out, 5)
    handle((1,), out, 7)
    assert seen == [(5, 16), (7, 16)] and (out == 23).all()


def test_handle_of_computed_constants():
    @triton.heuristics({"BLOCK": lambda args: 16})
    @triton.jit
    def kernel(out, n, BLOCK: tl.constexpr):
        tl.store(out + tl.arange(0, BLOCK), n)

    out = np.zeros(16, np.int32)
    kernel.bind(out, 5)((1,), out, 6)
    assert (out == 6).all()


def test_handle_of_an_interpreted_kernel():
    with knobs.runtime.scope():
        knobs.runtime.interpret = True

        @triton.jit
        def kernel(out, n, BLOCK: tl.constexpr):
            tl.store(out + tl.arange(0, BLOCK), n)

        out = np.zeros(16, np.int32)
        kernel.bind(out, 5, BLOCK=16)((1,), out, 6)
        assert (out == 6).all()
