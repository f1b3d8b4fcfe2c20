"""Functions outside of the language that packages import: driver, assembler, keys and signatures."""
# SPDX-License-Identifier: MIT

import copy
import re

import numpy as np
import pytest
import triton
import triton.language as tl
from triton._C import libtriton
from triton._utils import (
    apply_with_path,
    canonicalize_dtype,
    canonicalize_ptr_dtype,
    get_primitive_bitwidth,
    is_power_of_two,
    validate_block_shape,
)
from triton.backends.driver import decompose_descriptor, expand_signature
from triton.backends.nvidia.compiler import min_dot_size, ptx_get_version, sm_arch_from_capability
from triton.language.core import builtin_max
from triton.language.standard import sort_impl
from triton.runtime.jit import (
    compute_cache_key,
    convert_to_tuple_if_list,
    create_function_from_signature,
    get_def_col_number,
    serialize_specialization_data,
)
from triton.tools.tensor_descriptor import TensorDescriptor


def test_dtypes():
    names = {"torch.float16": "fp16", "bool": "u1", "float8_e4m3fn": "fp8e4nv", "fp32": "fp32"}
    assert {name: canonicalize_dtype(name) for name in names} == names
    assert canonicalize_dtype(np.dtype("int32")) == "i32"
    assert canonicalize_ptr_dtype("float", True) == "*kfp32"
    assert [get_primitive_bitwidth(name) for name in ("i64", "bf16", "float8e5")] == [64, 16, 8]
    with pytest.raises(KeyError):
        canonicalize_dtype("complex64")


def test_block_shapes():
    assert validate_block_shape([4, 8]) == 32 and not is_power_of_two(0)
    with pytest.raises(ValueError, match="element 1 must be a power of 2"):
        validate_block_shape([4, 3])
    with pytest.raises(TypeError, match="element 0 must have type"):
        validate_block_shape([2.0])
    with pytest.raises(ValueError, match="exceeds triton maximum tensor numel"):
        validate_block_shape([1 << 21])


def test_paths():
    seen = []
    apply_with_path((1, [2, (3,)]), lambda path, value: seen.append((path, value)))
    assert seen == [((0,), 1), ((1, 0), 2), ((1, 1, 0), 3)]


def test_descriptors_as_parts():
    descriptor = TensorDescriptor(np.zeros((4, 8), np.float32), [4, 8], [8, 1], [2, 8])
    parts = decompose_descriptor(descriptor)
    assert parts[0] is descriptor.base and parts[1:] == [4, 8, 8, 1, False, False, 4, 8, 8, 1]
    signature = ["i32", "tensordesc<fp32[2,8]>", ("*fp16", "tensordesc<i8[4]>")]
    plain = ["*fp32", *["i64"] * 4, "i1", "i1", "i32", "i32", "i64", "i64"]
    nested = ("*fp16", "*i8", "i64", "i64", "i1", "i1", "i32", "i64")
    assert expand_signature(signature, None, "map") == ["i32", *plain, nested]
    mapped = expand_signature(signature[:2], [{}], "map")
    assert mapped == ["i32", "map", "i32", "i32", "i64", "i64"]


def test_versions_of_ptx():
    versions = {"10.2": 65, "11.8": 78, "12.4": 84, "12.5": 85, "12.6": 85, "12.9": 88, "13.1": 91}
    assert {cuda: ptx_get_version(cuda) for cuda in versions} == versions
    with pytest.raises(RuntimeError, match=re.escape("9.0 is too old")):
        ptx_get_version("9.0")
    assert [sm_arch_from_capability(each) for each in (80, 90)] == ["sm_80", "sm_90a"]
    least = min_dot_size(None)
    assert least(tl.float16, tl.bfloat16) == (1, 1, 16) and least(tl.int8, tl.int8) == (1, 1, 32)


def test_keys():
    assert convert_to_tuple_if_list([1, [2, [3]]]) == (1, (2, (3,)))
    cache = {}
    key = compute_cache_key(cache, [("i32", "D"), ("constexpr", select_kernel)], {"num_warps": 4})
    assert (
        select_kernel.cache_key in key and "'num_warps': 4" in key and list(cache.values()) == [key]
    )
    assert get_def_col_number("@jit\n    def f(x):\n") == 5


def test_binding_by_a_signature():
    from triton.backends.compiler import GPUTarget
    from triton.compiler import make_backend

    backend = make_backend(GPUTarget("cpu", "", 32))
    bind = create_function_from_signature(select_kernel.signature, select_kernel.params, backend)
    bound, specialization, options = bind(np.zeros(16, np.float32), 3, K=2, num_warps=8)
    assert list(bound) == ["x", "out", "K", "DESCENDING"] and options == {"num_warps": 8}
    assert [kind for kind, _ in specialization] == ["*fp32", "i32", "constexpr", "constexpr"]


