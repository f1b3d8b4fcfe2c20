"""Kernels that only our launcher launches: tensor maps by value, and the plain kernel for arguments that do not fit."""
# SPDX-License-Identifier: MIT

import struct
import threading

import pytest
import triton
import triton.language as tl
from _stub_cuda import compile_by_hand, exchange_array_class, use_stub
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

X, Y = 0x7F0000001000, 0x7F0000200000
CONSTANT, ARGUMENT, MUL, SUB = 0, 1, 4, 3


def code(*words):
    return {"code": list(words)}


# Of x[n, 64], for at least 32 rows.
OWN = {
    "abi": "own",
    "tensorMaps": [
        {
            "base": code(ARGUMENT, 0),
            "extents": [code(CONSTANT, 64), code(ARGUMENT, 1)],
            "strides": [code(CONSTANT, 128)],
            "box": [64, 32],
            "elementType": 6,
            "elementBytes": 2,
            "swizzleBytes": 128,
            "padsWithNan": False,
        }
    ],
    "conditions": [code(ARGUMENT, 1, CONSTANT, 32, SUB)],
}


class Map:
    """A tensor map as the stub encodes it."""

    def __init__(self, text):
        fields = struct.unpack("<Q5Q4Q5H5B", bytes.fromhex(text)[:95])
        self.base, self.extents, self.strides = fields[0], fields[1:3], fields[6]
        self.box, (self.type, self.rank, self.swizzle) = fields[10:12], fields[15:18]


@pytest.fixture
def compiled():
    """The launch ABIs that were compiled for."""
    return []


@pytest.fixture
def stub(monkeypatch, compiled):
    for each in use_stub():
        plain, own = compile_by_hand(each), compile_by_hand(each, **OWN)

        def compile(src, target=None, options=None, _launch_abi="plain", **more):  # noqa: A001
            compiled.append(_launch_abi)
            return (own if _launch_abi == "own" else plain)(src, target, options, **more)

        monkeypatch.setattr(triton.compiler, "compile", compile)
        yield each


@pytest.fixture
def array(stub):
    return exchange_array_class()


def make_kernel():
    @triton.jit
    def kernel(x_ptr, n, y_ptr):
        tl.store(y_ptr, tl.load(x_ptr) + n)

    return kernel


def has_map(launch):
    return [len(text) for text in launch["arguments"]] == [16, 8, 16, 256, 16, 16]


def test_tensor_maps_are_passed_by_value(stub, array, compiled):
    kernel = make_kernel()
    for rows in (32, 48, 64):
        result = kernel[(1,)](array(X), rows, array(Y))
    assert compiled == ["own"]
    assert result.n_regs == 32
    for rows, launch in zip((32, 48, 64), stub.launches(), strict=True):
        assert has_map(launch)
        assert launch["arguments"][:3] == [
            struct.pack("<Q", X).hex(),
            struct.pack("<i", rows).hex(),
            struct.pack("<Q", Y).hex(),
        ]
        given = Map(launch["arguments"][3])
        assert (given.base, given.extents, given.strides) == (X, (64, rows), 128)
        assert (given.box, given.type, given.rank, given.swizzle) == ((64, 32), 6, 2, 3)


def test_known_arguments_make_no_new_map(stub, array):
    kernel = make_kernel()
    for y in range(5):
        kernel[(1,)](array(X), 48, array(Y + 16 * y))
    assert len(stub.calls("cuTensorMapEncodeTiled")) == 1


def test_arguments_that_do_not_fit_take_the_plain_kernel(stub, array, compiled):
    kernel = make_kernel()
    rows = (48, 16, 64, 16, 0, 48)
    for number in rows:
        kernel[(1,)](array(X), number, array(Y))
    assert compiled == ["own", "plain"]
    assert [has_map(launch) for launch in stub.launches()] == [number >= 32 for number in rows]
    for number, launch in zip(rows, stub.launches(), strict=True):
        assert launch["arguments"][1] == struct.pack("<i", number).hex()


def test_first_launch_may_be_one_that_does_not_fit(stub, array, compiled):
    kernel = make_kernel()
    kernel[(1,)](array(X), 16, array(Y))
    kernel[(1,)](array(X), 48, array(Y))
    assert compiled == ["own", "plain"]
    assert [has_map(launch) for launch in stub.launches()] == [False, True]


def test_plain_kernel_is_launched_without_python(stub, array, monkeypatch):
    kernel = make_kernel()
    kernel[(1,)](array(X), 16, array(Y))
    calls = []
    monkeypatch.setattr(triton.JITFunction, "_take_stream", lambda *args: calls.append(args))
    for number in (16, 48, 16):
        kernel[(1,)](array(X), number, array(Y))
    assert not calls
    assert [has_map(launch) for launch in stub.launches()] == [False, False, True, False]


def test_launch_hooks_and_compiled_kernels_choose_alike(stub, array, compiled):
    kernel, seen = make_kernel(), []
    compiled_kernel = kernel.warmup(array(X), 48, array(Y), grid=(1,))
    compiled_kernel[(1,)](array(X), 16, array(Y))
    compiled_kernel[(1,)](array(X), 48, array(Y))
    with knobs.runtime.scope():
        knobs.runtime.launch_enter_hook = lambda info: seen.append(info.get()["name"])
        kernel[(1,)](array(X), 16, array(Y))
        kernel[(1,)](array(X), 48, array(Y))
    assert seen == ["kernel", "kernel"]
    assert compiled == ["own", "plain"]
    assert [has_map(launch) for launch in stub.launches()] == [False, True, False, True]


