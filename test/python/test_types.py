"""Type objects and compile-time values on the host."""
# SPDX-License-Identifier: MIT

import copy
import pickle

import pytest
import triton
import triton.language as tl

SCALARS = {
    "int1": ("int1", 1),
    "int8": ("int8", 8),
    "int16": ("int16", 16),
    "int32": ("int32", 32),
    "int64": ("int64", 64),
    "uint8": ("uint8", 8),
    "uint16": ("uint16", 16),
    "uint32": ("uint32", 32),
    "uint64": ("uint64", 64),
    "float8e5": ("fp8e5", 8),
    "float8e5b16": ("fp8e5b16", 8),
    "float8e4nv": ("fp8e4nv", 8),
    "float8e4b8": ("fp8e4b8", 8),
    "float8e4b15": ("fp8e4b15", 8),
    "float16": ("fp16", 16),
    "bfloat16": ("bf16", 16),
    "float32": ("fp32", 32),
    "float64": ("fp64", 64),
}


@pytest.mark.parametrize("name", SCALARS)
def test_scalar_types(name):
    dtype = getattr(tl, name)
    assert (dtype.name, dtype.primitive_bitwidth) == SCALARS[name]
    assert dtype.itemsize == dtype.primitive_bitwidth // 8
    assert eval(repr(dtype), {"triton": triton}) is dtype
    assert copy.deepcopy(dtype) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert tl.dtype(dtype.name) is dtype
    assert dtype.scalar is dtype and not dtype.is_block() and not dtype.is_ptr()
    assert str(dtype) == dtype.name


def test_kinds():
    kind = tl.dtype.KIND
    assert [t.kind() for t in (tl.int1, tl.uint8, tl.int64, tl.bfloat16)] == [
        kind.BOOLEAN,
        kind.INTEGRAL,
        kind.INTEGRAL,
        kind.FLOATING,
    ]
    assert tl.int1.is_int_unsigned() and tl.int1.is_bool() and tl.int1.itemsize == 0
    assert tl.int8.is_int_signed() and tl.uint8.is_int_unsigned()
    assert (
        tl.float16.is_standard_floating()
        and not tl.float8e5.is_standard_floating()
        and tl.float8e5.is_fp8()
    )
    assert (
        tl.int8.get_int_min_value(),
        tl.int8.get_int_max_value(),
        tl.uint8.get_int_max_value(),
    ) == (-128, 127, 255)
    assert (tl.float32.fp_mantissa_width, tl.float16.exponent_bias) == (23, 15)


@pytest.mark.parametrize("name", SCALARS)
def test_predicates_by_name(name):
    """Each `is_<type>` is true for its own type, of all scalars."""
    dtype, short = getattr(tl, name), SCALARS[name][0]
    for other, _ in SCALARS.values():
        assert getattr(dtype, f"is_{other}")() == (other == short), other
    assert dtype.is_int() == ("int" in name) and not dtype.is_void() and not dtype.is_const()
    assert dtype.is_fp8() == short.startswith("fp8") and dtype.is_floating() == (not dtype.is_int())
    assert tl.dtype.is_dtype(short) and not tl.dtype.is_dtype(short + "x")
    spelled = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
    assert dtype.codegen_name() == spelled.get(short, short.replace("fp8", "float8"))
    assert dtype.cache_key_part == short


def test_lists_of_types():
    signed, unsigned = tl.dtype.SINT_TYPES, tl.dtype.UINT_TYPES
    assert signed == ["int8", "int16", "int32", "int64"]
    assert unsigned == ["int1", "uint8", "uint16", "uint32", "uint64"]
    assert tl.dtype.STANDARD_FP_TYPES == ["fp16", "bf16", "fp32", "fp64"]
    assert tl.dtype.OTHER_TYPES == ["void"]
    every = {*signed, *unsigned, *tl.dtype.FP_TYPES}
    assert every == {short for short, _ in SCALARS.values()}
    assert tl.int8.int_signedness == tl.dtype.SIGNEDNESS.SIGNED != tl.uint8.int_signedness
    assert tl.void.is_void() and tl.void.name == "void"
    assert tl.pi32_t == tl.pointer_type(tl.int32)
    assert tl.TRITON_MAX_TENSOR_NUMEL == 1 << 20


def test_pointers():
    pointer = tl.pointer_type(tl.float32)
    assert str(pointer) == "pointer<fp32>" and pointer.is_ptr() and pointer.element_ty is tl.float32
    assert pointer == tl.pointer_type(tl.float32) != tl.pointer_type(tl.float32, 1, True)
    assert str(tl.pointer_type(tl.int8, 1, True)) == "const_pointer<int8>"
    assert pointer.mangle() == "Pfp32"
    with pytest.raises(TypeError):
        tl.pointer_type("fp32")


def test_blocks():
    block = tl.block_type(tl.float32, [16, 32])
    assert block.get_block_shapes() == (16, 32)
    assert (block.shape, block.numel, block.nbytes, block.scalar) == (
        (16, 32),
        512,
        2048,
        tl.float32,
    )
    assert block.is_block() and block.mangle() == "fp32S16_32S"
    assert block.with_element_ty(tl.int8) == tl.block_type(tl.int8, [16, 32])
    with pytest.raises(ValueError, match="Shape element 0 must be a power of 2"):
        tl.block_type(tl.int32, [3])
    with pytest.raises(TypeError, match="0d block_type is forbidden"):
        tl.block_type(tl.int32, [])
    with pytest.raises(ValueError, match="exceeds triton maximum tensor numel"):
        tl.block_type(tl.int32, [2048, 1024])


