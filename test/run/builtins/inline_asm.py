"""Assembly in kernels: x86 on the CPU, PTX on NVIDIA GPUs; packing, several results, errors."""
# SPDX-License-Identifier: MIT

import platform

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, launch, values
from triton.compiler.errors import CompilationError
from triton.runtime.errors import PTXASError

ON_CPU = platform.machine() in ("x86_64", "AMD64")


@pytest.fixture
def x86(device):
    if device != "cpu" or not ON_CPU:
        pytest.skip("x86 assembly")


@triton.jit
def rotate(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.inline_asm_elementwise(
        "roll $$5, $0", "=r,0", [x], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(out_ptr + i, y, mask=i < n)


def test_one_operand(device, x86):
    x = np.random.default_rng(0).integers(0, 2**32, 100, dtype=np.uint32)
    expected = (x << np.uint32(5)) | (x >> np.uint32(27))
    arguments = dict(x_ptr=x.view(np.int32), out_ptr=np.zeros(100, np.int32), n=100, N=64)
    check(rotate, (2,), arguments, dict(out_ptr=expected.view(np.int32)), device=device)


@triton.jit
def invert_bytes(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.inline_asm_elementwise("notl $0", "=r,0", [x], dtype=tl.uint8, is_pure=True, pack=4)
    tl.store(out_ptr + i, y)


@pytest.mark.parametrize("n", [1, 2, 64])
def test_packed_bytes(n, device, x86):
    x = np.random.default_rng(0).integers(0, 256, n, dtype=np.uint8)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(n, np.uint8), N=n)
    check(invert_bytes, (1,), arguments, dict(out_ptr=~x), device=device)


@triton.jit
def two_results(x_ptr, y_ptr, low_ptr, high_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    low, high = tl.inline_asm_elementwise(
        "mull $3",
        "={ax},={dx},0,r,~{flags}",
        [x, y],
        dtype=(tl.uint32, tl.uint32),
        is_pure=True,
        pack=1,
    )
    tl.store(low_ptr + i, low)
    tl.store(high_ptr + i, high)


def test_two_results(device, x86):
    x, y = np.random.default_rng(0).integers(0, 2**32, (2, 32), dtype=np.uint32)
    product = x.astype(np.uint64) * y
    arguments = dict(
        x_ptr=x, y_ptr=y, low_ptr=np.zeros(32, np.uint32), high_ptr=np.zeros(32, np.uint32), N=32
    )
    expected = dict(
        low_ptr=product.astype(np.uint32), high_ptr=(product >> np.uint64(32)).astype(np.uint32)
    )
    check(two_results, (1,), arguments, expected, device=device)


@triton.jit
def add_floats(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.inline_asm_elementwise(
        "addss $2, $0", "=x,0,x", [x, 1.5], dtype=tl.float32, is_pure=True, pack=1
    )
    tl.store(out_ptr + i, y)
    one = tl.inline_asm_elementwise("movl $$7, $0", "=r", [], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out_ptr + N, one)


def test_floats_numbers_and_no_operands(device, x86):
    x = values("float32", 16)
    expected = np.append(x + np.float32(1.5), np.float32(7))
    arguments = dict(x_ptr=x, out_ptr=np.zeros(17, np.float32), N=16)
    check(add_floats, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def count_up(p_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    address = p_ptr + i * 0
    before = tl.inline_asm_elementwise(
        "movl $$1, $0\n\tlock xaddl $0, ($1)",
        "=&r,r,~{memory},~{flags}",
        [address],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )
    tl.store(out_ptr + i, before)
    tl.store(out_ptr + N + i, before)


def test_effects_happen_once_for_each_element(device, x86):
    arguments = dict(p_ptr=np.zeros(1, np.int32), out_ptr=np.zeros(32, np.int32), N=16)
    counted = np.arange(16, dtype=np.int32)
    expected = dict(p_ptr=np.array([16], np.int32), out_ptr=np.concatenate([counted, counted]))
    check(count_up, (1,), arguments, expected, device=device)


@triton.jit
def broken(x_ptr, TEXT: tl.constexpr, CONSTRAINTS: tl.constexpr):
    x = tl.load(x_ptr)
    y = tl.inline_asm_elementwise(TEXT, CONSTRAINTS, [x], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(x_ptr, y)


@pytest.mark.parametrize(
    ("text", "constraints", "message"),
    [
        ("frobnicate $0", "=r,0", "the assembly is not accepted: invalid instruction mnemonic"),
        ("addl $0", "=r,0", "the assembly is not accepted: too few operands"),
        ("movl $1, $0", "=r", "the constraints `=r` do not fit 1 results and 1 operands"),
        ("movl $1, $0", "=&{nothing},r", "the assembly is not accepted"),
        ("shl.b32 $0, $1, 3;", "=r,r", r"this assembly is PTX \(`shl.b32`\), but the target is `cpu`"),
    ],
)
def test_broken_assembly_is_a_located_error(text, constraints, message, device, x86):
    with pytest.raises(CompilationError, match=message) as failure:
        broken[(1,)](np.zeros(1, np.int32), text, constraints)
    text = str(failure.value)
    assert text.startswith("at 3:") or f"inline_asm.py:{broken.starting_line_number + 3}:" in text


@triton.jit
def ptx(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.inline_asm_elementwise(
        "shl.b32 $0, $1, 3;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(out_ptr + i, y)


@pytest.fixture
def nvidia(device):
    if device == "cpu" or "gfx" in device:
        pytest.skip("PTX is for NVIDIA GPUs")


def test_ptx(device, nvidia):
    x = np.arange(128, dtype=np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(128, np.int32), N=128)
    check(ptx, (1,), arguments, dict(out_ptr=x << 3), device=device)


@triton.jit
def ptx_packed(x_ptr, out_ptr, wide_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    inverted = tl.inline_asm_elementwise("not.b32 $0, $1;", "=r,r", [x], dtype=tl.uint8, is_pure=True, pack=4)
    tl.store(out_ptr + i, inverted)
    # A word of bytes becomes two of 16 bits.
    wide = tl.inline_asm_elementwise(
        "prmt.b32 $0, $2, 0, 0x4140; prmt.b32 $1, $2, 0, 0x4342;",
        "=&r,=r,r",
        [x],
        dtype=tl.uint16,
        is_pure=True,
        pack=4,
    )
    tl.store(wide_ptr + i, wide)


@pytest.mark.parametrize("n", [1, 2, 64, 100, 2048])
def test_ptx_on_bytes_in_words(n, device, nvidia):
    x = np.random.default_rng(0).integers(0, 256, n, dtype=np.uint8)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(n, np.uint8), wide_ptr=np.zeros(n, np.uint16), N=n)
    check(ptx_packed, (1,), arguments, dict(out_ptr=~x, wide_ptr=x.astype(np.uint16)), device=device)


@triton.jit
def ptx_halves(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    z = tl.inline_asm_elementwise(
        "fma.rn.f16x2 $0, $1, $2, $1;", "=r,r,r", [x, y], dtype=tl.float16, is_pure=True, pack=2
    )
    tl.store(out_ptr + i, z)


@pytest.mark.parametrize("n", [1, 96, 1024])
def test_ptx_on_pairs_of_halves(n, device, nvidia):
    x, y = (values("int32", n, seed=seed, low=-16, high=16).astype(np.float16) for seed in (0, 1))
    arguments = dict(x_ptr=x, y_ptr=y, out_ptr=np.zeros(n, np.float16), N=n)
    check(ptx_halves, (1,), arguments, dict(out_ptr=x * y + x), device=device)


@triton.jit
def ptx_products(x_ptr, y_ptr, low_ptr, high_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    low, high = tl.inline_asm_elementwise(
        "mul.lo.u32 $0, $2, $3; mul.hi.u32 $1, $2, $3;",
        "=&r,=r,r,r",
        [tl.load(x_ptr + i), tl.load(y_ptr + i)],
        dtype=(tl.uint32, tl.uint32),
        is_pure=True,
        pack=1,
    )
    tl.store(low_ptr + i, low)
    tl.store(high_ptr + i, high)


def test_ptx_with_two_results(device, nvidia):
    x, y = np.random.default_rng(0).integers(0, 2**32, (2, 256), dtype=np.uint32)
    product = x.astype(np.uint64) * y
    arguments = dict(x_ptr=x, y_ptr=y, low_ptr=np.zeros_like(x), high_ptr=np.zeros_like(x), N=256)
    expected = dict(low_ptr=product.astype(np.uint32), high_ptr=(product >> np.uint64(32)).astype(np.uint32))
    check(ptx_products, (1,), arguments, expected, device=device)


@triton.jit
def ptx_count(p_ptr, N: tl.constexpr):
    address = p_ptr + tl.arange(0, N) * 0
    tl.inline_asm_elementwise(
        "atom.global.add.u32 $0, [$1], 1;", "=r,l,~{memory}", [address], dtype=tl.int32, is_pure=False, pack=1
    )


@pytest.mark.parametrize("n", [512, 700])
def test_ptx_with_effects_runs_once_for_each_element(n, device, nvidia):
    counted = dict(p_ptr=np.array([n], np.int32))
    check(ptx_count, (1,), dict(p_ptr=np.zeros(1, np.int32), N=n), counted, device=device)


@pytest.mark.parametrize(
    ("text", "constraints", "message"),
    [
        ("frobnicate.b32 $0, $1;", "=r,r", "the assembler rejects the code generated for this: .*frobnicate"),
        ("add.s32 $0, $1;", "=r,r", "the assembler rejects the code generated for this"),
        ("mov.b32 $0, $1;", "=r", "the constraints `=r` do not fit 1 results and 1 operands"),
    ],
)
def test_broken_ptx_is_a_located_error(text, constraints, message, device, nvidia):
    with pytest.raises((CompilationError, PTXASError), match=message) as failure:
        arguments = dict(x_ptr=np.zeros(1, np.int32), TEXT=text, CONSTRAINTS=constraints)
        launch(broken, (1,), device=device, **arguments)
    text = str(failure.value)
    assert text.startswith("at 3:") or f"inline_asm.py:{broken.starting_line_number + 3}:" in text
