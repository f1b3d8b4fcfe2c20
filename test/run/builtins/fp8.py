"""fp8: all values and both rounding modes of every conversion, arithmetic, promotion."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _fp8 import FORMATS, interesting
from _pointwise import OF_TL
from harness import BFloat16, Float8, check, launch

FLOATS = ["float16", "bfloat16", "float32", "float64"]
BLOCK = 256
ALL_CODES = np.arange(256, dtype=np.uint8)


ON_CUDA = ["float8e5", "float8e4nv", "float8e4b15"]
ON_AMD = ["float8e5", "float8e4nv", "float8e5b16", "float8e4b8"]


@pytest.fixture(autouse=True)
def _skip_missing_formats(request, device):
    params = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    present = ON_AMD if "gfx" in device else ON_CUDA
    missing = [each for each in params.values() if each in FORMATS and each not in present]
    if missing and device != "cpu":
        pytest.skip(f"{missing[0]} is not supported on this device")


@triton.jit
def convert(x_ptr, out_ptr, n, TO: tl.constexpr, ROUNDING: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.cast(x, TO, fp_downcast_rounding=ROUNDING), mask=i < n)


def check_conversion(x, out, expected, to, device, rounding=None):
    n = x.shape[0]
    arguments = dict(x_ptr=x, out_ptr=out, n=n, TO=to, ROUNDING=rounding, BLOCK=BLOCK)
    check(convert, (triton.cdiv(n, BLOCK),), arguments, dict(out_ptr=expected), device=device)


def as_float(name, x):
    with np.errstate(all="ignore"):
        return BFloat16(x) if name == "bfloat16" else np.asarray(x).astype(name)


def blank(name, n):
    return BFloat16(np.full(n, -7.0)) if name == "bfloat16" else np.ones(n, name)


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", FORMATS)
def test_every_code_widens_exactly(source, target, device):
    codes = Float8(ALL_CODES, source)
    expected = as_float(target, FORMATS[source].decoded)
    check_conversion(codes, blank(target, 256), expected, OF_TL[target], device)


@pytest.mark.parametrize("rounding", ["rtne", "rtz"])
@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", FORMATS)
def test_narrowing_rounds_right(source, target, rounding, device):
    x = interesting(FORMATS[target], source)
    expected = FORMATS[target].encode(x, toward_zero=rounding == "rtz")
    given = BFloat16(x) if source == "bfloat16" else x
    out = Float8(np.full(x.size, 0xCD), target)
    check_conversion(
        given, out, Float8(expected, target), getattr(tl, target), device, rounding
    )


@pytest.mark.parametrize("dtype, quiet", [("float32", 1 << 22), ("float64", 1 << 51)])
@pytest.mark.parametrize("target", FORMATS)
def test_signalling_nans(target, dtype, quiet, device):
    bits = np.array([np.inf], dtype).view(dtype.replace("float", "int"))
    bits = bits + quiet // 8 * np.arange(1, 8, dtype=bits.dtype)
    x = np.concatenate([bits, bits | np.iinfo(bits.dtype).min]).view(dtype)
    out = Float8(np.full(x.size, 0xCD), target)
    expected = Float8(np.full(x.size, FORMATS[target].nan), target)
    check_conversion(x, out, expected, getattr(tl, target), device)


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("source", FORMATS)
def test_between_formats(source, target, device):
    decoded = FORMATS[source].decoded
    expected = ALL_CODES if source == target else FORMATS[target].encode(decoded)
    check_conversion(
        Float8(ALL_CODES, source),
        Float8(np.full_like(ALL_CODES, 0xCD), target),
        Float8(expected, target),
        getattr(tl, target),
        device,
    )


@pytest.mark.parametrize("integer", ["int8", "uint16", "int32", "uint64", "bool"])
@pytest.mark.parametrize("name", FORMATS)
def test_integers(name, integer, device):
    format = FORMATS[name]
    if integer == "bool":
        x = np.array([False, True])
    else:
        info = np.iinfo(integer)
        near = np.array([0, 1, 7, 8, 9, 15, 17, 27, 100, 239, 241, 447, 449, 463, 465, 57345, 61441])
        x = np.concatenate([near, -near])
        x = np.array([each for each in x.tolist() if info.min <= each <= info.max], integer)
        x = np.append(x, [np.array(limit, integer) for limit in (info.min, info.max)])
    out = Float8(np.full(x.size, 0xCD), name)
    check_conversion(
        x, out, Float8(format.encode(x.astype(np.float64)), name), getattr(tl, name), device
    )
    if integer == "bool":
        numbers = ~np.isnan(format.decoded)
        truth = format.decoded[numbers] != 0
    else:
        whole = np.trunc(format.decoded)
        with np.errstate(invalid="ignore"):
            numbers = (whole >= info.min) & (whole <= info.max)
        truth = whole[numbers].astype(integer)
    check_conversion(
        Float8(ALL_CODES[numbers], name),
        np.ones(truth.size, integer),
        truth,
        OF_TL[integer],
        device,
    )


@triton.jit
def arithmetic(x_ptr, y_ptr, out_ptr, OUT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.static_assert((x + y).dtype == OUT)
    tl.store(out_ptr + i, x + y)
    tl.store(out_ptr + BLOCK + i, x - y)
    tl.store(out_ptr + 2 * BLOCK + i, x * y)
    tl.store(out_ptr + 3 * BLOCK + i, tl.where(x < y, x, y))
    tl.store(out_ptr + 4 * BLOCK + i, (x + y) * 1.5)


def rounded(name, x):
    """The nearest number of a format, as float64."""
    return FORMATS[name].decoded[FORMATS[name].encode(x)]


@pytest.mark.parametrize("name", FORMATS)
def test_arithmetic_rounds_once(name, device):
    random = np.random.default_rng(3)
    codes = random.integers(0, 256, (2, 512)).astype(np.uint8)
    x, y = FORMATS[name].decoded[codes]
    with np.errstate(invalid="ignore"):
        total = rounded(name, x + y)
        results = [x + y, x - y, x * y, np.where(x < y, x, y), total * 1.5]
    expected = FORMATS[name].encode(np.concatenate(results))
    # tl.where keeps the selected code
    chosen = np.where(x < y, codes[0], codes[1])
    expected[3 * 512 : 4 * 512] = chosen
    arguments = dict(
        x_ptr=Float8(codes[0], name),
        y_ptr=Float8(codes[1], name),
        out_ptr=Float8(np.full(5 * 512, 0xCD), name),
        OUT=getattr(tl, name),
        BLOCK=512,
    )
    check(arithmetic, (1,), arguments, dict(out_ptr=Float8(expected, name)), device=device)


@triton.jit
def unary(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, -x)
    tl.store(out_ptr + BLOCK + i, tl.abs(x))
    tl.store(out_ptr + 2 * BLOCK + i, tl.maximum(x, -x).to(x.dtype))
    tl.store(out_ptr + 3 * BLOCK + i, tl.full((BLOCK,), -0.3, x.dtype))


@pytest.mark.parametrize("name", FORMATS)
def test_signs(name, device):
    codes = ALL_CODES[~np.isnan(FORMATS[name].decoded) & ~np.isinf(FORMATS[name].decoded)]
    codes = np.resize(codes, 256)
    x = FORMATS[name].decoded[codes]
    expected = FORMATS[name].encode(np.concatenate([-x, abs(x), abs(x), np.full(256, -0.3)]))
    expected[256:512] = codes & 0x7F  # of each code, also of codes for the same number
    arguments = dict(
        x_ptr=Float8(codes, name), out_ptr=Float8(np.full(1024, 0xCD), name), BLOCK=256
    )
    check(unary, (1,), arguments, dict(out_ptr=Float8(expected, name)), device=device)


@triton.jit
def total(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(out_ptr, tl.sum(x.to(tl.float32)))
    tl.store(out_ptr + 1, tl.max(x, axis=0).to(tl.float32))


@pytest.mark.parametrize("name", FORMATS)
def test_reductions(name, device):
    codes = FORMATS[name].encode(np.arange(64) % 7 / 4)
    x = FORMATS[name].decoded[codes]
    arguments = dict(x_ptr=Float8(codes, name), out_ptr=np.zeros(2, np.float32), BLOCK=64)
    expected = np.array([x.sum(), x.max()], np.float32)
    check(total, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def quotients(x_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, x / 3.0)
    tl.store(out_ptr + N + at, x / (x + x))
    tl.store(out_ptr + 2 * N + at, x % 0.125)


@pytest.mark.parametrize("name", FORMATS)
def test_quotients_are_computed_in_float32(name, device):
    codes = FORMATS[name].encode(np.arange(1, 9) / 16)
    x = FORMATS[name].decoded[codes].astype(np.float32)
    arguments = dict(x_ptr=Float8(codes, name), out_ptr=np.zeros(24, np.float32), N=8)
    expected = np.concatenate([x / np.float32(3), np.full(8, 0.5), np.fmod(x, 0.125)]).astype(np.float32)
    check(quotients, (1,), arguments, dict(out_ptr=expected), device=device, rtol=1e-6)


@triton.jit
def types(a_ptr, b_ptr, h_ptr, w_ptr, f_ptr, d_ptr):
    a = tl.load(a_ptr)
    b = tl.load(b_ptr)
    tl.static_assert((a + a).dtype == tl.float8e5)
    tl.static_assert((a + 2.5).dtype == tl.float8e5)
    tl.static_assert((3 * a).dtype == tl.float8e5)
    tl.static_assert((a + b).dtype == tl.float16)
    tl.static_assert((a / b).dtype == tl.float32)
    tl.static_assert((a / a).dtype == tl.float32 and (a % a).dtype == tl.float32)
    tl.static_assert((a / 2.0).dtype == tl.float32 and (2.0 / a).dtype == tl.float32)
    tl.static_assert((a % 2).dtype == tl.float32)
    tl.static_assert((a + tl.load(h_ptr)).dtype == tl.float16)
    tl.static_assert((a + tl.load(w_ptr)).dtype == tl.float32)
    tl.static_assert((tl.load(f_ptr) + a).dtype == tl.float32)
    tl.static_assert((a * tl.load(d_ptr)).dtype == tl.float64)
    tl.static_assert(a.dtype.is_fp8() and a.dtype.is_fp8e5() and not a.dtype.is_fp8e4nv())
    tl.static_assert(a.dtype.is_floating() and not a.dtype.is_standard_floating())
    tl.static_assert(b.dtype.fp_mantissa_width == 3 and b.dtype.exponent_bias == 7)
    tl.static_assert(a.dtype.primitive_bitwidth == 8)


def test_promotion(device):
    arguments = dict(
        a_ptr=Float8([0], "float8e5"),
        b_ptr=Float8([0], "float8e4nv"),
        h_ptr=np.zeros(1, np.float16),
        w_ptr=BFloat16(np.zeros(1)),
        f_ptr=np.zeros(1, np.float32),
        d_ptr=np.zeros(1),
    )
    check(types, (1,), arguments, {}, device=device)


@triton.jit
def reinterpreted(x_ptr, out_ptr, TO: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i).to(TO, bitcast=True)
    tl.store(out_ptr + i, x.to(tl.uint8, bitcast=True))
    tl.store(out_ptr + BLOCK + i, x.to(tl.int8, bitcast=True).to(tl.uint8, bitcast=True))


@pytest.mark.parametrize("name", FORMATS)
def test_bits(name, device):
    arguments = dict(
        x_ptr=ALL_CODES, out_ptr=np.zeros(512, np.uint8), TO=getattr(tl, name), BLOCK=256
    )
    expected = np.concatenate([ALL_CODES, ALL_CODES])
    check(reinterpreted, (1,), arguments, dict(out_ptr=expected), device=device)


@pytest.mark.parametrize("name", ["float8e5", "float8e4nv", "float8e5b16", "float8e4b8"])
def test_torch_types(name, device):
    torch = pytest.importorskip("torch")
    if device != "cpu":
        pytest.skip("tensors of the host")
    suffix = {"e5": "e5m2", "e4nv": "e4m3fn", "e5b16": "e5m2fnuz", "e4b8": "e4m3fnuz"}
    dtype = getattr(torch, "float8_" + suffix[name.removeprefix("float8")])
    x = torch.arange(256, dtype=torch.uint8).view(dtype)
    out = torch.zeros(256)
    launch(convert, (1,), x, out, 256, tl.float32, None, 256, device=device)
    torch.testing.assert_close(out, x.float(), rtol=0, atol=0, equal_nan=True)
    viewed = triton.reinterpret(x.view(torch.uint8), getattr(tl, name))
    launch(convert, (1,), viewed, out.zero_(), 256, tl.float32, None, 256, device=device)
    torch.testing.assert_close(out, x.float(), rtol=0, atol=0, equal_nan=True)


@triton.jit
def dot_of_codes(a_ptr, b_ptr, c_ptr, n, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    acc = tl.zeros((SIZE, SIZE), tl.float32)
    for step in range(n):
        a = tl.load(a_ptr + step * SIZE * SIZE + i)
        b = tl.load(b_ptr + step * SIZE * SIZE + i)
        acc = tl.dot(a, b, acc, max_num_imprecise_acc=SIZE)
    tl.store(c_ptr + i, acc)


@pytest.mark.parametrize("right", ["float8e4b15", "float8e5"])
def test_dots_of_fp8e4b15_in_a_loop(right, device):
    size, n = 32, 3
    a, b = ((np.arange(n * size * size) * k % 97).astype(np.uint8) for k in (7, 11))
    left = FORMATS["float8e4b15"].decoded[a].reshape(n, size, size)
    other = FORMATS[right].decoded[b].reshape(n, size, size)
    arguments = dict(
        a_ptr=Float8(a, "float8e4b15"),
        b_ptr=Float8(b, right),
        c_ptr=np.zeros((size, size), np.float32),
        n=n,
        SIZE=size,
    )
    expected = (left @ other).sum(0).astype(np.float32)
    check(dot_of_codes, (1,), arguments, dict(c_ptr=expected), device=device, rtol=1e-5, atol=1e-5)