def test_a_serialized_kernel_is_preloaded(cpu_is_active):
    target = triton.runtime.driver.active.get_current_target()
    from triton.compiler import make_backend

    options = make_backend(target).parse_options({})
    signature = {"x": "*fp32", "out": "*fp32", "K": "constexpr", "DESCENDING": "constexpr"}
    constants = {(2,): 4, (3,): True}
    name = f"{select_kernel.__module__}.{select_kernel.__qualname__}"
    text = serialize_specialization_data(name, signature, constants, {}, options, "key", target)
    compiled = select_kernel.preload(text)
    x, out = np.arange(16, dtype=np.float32), np.zeros(4, np.float32)
    compiled[(1, 1, 1)](x, out)
    assert out.tolist() == [15, 14, 13, 12]


@triton.jit
def select_kernel(x, out, K: tl.constexpr, DESCENDING: tl.constexpr = False):
    values = tl.load(x + tl.arange(0, 16))
    tl.store(out + tl.arange(0, K), sort_impl(values, K, 0, DESCENDING))


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32"])
@pytest.mark.parametrize("descending", [False, True])
def test_the_first_in_order(dtype, descending):
    x, out = np.random.default_rng(0).permutation(16).astype(dtype), np.zeros(4, dtype)
    select_kernel[(1,)](x, out, K=4, DESCENDING=descending)
    assert np.array_equal(out, np.sort(x)[::-1][:4] if descending else np.sort(x)[:4])


@triton.jit
def combined_kernel(x, out, SUM: tl.constexpr, INDEXED: tl.constexpr):
    at = tl.arange(0, 16)
    values = tl.load(x + at)
    if INDEXED:
        _, at = tl.reduce((values, at), 0, SUM)
        tl.store(out, at)
    else:
        tl.store(out, tl.reduce(values, 0, SUM))


@pytest.mark.parametrize(
    "name, expected",
    [
        ("_sum_combine", np.sum),
        ("_prod_combine", np.prod),
        ("_xor_combine", np.bitwise_xor.reduce),
        ("_or_combine", np.bitwise_or.reduce),
        ("_elementwise_max", np.max),
        ("_elementwise_min", np.min),
        ("_argmax_combine_tie_break_left", np.argmax),
        ("_argmin_combine_tie_break_left", np.argmin),
        ("_argmax_combine_tie_break_fast", np.argmax),
        ("_argmin_combine_tie_break_fast", np.argmin),
    ],
)
def test_functions_that_combine_elements(name, expected):
    x, out = np.random.default_rng(0).permutation(16).astype(np.int32) - 5, np.zeros(1, np.int32)
    x[3] = 2 if "left" in name else x[3]
    combined_kernel[(1,)](x, out, getattr(tl.standard, name), INDEXED="arg" in name)
    assert out[0] == expected(x).astype(np.int32)


larger_of = builtin_max


@triton.jit
def larger_kernel(out, LIMIT: tl.constexpr):
    tl.store(out, larger_of(tl.load(out), LIMIT))


def test_builtins_in_kernels():
    out = np.zeros(1, np.int32)
    larger_kernel[(1,)](out, 7)
    assert out.tolist() == [7]


@triton.constexpr_function
def _scaled(x, factor=2, *rest):
    """Of module level: it can be pickled."""
    return (type(x).__name__, x * factor, *rest)


def test_constexpr_functions_are_called_with_values():
    constant = tl.constexpr
    for arguments in [(3,), (3, 4), (3.5, 2), (True,), ("a", 3), (3, 2, None)]:
        assert _scaled(*arguments) == _scaled.fn(*arguments)
        # Each call is right after another one of the other kind.
        assert _scaled(*map(constant, arguments)) == _scaled.fn(*arguments)
    assert _scaled(constant(3), factor=constant(5)) == ("int", 15)
    assert _scaled(np.int32(3), 2) == ("int32", 6)
    assert triton.cdiv(7, constant(2)) == triton.cdiv(x=7, y=2) == 4
    with pytest.raises(TypeError, match=r"cdiv\(\) missing 1 required positional argument: 'y'"):
        triton.cdiv(7)
    assert copy.copy(_scaled)(1) == copy.deepcopy(_scaled)(1) == ("int", 2)
    other = triton.constexpr_function(_scaled.fn)
    other.fn = str
    assert other(3) == other(constant(3)) == "3"


def test_only_constexpr_functions_are_called_natively():
    for wrong in (int, 3, object):
        with pytest.raises(TypeError, match="expected a subclass of PlainCall or BoundLaunch"):
            libtriton.call_natively(wrong)
