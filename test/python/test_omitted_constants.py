"""Constants that a caller of the compiler leaves out have their parameters' defaults."""
# SPDX-License-Identifier: MIT

import types

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def kernel(
    x, out, n, BLOCK: tl.constexpr, SQUARE: tl.constexpr = False, SCALE: tl.constexpr = 3, HOW: tl.constexpr = "add",
    EXTRA: tl.constexpr = None,
):  # fmt: skip
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, at < n) * SCALE
    if SQUARE:
        value *= value
    if HOW == "add":
        value += 1
    if EXTRA is not None:
        value += EXTRA
    tl.store(out + at, value, at < n)


TYPES = {"x": "*fp32", "out": "*fp32", "n": "i32"} | dict.fromkeys(
    ["BLOCK", "SQUARE", "SCALE", "HOW", "EXTRA"], "constexpr"
)


def text_of(signature, constants):
    source = ASTSource(kernel, signature, constants)
    return triton.compile(source, target=GPUTarget("cpu", "", 32)).asm["ttir"]


@pytest.mark.parametrize("names", [str, lambda name: (kernel.arg_names.index(name),)])
@pytest.mark.parametrize("listed", [True, False])
def test_of_triton_compile(names, listed):
    signature = TYPES if listed else {name: TYPES[name] for name in ["x", "out", "n", "BLOCK"]}
    full = {"BLOCK": 64, "SQUARE": False, "SCALE": 3, "HOW": "add", "EXTRA": None}
    given = text_of(signature, {names(name): value for name, value in full.items()})
    omitted = text_of(signature, {names("BLOCK"): 64})
    other = text_of(signature, {names("BLOCK"): 64, names("SQUARE"): True})
    assert omitted == given and other != given


@triton.jit
def first(out, FLAG: tl.constexpr = 3, ONLY: tl.constexpr = 1):
    tl.store(out, FLAG + ONLY)


@triton.jit
def second(out, FLAG: tl.constexpr = 5):
    tl.store(out, FLAG)


@pytest.mark.parametrize("given", [{}, {"FLAG": 4}, {(1,): 4}])
def test_the_dict_of_one_kernel_serves_for_another(given):
    constants = dict(given)
    one = ASTSource(first, {"out": "*i32"}, constants)
    assert one.constants == {(1,): 4 if given else 3, (2,): 1}
    assert constants == given
    assert ASTSource(second, {"out": "*i32"}, constants).constants == {(1,): 4 if given else 5}


def test_a_read_only_mapping_of_constants_is_accepted():
    constants = types.MappingProxyType({"FLAG": 4})
    assert ASTSource(first, {"out": "*i32"}, constants).constants == {(1,): 4, (2,): 1}


def test_a_constant_without_default_is_asked_for():
    with pytest.raises(ValueError, match="`BLOCK` is constexpr, but no value is given"):
        text_of(TYPES, {"SQUARE": True})


def test_under_torch_compile():
    torch = pytest.importorskip("torch")

    def function(x, **more):
        out = torch.empty_like(x)
        kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64, **more)
        return out

    x = torch.arange(100, dtype=torch.float32)
    torch._dynamo.reset()
    compiled = torch.compile(function, fullgraph=True)
    np.testing.assert_array_equal(compiled(x), x * 3 + 1)
    np.testing.assert_array_equal(compiled(x, SQUARE=True, EXTRA=2), (x * 3) ** 2 + 3)


def test_in_a_triton_op():
    torch = pytest.importorskip("torch")

    @torch.library.triton_op("nereid_omitted::scaled", mutates_args={})
    def scaled(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        torch.library.wrap_triton(kernel)[(triton.cdiv(x.numel(), 64),)](
            x, out, x.numel(), BLOCK=64
        )
        return out

    x = torch.arange(100, dtype=torch.float32)
    torch._dynamo.reset()
    compiled = torch.compile(scaled, fullgraph=True)
    np.testing.assert_array_equal(compiled(x), x * 3 + 1)
