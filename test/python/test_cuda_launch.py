"""Launching on a GPU, against a driver that records every call: bytes, streams, errors, capture, hooks."""
# SPDX-License-Identifier: MIT

import struct
import sys

import _cuda_launches
import pytest
import triton
import triton.language as tl
from _cuda_launches import A, B, C, last, make_kernel
from _stub_cuda import (
    compile_by_hand,
)
from triton import knobs
from triton._C import libtriton

stub, array, runs = _cuda_launches.stub, _cuda_launches.array, _cuda_launches.runs


# --- Argument bytes -------------------------------------------------------------------------------


def test_every_argument_arrives_byte_by_byte(stub, array, runs):
    kernel = make_kernel()
    wanted = [
        struct.pack("<Q", A).hex(),
        struct.pack("<i", -7).hex(),
        struct.pack("<f", 0.3).hex(),
        "01",
        struct.pack("<Q", B).hex(),
        "00" * 8,
        "00" * 8,
    ]
    for _ in range(3):
        kernel[(5, 6, 7)](array(A), -7, 0.3, True, array(B))
    assert runs == ["kernel"]
    assert len(stub.launches()) == 3
    for launch in stub.launches():
        assert launch["arguments"] == wanted
        assert launch["offsets"] == launch["wanted_offsets"]
        assert (launch["grid"], launch["block"]) == ([5, 6, 7], [128, 1, 1])
        assert (launch["stream"], launch["device"], launch["attributes"]) == (0, 0, {})


def test_known_launches_take_their_own_arguments(stub, array, runs):
    kernel = make_kernel()
    for number in (5, 6, 7):
        kernel[(number,)](array(A + 16 * number), number, number / 2, number == 6, array(B))
    assert runs == ["kernel"]
    for number, launch in zip((5, 6, 7), stub.launches(), strict=True):
        assert launch["grid"] == [number, 1, 1]
        assert launch["arguments"][:4] == [
            struct.pack("<Q", A + 16 * number).hex(),
            struct.pack("<i", number).hex(),
            struct.pack("<f", number / 2).hex(),
            f"{number == 6:02x}",
        ]


def test_none_is_no_parameter_and_kernels_need_no_arrays(stub, runs):
    @triton.jit
    def kernel(p, n):
        pass

    for _ in range(2):
        kernel[(1,)](None, 5)
    assert runs == ["kernel"]
    assert last(stub)["arguments"] == ["05000000", "00" * 8, "00" * 8]


def test_known_launches_keep_nothing_of_a_call(stub, array):
    kernel, x, y, grid = make_kernel(), array(A), array(B), (1,)
    compiled = kernel[grid](x, 5, 0.5, True, y)
    before = [sys.getrefcount(each) for each in (x, y, grid, compiled, compiled.function)]
    for _ in range(100):
        kernel[grid](x, 5, 0.5, True, y)
    assert [sys.getrefcount(each) for each in (x, y, grid, compiled, compiled.function)] == before


def test_grids(stub, array):
    kernel = make_kernel()
    args = (array(A), 5, 0.5, True, array(B))
    kernel[lambda meta: (meta["n"], meta["BLOCK"])](*args)
    assert last(stub)["grid"] == [5, 64, 1]
    for _ in range(2):
        stub.clear()
        kernel[(3, 0)](*args)
        assert stub.launches() == []
        for grid in ((2**31,), (1, 65536), (1, 1, 65536)):
            with pytest.raises(ValueError, match="2147483647 x 65535 x 65535"):
                kernel[grid](*args)
        assert stub.launches() == []


