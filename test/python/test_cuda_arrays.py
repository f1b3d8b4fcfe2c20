"""Arrays of other libraries, on several GPUs and on the host, in launches on a driver that records every call."""
# SPDX-License-Identifier: MIT

import gc
import struct

import _cuda_launches
import numpy as np
import pytest
import triton
import triton.language as tl
from _cuda_launches import A, B, C, last, make_kernel
from _stub_cuda import DLPackArray, InterfaceArray
from triton._C import libtriton

stub, array, runs = _cuda_launches.stub, _cuda_launches.array, _cuda_launches.runs


# --- Other libraries' arrays ----------------------------------------------------------------------


def test_cuda_array_interface(stub, runs):
    kernel = make_kernel()
    stub.add_memory(0x7F0000000000, 0x10000)
    for _ in range(2):
        kernel[(1,)](InterfaceArray(A), 5, 0.5, True, InterfaceArray(C))
        assert last(stub)["arguments"][0] == struct.pack("<Q", A).hex()
        assert last(stub)["arguments"][4] == struct.pack("<Q", C).hex()
    assert runs == ["kernel"]
    kinds = list(kernel.device_caches["cuda:0"][0].values())[0].src
    assert kinds.signature["x_ptr"] == "*fp32"
    assert (kinds.attrs[(0,)], kinds.attrs.get((4,), [])) == ([["tt.divisibility", 16]], [])


@pytest.mark.parametrize(
    ("typestr", "dtype", "kind"),
    [
        ("<f8", None, "*fp64"),
        ("<f2", None, "*fp16"),
        ("<i8", None, "*i64"),
        ("|u1", None, "*u8"),
        ("|b1", None, "*u1"),
        ("<V2", "bfloat16", "*bf16"),
    ],
)
def test_type_strings(stub, typestr, dtype, kind):
    kernel = make_kernel()
    compiled = kernel[(1,)](
        InterfaceArray(A, typestr, None, dtype), 5, 0.5, True, InterfaceArray(B)
    )
    assert compiled.src.signature["x_ptr"] == kind


def test_unknown_type_strings_are_named(stub):
    with pytest.raises(TypeError, match="its elements are of type '>f4'"):
        make_kernel()[(1,)](InterfaceArray(A, ">f4"), 5, 0.5, True, InterfaceArray(B))


def test_launches_wait_for_the_stream_that_made_the_contents(stub):
    kernel = make_kernel()
    for given, waits in ((0x40, True), (1, False), (None, False), (0x60, False)):
        stub.clear()
        for _ in range(2):
            kernel[(1,)](
                InterfaceArray(A, stream=given), 5, 0.5, True, InterfaceArray(B),
                stream=0x60 if given == 0x60 else 0,
            )  # fmt: skip
        recorded = [call["stream"] for call in stub.calls("cuEventRecord")]
        waited = [call["stream"] for call in stub.calls("cuStreamWaitEvent")]
        assert (recorded, waited) == (([0x40, 0x40], [0, 0]) if waits else ([], []))


def test_dlpack_is_told_the_stream(stub, runs):
    kernel, x, y = make_kernel(), DLPackArray(A), DLPackArray(B)
    for _ in range(2):
        kernel[(1,)](x, 5, 0.5, True, y)
        assert last(stub)["arguments"][0] == struct.pack("<Q", A).hex()
    assert runs == ["kernel"]
    assert set(x.streams) == {1}  # the default stream


def test_streams_wait_for_the_one_that_dlpack_was_told(stub):
    kernel = make_kernel()
    for stream, waits in ((0x70, True), (0, False), (1, False)):
        stub.clear()
        for _ in range(2):
            kernel[(1,)](DLPackArray(A), 5, 0.5, True, InterfaceArray(B), stream=stream)
        recorded = [call["stream"] for call in stub.calls("cuEventRecord")]
        waited = [call["stream"] for call in stub.calls("cuStreamWaitEvent")]
        assert (recorded, waited) == (([1, 1], [0x70, 0x70]) if waits else ([], []))


def test_read_only_memory_goes_to_kernels_that_only_read_it(stub, runs):
    kernel = make_kernel()
    for _ in range(2):
        kernel[(1,)](InterfaceArray(A, read_only=True), 5, 0.5, True, InterfaceArray(B))
        with pytest.raises(
            ValueError, match="`kernel` writes to argument `y_ptr`, and the `Interf"
        ):
            kernel[(1,)](InterfaceArray(A), 5, 0.5, True, InterfaceArray(B, read_only=True))
    assert len(stub.launches()) == 2


# --- Devices --------------------------------------------------------------------------------------


