"""Arguments that contain others: specialisation, caching, preloading and refusal of launches with them."""
# SPDX-License-Identifier: MIT

import collections
import dataclasses

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.compiler import ASTSource

Pair = collections.namedtuple("Pair", "ptr value")


@dataclasses.dataclass
class Place:
    ptr: object
    value: object


@dataclasses.dataclass
class Target:
    ptr: object
    value: object


def make_kernel():
    @triton.jit
    def kernel(pair):
        tl.store(pair[0], pair[1])

    return kernel


def make_named():
    @triton.jit
    def named(pair):
        tl.store(pair.ptr, pair.value)

    return named


def variants(kernel):
    return len(kernel.device_caches["cpu:0"][0])


def test_each_value_is_specialised_by_itself():
    kernel = make_kernel()
    out = np.zeros(16, np.int32)
    for value, known in [(5, 1), (7, 1), (16, 2), (32, 2), (1, 3), (2**40, 4), (2.5, 5), (True, 6)]:
        kernel[(1,)]((out, value))
        assert variants(kernel) == known, value
        assert out[0] == np.array(value).astype(np.int32)
    kernel[(1,)]((out[1:], 5))
    assert variants(kernel) == 7  # an address that is not a multiple of 16
    kernel[(1,)]((out.astype(np.float32), 5))
    assert variants(kernel) == 8


@pytest.mark.parametrize("make", [lambda *parts: parts, Pair, Place])
def test_known_launches_stay_native(make, monkeypatch):
    kernel = make_kernel() if make not in (Pair, Place) else make_named()
    out = np.zeros(4, np.int64)
    first = kernel[(1,)](make(out, 5))

    def take_stream(*args):
        raise AssertionError("the launch went through Python")

    monkeypatch.setattr(kernel, "_take_stream", take_stream)
    for value in (7, -3, 2**31 - 1):
        assert kernel[(1,)](make(out, value)) is first
        assert out[0] == value
    with pytest.raises(AssertionError, match="through Python"):
        kernel[(1,)](make(out, 16))


def test_classes_of_equal_fields_have_kernels_of_their_own():
    kernel = make_named()
    out = np.zeros(1, np.int32)
    hashes = set()
    for made in (Pair(out, 5), Target(out, 6), Place(out, 7)):
        hashes.add(kernel[(1,)](made).metadata.hash)
        assert out[0] == made.value
    assert len(hashes) == 3
    with pytest.raises(triton.CompilationError, match="ptr"):
        kernel[(1,)]((out, 5))


@pytest.mark.usefixtures("cpu_is_active")
def test_warmup_takes_types_in_tuples():
    torch = pytest.importorskip("torch")
    kernel = make_kernel()
    compiled = kernel.warmup((torch.float32, 5), grid=(1,))
    assert compiled.src.signature == {"pair": ("*fp32", "i32")}
    out = torch.zeros(4)
    assert kernel[(1,)]((out, 3)) is compiled and out[0] == 3


@pytest.mark.usefixtures("cpu_is_active")
def test_compiling_for_nested_signatures():
    @triton.jit
    def kernel(nested, n):
        (first, scale), second = nested
        tl.store(second + n, tl.load(first) * scale)

    signature = {"nested": (("*fp32", "constexpr"), "*fp32"), "n": "i32"}
    attributes = {(0, 1): [["tt.divisibility", 16]]}
    source = ASTSource(kernel, signature, {(0, 0, 1): 4}, attributes)
    compiled = triton.compile(source)
    ttir = compiled.asm["ttir"]
    assert "%nested.0.0: !tt.ptr<f32>" in ttir
    assert "%nested.1: !tt.ptr<f32> {tt.divisibility = 16 : i32}" in ttir
    x, out = np.array([2.5], np.float32), np.zeros(3, np.float32)
    compiled[(1, 1, 1)](((x, 4), out), 2)
    assert out.tolist() == [0, 0, 10]
    with pytest.raises(TypeError, match=r"there is no value for `nested\.1`"):
        compiled[(1, 1, 1)](((x, 4),), 2)
    with pytest.raises(ValueError, match=r"`nested\[0\]\[1\]` is constexpr, but no value"):
        triton.compile(ASTSource(kernel, signature))


def test_values_that_do_not_fit_are_named():
    kernel = make_named()
    out = np.zeros(1, np.int32)
    compiled = kernel[(1,)](Pair(out, 5))
    with pytest.raises(OverflowError, match=r"argument `pair\.value` is 4294967296"):
        compiled[(1, 1, 1)](Pair(out, 2**32))
    with pytest.raises(TypeError, match=r"failed to specialize argument of type: object"):
        kernel[(1,)](Pair(out, object()))
    frozen = np.zeros(1, np.int32)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match=r"writes to argument `pair\.ptr`"):
        kernel[(1,)](Pair(frozen, 5))


@pytest.mark.usefixtures("cpu_is_active")
def test_descriptions_with_tuples_compile_again(monkeypatch):
    seen = []
    hook = lambda **info: seen.append(info["compile"])  # noqa: E731
    monkeypatch.setattr(triton.knobs.runtime, "jit_cache_hook", hook)
    out = np.zeros(1, np.int32)
    kernel = make_kernel()
    kernel[(1,)]((out, 5))
    make_named()[(1,)](Pair(out, 5))
    data, nameless = (info["specialization_data"] for info in seen)
    assert nameless is None  # a class cannot be serialised
    again = make_kernel()
    compiled = again.preload(data)
    compiled[(1, 1, 1)]((out, 9))
    assert out[0] == 9