@pytest.mark.parametrize("options", [{}, {"num_warps": 8}, {"num_ctas": 2}, {"launch_pdl": True}])
def test_options_reach_the_launch(stub, array, options):
    kernel = make_kernel()
    for _ in range(2):
        kernel[(4,)](array(A), 5, 0.5, True, array(B), **options)
        assert last(stub)["block"] == [32 * options.get("num_warps", 4), 1, 1]
        ctas = options.get("num_ctas", 1)
        assert last(stub)["grid"] == [4 * ctas, 1, 1]
        wanted = (
            {"cluster": [2, 1, 1]} if ctas == 2 else {"pdl": 1} if options.get("launch_pdl") else {}
        )
        assert last(stub)["attributes"] == wanted


# --- Streams --------------------------------------------------------------------------------------


def test_current_stream_of_the_arrays_library(stub, array, runs):
    kernel = make_kernel()
    for stream in (0x10, 0x20, 0x30):
        stub.set_current_stream(stream)
        kernel[(1,)](array(A), 5, 0.5, True, array(B))
    assert runs == ["kernel"]
    assert [launch["stream"] for launch in stub.launches()] == [0x10, 0x20, 0x30]


class TorchStream:
    cuda_stream = 0x70


class CupyStream:
    ptr = 0x80


@pytest.mark.parametrize(
    ("given", "stream"), [(0x50, 0x50), (0, 0), (TorchStream(), 0x70), (CupyStream(), 0x80)]
)
def test_stream_option(stub, array, runs, given, stream):
    kernel = make_kernel()
    stub.set_current_stream(0x999)
    for _ in range(2):
        kernel[(1,)](array(A), 5, 0.5, True, array(B), stream=given)
    assert runs == ["kernel"]
    assert [launch["stream"] for launch in stub.launches()] == [stream, stream]


def test_streams_are_no_part_of_the_key(stub, array, runs):
    kernel = make_kernel()
    for stream in range(10, 20):
        kernel[(1,)](array(A), 5, 0.5, True, array(B), stream=stream)
    assert runs == ["kernel"]
    assert [launch["stream"] for launch in stub.launches()] == list(range(10, 20))


def test_what_is_no_stream_is_refused(stub, array):
    kernel = make_kernel()
    for _ in range(2):
        with pytest.raises(TypeError, match="stream must be a number.*got 'fast'"):
            kernel[(1,)](array(A), 5, 0.5, True, array(B), stream="fast")
        kernel[(1,)](array(A), 5, 0.5, True, array(B))


def test_a_parameter_may_be_called_stream(stub, array):
    @triton.jit
    def kernel(p, stream):
        tl.store(p, stream)

    for number in (3, 5):
        kernel[(1,)](array(A), stream=number)
        assert last(stub)["arguments"][1] == struct.pack("<i", number).hex()
        assert last(stub)["stream"] == 0


# --- Errors ---------------------------------------------------------------------------------------


def test_out_of_resources(stub, array, monkeypatch):
    monkeypatch.setattr(triton.compiler, "compile", compile_by_hand(stub, sharedBytes=300000))
    kernel = make_kernel()
    for _ in range(2):
        with pytest.raises(triton.OutOfResources) as caught:
            kernel[(1,)](array(A), 5, 0.5, True, array(B))
        assert (caught.value.required, caught.value.limit) == (300000, 232448)
        assert caught.value.name == "shared memory"
        assert str(caught.value) == (
            "out of resource: shared memory, Required: 300000, Hardware limit: 232448. "
            "Reducing block sizes or `num_stages` may help."
        )
        if hasattr(caught.value, "__notes__"):  # since Python 3.11
            assert "(kernel `kernel` on cuda:0)" in caught.value.__notes__[0]
    large = compile_by_hand(stub, blockDims=[2048, 1, 1])
    monkeypatch.setattr(triton.compiler, "compile", large)
    with pytest.raises(triton.OutOfResources, match="threads, Required: 2048"):
        make_kernel()[(1,)](array(A), 5, 0.5, True, array(B))


