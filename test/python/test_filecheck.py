"""`triton._filecheck`: kernels with FileCheck's directives in their comments."""
# SPDX-License-Identifier: MIT

import pytest
import triton
import triton.language as tl
from triton import _filecheck
from triton._filecheck import filecheck_test, run_filecheck, run_filecheck_test, run_parser


@pytest.fixture(scope="module", autouse=True)
def program():
    try:
        _filecheck._program()
    except RuntimeError as error:
        pytest.skip(str(error))


@triton.jit
def twice(x):
    return x + x


@filecheck_test
@triton.jit
def test_of_a_kernel():
    # CHECK-LABEL: test_of_a_kernel
    # CHECK: %[[I:.*]] = tt.make_range
    # CHECK: tt.call @{{.*}}twice{{.*}}(%[[I]])
    twice(tl.arange(0, 16))


@triton.jit
def copy(x, out, N: tl.constexpr):
    # CHECK: tt.func public @copy(%{{.*}}: !tt.ptr<f32> {tt.divisibility = 16 : i32}
    # CHECK: tt.load
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i))
    # CHECK: tt.store
    # CHECK-NOT: tt.store


def test_arguments():
    from triton.runtime.jit import MockTensor

    run_filecheck_test(copy, (MockTensor(tl.float32), MockTensor(tl.float32), 64))
    with pytest.raises(ValueError, match="expected string not found"):
        run_filecheck_test(copy, (MockTensor(tl.float16), MockTensor(tl.float16), 64))
    text = str(run_parser(copy, (MockTensor(tl.float32), MockTensor(tl.float32), 64)))
    assert "tensor<64x!tt.ptr<f32>>" in text


def test_what_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="no check strings found"):
        run_filecheck("x", "text", "no directive")
    with pytest.raises(TypeError, match="not a kernel"):
        run_filecheck_test(lambda: None)
    error = _filecheck.MatchError("no", "module {}")
    assert str(error) == "no\nmodule {}"
    monkeypatch.setattr(_filecheck, "_PROGRAMS", ())
    with pytest.raises(RuntimeError, match="is on the PATH"):
        run_filecheck("x", "a", "# CHECK: a")
