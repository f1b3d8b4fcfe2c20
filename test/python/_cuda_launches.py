"""What tests of launches on a recording driver share: fixtures, a kernel, addresses."""
# SPDX-License-Identifier: MIT

import pytest
import triton
import triton.language as tl
from _stub_cuda import compile_by_hand, exchange_array_class, use_stub

A, B, C = 0x7F0000001000, 0x7F0000002010, 0x7F0000003004


@pytest.fixture
def stub(monkeypatch):
    for each in use_stub("devices=2"):
        monkeypatch.setattr(triton.compiler, "compile", compile_by_hand(each))
        yield each


@pytest.fixture
def array(stub):
    return exchange_array_class()


@pytest.fixture
def runs(monkeypatch):
    """Names of the launches that the native table did not contain."""
    seen, original = [], triton.JITFunction._take_stream

    def counted(function, kwargs):
        seen.append(function.__name__)
        return original(function, kwargs)

    monkeypatch.setattr(triton.JITFunction, "_take_stream", counted)
    return seen


def make_kernel():
    @triton.jit
    def kernel(x_ptr, n, scale, flag, y_ptr, BLOCK: tl.constexpr = 64):
        tl.store(y_ptr, tl.load(x_ptr) * scale + n)

    return kernel


def last(stub):
    return stub.launches()[-1]