def test_tuning_passes_over_kernels_that_do_not_fit(stub, array, monkeypatch):
    fits, large = compile_by_hand(stub), compile_by_hand(stub, sharedBytes=300000)
    monkeypatch.setattr(
        triton.compiler,
        "compile",
        lambda src, options=None, **more: (large if options["num_warps"] == 8 else fits)(
            src, options=options, **more
        ),
    )
    kernel = triton.autotune(
        [triton.Config({}, num_warps=8), triton.Config({}, num_warps=2)], key=["n"]
    )(make_kernel())
    kernel[(1,)](array(A), 5, 0.5, True, array(B))
    assert kernel.best_config.num_warps == 2
    assert last(stub)["block"] == [64, 1, 1]


def test_tuning_passes_over_more_warps_than_a_block_has(stub, array):
    kernel = triton.autotune(
        [triton.Config({}, num_warps=128), triton.Config({}, num_warps=2)], key=["n"]
    )(make_kernel())
    kernel[(1,)](array(A), 5, 0.5, True, array(B))
    assert kernel.best_config.num_warps == 2
    assert list(kernel.configs_timings.values())[0] == [float("inf")] * 3


def test_failures_of_earlier_kernels_name_them(stub, array):
    @triton.jit
    def bad(p):
        tl.store(p, 1)

    @triton.jit
    def innocent(p):
        tl.store(p, 1)

    innocent[(1,)](array(A))
    triton.runtime.driver.active.synchronize()
    stub.configure("devices=2 dies=bad:700")
    bad[(1,)](array(A))
    with pytest.raises(RuntimeError) as caught:
        innocent[(1,)](array(A))
    text = str(caught.value)
    assert "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS" in text
    assert "newest last: `bad`;" in text
    assert text.endswith("[launch-earlier]")


def test_refused_launches_say_why(stub, array):
    kernel = make_kernel()
    kernel[(1,)](array(A), 5, 0.5, True, array(B))
    stub.configure("fail=cuLaunchKernelEx:701")
    with pytest.raises(RuntimeError, match="128 threads of 32 registers") as caught:
        kernel[(1,)](array(A), 5, 0.5, True, array(B))
    assert "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES from cuLaunchKernelEx" in str(caught.value)


@pytest.mark.parametrize("code", [400, 201])
def test_streams_of_other_devices_are_named(stub, array, code):
    kernel = make_kernel()
    kernel[(1,)](array(A), 5, 0.5, True, array(B))
    stub.configure(f"devices=2 fail=cuLaunchKernelEx:{code}")
    with pytest.raises(RuntimeError) as caught:
        kernel[(1,)](array(A), 5, 0.5, True, array(B), stream=0x80)
    assert "kernel `kernel` cannot be launched on cuda:0" in str(caught.value)
    assert "the stream given is not one of cuda:0, or it was destroyed [" in str(caught.value)


def test_pointers_are_checked_when_asked_for(stub, array, runs):
    kernel = make_kernel()
    stub.add_memory(A, 0x100)
    kernel[(1,)](array(A), 5, 0.5, True, array(C))
    knobs.nvidia.check_pointers = True
    try:
        with pytest.raises(ValueError, match="argument `y_ptr` points to 0x7f0000003004"):
            kernel[(1,)](array(A), 5, 0.5, True, array(C))
        stub.add_memory(C, 0x100)
        kernel[(1,)](array(A), 5, 0.5, True, array(C))
    finally:
        del knobs.nvidia.check_pointers
    assert len(runs) == 3
    assert len(stub.launches()) == 2


# --- Capture, scratch, hooks ----------------------------------------------------------------------


def test_captured_launches_make_no_forbidden_call(stub, array):
    kernel = make_kernel()
    kernel[(1,)](array(A), 5, 0.5, True, array(B))
    libtriton.driver_cuda.make_current(0)
    stub.clear()
    stub.set_capturing(True)
    try:
        kernel[(1,)](array(A), 5, 0.5, True, array(B))
        assert [call["call"] for call in stub.calls()] == ["cuLaunchKernelEx"]
        make_kernel()[(1,)](array(A), 5, 0.5, True, array(B))  # loads during the capture
    finally:
        stub.set_capturing(False)
        stub.library.cuCtxSetCurrent(None)
    assert len(stub.launches()) == 2