def test_launches_follow_the_arrays_to_their_gpu(stub, array, runs):
    kernel = make_kernel()
    for device in (1, 0, 1, 0):
        kernel[(1,)](array(A, device), 5, 0.5, True, array(B, device))
    assert [launch["device"] for launch in stub.launches()] == [1, 0, 1, 0]
    assert runs == ["kernel", "kernel"]
    assert set(kernel.device_caches) == {"cuda:0", "cuda:1"}


def test_context_is_given_back(stub, array):
    gc.collect()  # kernels of other tests, whose unloading would be recorded here
    stub.library.cuCtxSetCurrent(None)
    stub.clear()
    kernel = make_kernel()
    for device in (1, 1):
        kernel[(1,)](array(A, device), 5, 0.5, True, array(B, device))
    switches = [call["device"] for call in stub.calls("cuCtxSetCurrent")]
    assert len(switches) % 2 == 0
    assert switches[0::2] == [1] * (len(switches) // 2)
    assert switches[1::2] == [-1] * (len(switches) // 2)


def test_kernels_without_arrays_follow_the_current_gpu(stub, runs):
    @triton.jit
    def kernel(n):
        pass

    kernel[(1,)](5)
    libtriton.driver_cuda.make_current(1)
    try:
        for _ in range(2):
            kernel[(1,)](5)
    finally:
        stub.library.cuCtxSetCurrent(None)
    kernel[(1,)](5)
    assert [launch["device"] for launch in stub.launches()] == [0, 1, 1, 0]


def test_arrays_of_the_host_are_named(stub, array):
    kernel = make_kernel()
    kernel[(1,)](array(A), 5, 0.5, True, array(B))
    with pytest.raises(ValueError) as caught:
        kernel[(1,)](array(A), 5, 0.5, True, np.zeros(8, np.float32))
    text = str(caught.value)
    assert "`x_ptr` on cuda:0, `y_ptr` on cpu; a kernel runs on one device" in text
    assert "Pointer argument cannot be accessed from Triton (cpu tensor?)" in text


def test_pinned_arrays_of_the_host_are_reachable(stub, array):
    kernel, pinned = make_kernel(), np.zeros(8, np.float32)
    stub.add_memory(pinned.ctypes.data, pinned.nbytes, on_host=True)
    for _ in range(2):
        kernel[(1,)](array(A), 5, 0.5, True, pinned)
        assert last(stub)["arguments"][4] == struct.pack("<Q", pinned.ctypes.data).hex()


def test_arrays_of_the_host_alone_run_on_the_cpu(stub, monkeypatch):
    monkeypatch.undo()

    @triton.jit
    def store(p, n):
        tl.store(p, n)

    out = np.zeros(1, np.int32)
    store[(1,)](out, 42)
    assert out[0] == 42
    assert stub.launches() == []


# --- Memory of other GPUs -------------------------------------------------------------------------


@pytest.fixture
def peers(stub):
    """Two GPUs with access to each other's memory: A is on the first, B and C are on the second."""
    stub.configure("devices=2 peers=1")
    for address, device in ((A, 0), (B, 1), (C, 1)):
        stub.add_memory(address, 4096, device=device)
    yield stub
    stub.library.cuCtxSetCurrent(None)


def test_peer_memory_is_read_from_the_current_gpu(peers, array, runs):
    kernel = make_kernel()
    for _ in range(3):
        kernel[(1,)](array(A, 0), 5, 0.5, True, array(B, 1))
        kernel[(1,)](array(B, 1), 5, 0.5, True, array(A, 0))
    assert [launch["device"] for launch in peers.launches()] == [0] * 6
    assert last(peers)["arguments"][0] == struct.pack("<Q", B).hex()
    assert runs == ["kernel", "kernel"]  # one per order of the devices


def test_the_current_gpu_launches_even_if_all_memory_is_a_peers(peers, array):
    kernel = make_kernel()
    for current in (0, 1, 0, 0, 1, 1):
        libtriton.driver_cuda.make_current(current)
        kernel[(1,)](array(B, 1), 5, 0.5, True, array(C, 1))
    assert [launch["device"] for launch in peers.launches()] == [0, 1, 0, 0, 1, 1]


def test_peer_memory_behind_other_protocols(peers, array):
    kernel = make_kernel()
    for x in (InterfaceArray(C), DLPackArray(C, 1), array(0, 1)):
        for _ in range(2):
            kernel[(1,)](x, 5, 0.5, True, array(A, 0))
    assert [launch["device"] for launch in peers.launches()] == [0] * 6


def test_kernels_of_one_gpu_take_a_peers_memory_by_hand(peers, array):
    compiled = make_kernel()[(1,)](array(A), 5, 0.5, True, array(A))
    compiled[(1, 1, 1)](array(A), 5, 0.5, True, array(B, 1), 64)
    assert (last(peers)["device"], last(peers)["arguments"][4]) == (0, struct.pack("<Q", B).hex())


def test_the_driver_is_not_asked_about_arrays_on_several_gpus(peers, array):
    kernel = make_kernel()
    for _ in range(3):
        kernel[(1,)](array(A, 0), 5, 0.5, True, array(B, 1))
    assert not peers.calls("cuPointerGetAttribute")


def test_several_gpus_without_peer_access_launch_on_the_current_one(stub, array):
    kernel = make_kernel()
    for current in (0, 1, 1, 0):
        libtriton.driver_cuda.make_current(current)
        kernel[(1,)](array(A, 0), 5, 0.5, True, array(B, 1))
    stub.library.cuCtxSetCurrent(None)
    assert [launch["device"] for launch in stub.launches()] == [0, 1, 1, 0]


def test_one_gpu_without_peer_access_launches_itself(stub, array):
    kernel = make_kernel()
    for _ in range(3):
        kernel[(1,)](array(A, 1), 5, 0.5, True, array(B, 1))
    assert [launch["device"] for launch in stub.launches()] == [1, 1, 1]


def failure_text(stub, settings, launch):
    """The error of the wait for a launch of `bad` that has failed with an illegal address."""
    stub.configure(f"devices=2 dies=bad:700 {settings}")
    for address, device in ((A, 0), (B, 1)):
        stub.add_memory(address, 4096, device=device)
    launch()
    with pytest.raises(RuntimeError) as caught:
        triton.runtime.driver.active.synchronize()
    return str(caught.value)


def make_bad():
    @triton.jit
    def bad(x_ptr, y_ptr):
        tl.store(x_ptr, tl.load(y_ptr))

    return bad


FAILURES = {
    "peers=0": "`y_ptr` of `bad` is memory of cuda:1, which cuda:0 cannot access: the two are not connected as peers",
    "peers=2": "`y_ptr` of `bad` is memory of cuda:1, to which cuda:0 has no access: peer access has to be enabled",
    "peers=2 fail=cuPointerGetAttribute:700": "`y_ptr` of `bad` is memory of cuda:1, to which cuda:0 may have no access",
}


@pytest.mark.parametrize("settings", FAILURES)
@pytest.mark.parametrize("times", [1, 2])
def test_a_failed_launch_names_arguments_that_it_has_no_access_to(stub, array, settings, times):
    bad = make_bad()
    for _ in range(times):
        bad[(1,)](array(A, 0), array(B, 1))
    text = failure_text(stub, settings, lambda: bad[(1,)](array(A, 0), array(B, 1)))
    assert FAILURES[settings] in text
    assert "`x_ptr`" not in text


def test_a_failed_launch_by_hand_names_them_too(stub, array):
    bad = make_bad()
    compiled = bad[(1,)](array(A, 0), array(A, 0))
    text = failure_text(stub, "peers=2", lambda: compiled[(1, 1, 1)](array(A, 0), array(B, 1)))
    assert FAILURES["peers=2"] in text


def test_a_failed_launch_does_not_blame_peers_with_access(stub, array):
    bad = make_bad()
    text = failure_text(stub, "peers=1", lambda: bad[(1,)](array(A, 0), array(B, 1)))
    assert "illegal memory access" in text
    assert "cuda:1" not in text


def test_arguments_of_launches_that_have_succeeded_are_not_blamed(stub, array):
    bad = make_bad()
    bad[(1,)](array(A, 0), array(B, 1))
    triton.runtime.driver.active.synchronize()
    text = failure_text(stub, "peers=2", lambda: bad[(1,)](array(A, 0), array(A, 0)))
    assert "cuda:1" not in text


def test_addresses_in_a_table_of_numbers_are_not_questioned(peers, array):
    @triton.jit
    def kernel(table, out):
        tl.store(out, tl.load(tl.load(table).to(tl.pointer_type(tl.float32))))

    for _ in range(2):
        kernel[(1,)](array(A, 0, 0, 64), array(A + 64, 0))
    assert [launch["device"] for launch in peers.launches()] == [0, 0]
    assert not peers.calls("cuPointerGetAttribute")


def test_memory_on_one_gpu_asks_the_driver_nothing(peers, array):
    kernel = make_kernel()
    for _ in range(3):
        kernel[(1,)](array(A, 0), 5, 0.5, True, array(A, 0))
    assert not peers.calls("cuPointerGetAttribute")
