"""Built-ins written in Python that go wrong, and results that must not be dropped."""
# SPDX-License-Identifier: MIT

import pytest
import triton
import triton.language as tl

kept = []


@tl.core.builtin
def keeps(x, _semantic=None):
    kept.append(x)
    return x


@tl.core.builtin
def returns_kept(_semantic=None):
    return kept[-1]


@tl.core.builtin
def raises(x, _semantic=None):
    raise LookupError("no such thing")


@tl.core.builtin
def misuses(x, _semantic=None):
    return _semantic.add(x, "text")


@triton.jit
def uses_kept(n):
    keeps(n)
    returns_kept()


@triton.jit
def uses_raises(n):
    raises(n)


@triton.jit
def uses_misuses(n):
    misuses(n)


@pytest.mark.parametrize(
    "kernel, cause, text",
    [
        (uses_kept, RuntimeError, "is over"),
        (uses_raises, LookupError, "no such thing"),
        (uses_misuses, TypeError, "unsupported operand"),
    ],
)
def test_exceptions_become_diagnostics(kernel, cause, text):
    with pytest.raises(triton.CompilationError, match=text) as caught:
        kernel[(1,)](3)
    assert isinstance(caught.value.__cause__, cause)
    assert f"at {3 if kernel is uses_kept else 2}:4" in str(caught.value)


def test_built_ins_need_a_kernel():
    with pytest.raises(ValueError, match="Did you forget to add @triton.jit"):
        raises(1)


@tl.core.must_use_result("Store it somewhere.")
@triton.jit
def precious(n):
    return n + 1


@triton.jit
def drops(n):
    precious(n)


def test_results_that_must_be_used():
    with pytest.raises(triton.CompilationError) as caught:
        drops[(1,)](3)
    assert caught.value.diagnostics[0].code == "result-unused"
    assert "The result of precious is not being used. Store it somewhere." in str(caught.value)