class Memory:
    def __init__(self, address):
        self.address = address

    def data_ptr(self):
        return self.address


@pytest.fixture
def _scratch_is_nobodys():
    triton.set_allocator(triton.runtime._allocation.NullAllocator())  # PyTorch leaves its own
    libtriton.set_scratch_provider(None)
    yield
    libtriton.set_scratch_provider(None)


@pytest.mark.usefixtures("_scratch_is_nobodys")
def test_scratch_comes_from_the_users_allocator(stub, array, runs, monkeypatch):
    fields = {"globalScratchBytes": 256, "globalScratchAlign": 128}
    monkeypatch.setattr(triton.compiler, "compile", compile_by_hand(stub, **fields))
    kernel, asked = make_kernel(), []
    for _ in range(2):
        kernel[(3, 2)](array(A), 5, 0.5, True, array(B), stream=0x10)
        assert stub.calls("cuMemAllocAsync")[-1]["bytes"] == 6 * 256 + 127
        assert stub.calls("cuMemAllocAsync")[-1]["stream"] == 0x10
    assert runs == ["kernel"]  # the second launch is in the native table
    stub.clear()

    def allocator(size, alignment, stream):
        asked.append((size, alignment, stream))
        return Memory(0x7F0000050000)

    triton.set_allocator(allocator)
    try:
        for _ in range(2):
            kernel[(3, 2)](array(A), 5, 0.5, True, array(B), stream=0x10)
    finally:
        triton.set_allocator(triton.runtime._allocation.NullAllocator())
    assert asked == [(6 * 256, 128, 0x10)] * 2
    assert runs == ["kernel"]  # with an allocator, too
    assert last(stub)["arguments"][5:] == [struct.pack("<Q", 0x7F0000050000).hex(), "00" * 8]
    assert stub.calls("cuMemAllocAsync") == []


@pytest.mark.usefixtures("_scratch_is_nobodys")
def test_what_goes_wrong_in_an_allocator_is_the_launchs_error(stub, array, runs, monkeypatch):
    monkeypatch.setattr(triton.compiler, "compile", compile_by_hand(stub, globalScratchBytes=256))
    kernel = make_kernel()
    kernel[(1,)](array(A), 5, 0.5, True, array(B))
    stub.clear()

    def allocator(size, alignment, stream):
        raise MemoryError("no more today")

    triton.set_allocator(allocator)
    try:
        with pytest.raises(MemoryError, match="no more today"):
            kernel[(1,)](array(A), 5, 0.5, True, array(B))
        triton.set_allocator(lambda size, alignment, stream: "here")
        with pytest.raises((TypeError, ValueError), match="here"):
            kernel[(1,)](array(A), 5, 0.5, True, array(B))
    finally:
        triton.set_allocator(triton.runtime._allocation.NullAllocator())
    assert stub.launches() == []


def test_hooks_see_launches_and_loads(stub, array):
    events, kernel = [], make_kernel()
    runtime = knobs.runtime
    hooks = [
        (runtime.launch_enter_hook, lambda data: events.append(("enter", data.get()["stream"]))),
        (runtime.launch_exit_hook, lambda data: events.append(("exit", data.get()["name"]))),
        (runtime.kernel_load_start_hook, lambda *info: events.append(("start", info[2], info[0]))),
        (runtime.kernel_load_end_hook, lambda *info: events.append(("end", int(info[1]) != 0))),
    ]
    for chain, hook in hooks:
        chain.add(hook)
    try:
        kernel[(1,)](array(A), 5, 0.5, True, array(B), stream=0x20)
    finally:
        for chain, hook in hooks:
            chain.remove(hook)
    assert events == [("start", "kernel", None), ("end", True), ("enter", 0x20), ("exit", "kernel")]