def test_signature_texts():
    assert tl.str_to_ty("*fp32", None) == tl.pointer_type(tl.float32)
    assert tl.str_to_ty("*ki8", None) == tl.pointer_type(tl.int8, 1, True)
    assert tl.str_to_ty("u1", None) is tl.int1
    assert tl.str_to_ty("constexpr", 5).mangle() == "c5"
    assert tl.str_to_ty(("i32", "*fp16"), None).types == [tl.int32, tl.pointer_type(tl.float16)]
    assert tl.str_to_ty("tensordesc<fp16[64, 32]>", None).block_type == tl.block_type(
        tl.float16, [64, 32]
    )
    with pytest.raises(KeyError, match="f31"):
        tl.str_to_ty("f31", None)


def test_integer_types_by_width():
    assert tl.core.get_int_dtype(bitwidth=16, signed=True) is tl.int16
    assert tl.core.get_int_dtype(64, False) is tl.uint64
    assert tl.core.get_int_dtype(1, True) is tl.int1
    with pytest.raises(ValueError):
        tl.core.get_int_dtype(7, True)


def test_constexpr_arithmetic():
    c = tl.constexpr
    assert (
        (c(7) + 3).value == 10
        and (3 - c(7)).value == -4
        and (7 // c(2)).value == 3
        and (-7 // c(2)).value == -4
    )
    assert (
        (c(7) / 2).value == 3.5
        and (2 ** c(5)).value == 32
        and (c(1) << 4).value == 16
        and (c(6) & 3).value == 2
    )
    assert (-c(3)).value == -3 and (~c(0)).value == -1
    assert bool(c(3) == 3) and not bool(c(3) != c(3)) and bool(c(2) < 3) and isinstance(c(2) < 3, c)
    assert c(c(5)).value == 5 and [10, 20, 30][c(1)] == 20 and bool(c(0)) is False
    assert c(True).logical_and(c(False)).value is False and c(0).logical_or(5).value == 5
    assert list(c((1, 2))) == [1, 2] and c((1, 2))[c(0)] == 1 and c(int)("3") == 3
    assert repr(c(4)) == "constexpr[4]"


def test_unwrapping():
    unwrap = tl.core._unwrap_if_constexpr
    assert (
        unwrap(tl.constexpr(3)) == 3
        and unwrap([tl.constexpr(1), 2]) == [1, 2]
        and unwrap("x") == "x"
    )


def test_language_tuples():
    values = tl.tuple([1, 2, 3])
    assert len(values) == 3 and values[tl.constexpr(1)] == 2 and list(values[1:]) == [2, 3]
    assert list(values + (4,)) == [1, 2, 3, 4] and list(values * tl.constexpr(2)) == [1, 2, 3] * 2
    assert bool(values == (1, 2, 3))


def test_constexpr_function_on_the_host():
    @triton.constexpr_function
    def double(x):
        return x * 2

    assert double(tl.constexpr(4)) == 8 and double(4) == 8
    assert double.src.startswith("def double(x)")
    assert double(4, _semantic=object()).value == 8


def test_derived_types():
    pair = tl.tuple_type([tl.int32, tl.pointer_type(tl.float32)])
    assert pair.mangle() == "Ti32_Pfp32T" and list(pair) == pair.types
    assert tl.constexpr_type(5).mangle() == "c5" and tl.constexpr_type(5) == tl.constexpr_type(5)
    block = tl.block_type(tl.float16, [16, 32])
    assert tl.block_type.of_tile(tl.float16, (16, 32)) == block
    parts = tl.tuple_type([tl.int32] * 2), tl.tuple_type([tl.int64] * 2)
    described = tl.tensor_descriptor_type(block, *parts)
    assert described.mangle() == "TDfp16S16_32S"
    assert described != tl.tensor_descriptor_type(tl.block_type(tl.float16, [16, 16]), *parts)
    assert all(isinstance(kind, tl.base_type) for kind in (pair, described, block, tl.int8))
    assert issubclass(tl.tensor, tl.base_value) and issubclass(tl.tensor_descriptor, tl.base_value)
    assert list(tl.tensor_descriptor(None, (), (), block).block_shape) == [16, 32]
    part = tl.slice(1, None, 2)
    assert (part.start, part.stop, part.step) == (1, None, 2)
    assert tl.constexpr(0).not_().value is True and tl.constexpr("x").not_().value is False


@pytest.mark.parametrize("name", ["dtype", "tensor", "constexpr", "pointer_type", "get_int_dtype"])
def test_types_say_that_they_live_in_core(name):
    thing = getattr(tl.core, name)
    assert thing.__module__ == "triton.language.core"
    assert pickle.loads(pickle.dumps(thing)) is thing


def test_types_of_arguments_in_cpp():
    from triton.backends.cpu.driver import CPUDriver

    names = ("*fp32", "i1", "u1", "i16", "u32", "bf16", "f32", "fp64")
    types = "void* int8_t uint8_t int16_t uint32_t float float double".split()
    assert [CPUDriver().map_python_to_cpp_type(name) for name in names] == types
