"""Errors in built-ins written in Python, and results that must not be dropped."""
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
    last = str(caught.value).split("\n")[-1]
    assert last == "The result of precious is not being used. Store it somewhere."


@triton.aggregate
class Counter:
    value: tl.constexpr

    @triton.must_use_result
    @triton.constexpr_function
    def twice(self):
        return 2 * self.value

    @triton.must_use_result
    @triton.jit
    def plus(self, n):
        return n + self.value


@triton.jit
def drops_of_method(n):
    counter = Counter(3)
    counter.plus(n)


@triton.jit
def drops_constant():
    counter = Counter(3)
    counter.twice()


@pytest.mark.parametrize(
    ("kernel", "args", "call"),
    [(drops_of_method, (3,), "counter.plus"), (drops_constant, (), "counter.twice")],
)
def test_results_of_methods_that_must_be_used(kernel, args, call):
    with pytest.raises(triton.CompilationError, match=f"The result of {call} is not being used"):
        kernel[(1,)](*args)