def test_a_launch_without_a_plain_kernel_names_the_condition(stub, array):
    function = make_kernel().warmup(array(X), 48, array(Y), grid=(1,))
    function._init_handles()
    with pytest.raises(RuntimeError, match=r"condition 0 is -16 \[launch-arguments\]"):
        function.function.launch(1, 1, 1, 0, (array(X), 16, array(Y)))
    assert not stub.launches()


def test_other_kernels_are_not_taken_for_the_plain_one(stub, array):
    @triton.jit
    def other(x_ptr, n):
        tl.store(x_ptr, n)

    own = make_kernel().warmup(array(X), 48, array(Y), grid=(1,))
    with knobs.runtime.scope():
        knobs.runtime.launch_abi = "plain"
        plain = other.warmup(array(X), 48, grid=(1,))
    for each in (own, plain):
        each._init_handles()
    for wrong in (plain.function, own.function):
        with pytest.raises(ValueError, match="is not the plain form of `kernel`"):
            own.function.set_plain(wrong)


def test_setting_turns_it_off(stub, array, compiled, monkeypatch):
    kernel = make_kernel()
    kernel[(1,)](array(X), 48, array(Y))
    with knobs.runtime.scope():
        knobs.runtime.launch_abi = "plain"
        kernel[(1,)](array(X), 48, array(Y))
    kernel[(1,)](array(X), 48, array(Y))
    assert compiled == ["own", "plain"]
    assert [has_map(launch) for launch in stub.launches()] == [True, False, True]
    monkeypatch.setenv("TRITON_LAUNCH_ABI", "both")
    with pytest.raises(ValueError, match="TRITON_LAUNCH_ABI is 'both'; it must be own or plain"):
        knobs.runtime.launch_abi  # noqa: B018


def test_threads_choose_by_their_own_arguments(stub, array):
    kernel = make_kernel()
    kernel[(1,)](array(X), 48, array(Y))

    def launch(number):
        for _ in range(50):
            kernel[(number,)](array(X), number, array(Y))

    threads = [threading.Thread(target=launch, args=(16 * (1 + i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(stub.launches()) == 201
    for each in stub.launches()[1:]:
        number = each["grid"][0]
        assert has_map(each) == (number >= 32)
        if number >= 32:
            assert Map(each["arguments"][3]).extents == (64, number)


def test_captures_record_the_launch_alone(stub, array):
    kernel = make_kernel()
    kernel[(1,)](array(X), 48, array(Y))
    stub.clear()
    stub.set_capturing(True)
    kernel[(1,)](array(X), 48, array(Y), stream=8)
    kernel[(1,)](array(X), 64, array(Y), stream=8)
    stub.set_capturing(False)
    assert [has_map(launch) for launch in stub.launches()] == [True, True]


@pytest.mark.parametrize("launches", [1, 3])
def test_persistent_kernels_take_grids_that_they_can_count(launches, monkeypatch):
    for stub in use_stub():
        array, kernel, compiled = exchange_array_class(), make_kernel(), []
        kinds = {
            "own": compile_by_hand(stub, abi="own", persistent=True),
            "plain": compile_by_hand(stub),
        }

        def compile(src, target=None, options=None, _launch_abi="plain", **more):  # noqa: A001
            compiled.append(_launch_abi)
            return kinds[_launch_abi](src, target, options, **more)

        monkeypatch.setattr(triton.compiler, "compile", compile)
        for _ in range(launches):
            kernel[(70, 11, 1)](array(X), 48, array(Y))
            kernel[(1 << 20, 1 << 15)](array(X), 48, array(Y))
        own, plain = stub.launches()[::2], stub.launches()[1::2]
        assert compiled == ["own", "plain"]
        assert all(each["grid"] == [264, 1, 1] for each in own)
        assert all(each["grid"] == [1 << 20, 1 << 15, 1] for each in plain)
        assert all(len(each["arguments"]) == 5 for each in plain)
        for each in own:
            assert each["arguments"][3:6] == ["46000000", "0b000000", "01000000"]
        counters = [each["arguments"][6] for each in own]
        assert len(set(counters)) == launches


def compiled_for(options, abi="own"):
    source = ASTSource(make_kernel(), {"x_ptr": "*fp16", "n": "i32", "y_ptr": "*fp16"})
    from triton.compiler.compiler import compile  # noqa: A004

    return compile(source, target=GPUTarget("cuda", 90, 32), options=options, _launch_abi=abi)


def test_abi_is_in_the_key_where_it_has_a_meaning():
    assert compiled_for({}).hash != compiled_for({}, "plain").hash
    for options in ({"num_ctas": 2}, {"launch_cooperative_grid": True}, {"arch": "sm80"}):
        assert compiled_for(options).hash == compiled_for(options, "plain").hash


def test_kernels_that_need_no_launcher_are_plain():
    kernel = compiled_for({})
    assert kernel._code.abi == "plain"
    assert not [name for name in kernel.metadata._fields if "abi" in name or "launcher" in name]
