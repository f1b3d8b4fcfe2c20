"""The machine code of our PTX for sm_90a: widths of global accesses, barriers, nothing in local memory.

The counts follow from the sizes: a thread's part of a block, in accesses of 16 bytes; one barrier for
each reduction over several warps.
"""
# SPDX-License-Identifier: MIT

import collections
import os
import re
import shutil
import subprocess

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.assembler import find_assembler
from triton.compiler.compiler import ASTSource

TARGET = GPUTarget("cuda", 90, 32)
BYTES = {"fp32": 4, "bf16": 2}
INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)")


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    y = tl.load(y_ptr + i, mask=mask)
    tl.store(out_ptr + i, x + y, mask=mask)


@triton.jit
def gelu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask).to(tl.float32)
    y = x * tl.sigmoid(1.5957691216 * (x + 0.044715 * x * x * x))
    tl.store(out_ptr + i, y.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def softmax(x_ptr, out_ptr, stride, rows, columns, BLOCK: tl.constexpr):
    j = tl.arange(0, BLOCK)
    mask = j < columns
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=1):
        x = tl.load(x_ptr + row * stride + j, mask=mask, other=-float("inf")).to(tl.float32)
        e = tl.exp(x - tl.max(x, 0))
        y = e / tl.sum(e, 0)
        tl.store(out_ptr + row * stride + j, y.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def softmax_ahead(x_ptr, out_ptr, stride, rows, columns, BLOCK: tl.constexpr):
    """The next row is loaded while the current one is processed."""
    j = tl.arange(0, BLOCK)
    mask = j < columns
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=2):
        x = tl.load(x_ptr + row * stride + j, mask=mask, other=-float("inf")).to(tl.float32)
        e = tl.exp(x - tl.max(x, 0))
        y = e / tl.sum(e, 0)
        tl.store(out_ptr + row * stride + j, y.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def layer_norm(x_ptr, weight_ptr, bias_ptr, out_ptr, stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    mask = j < columns
    x = tl.load(x_ptr + row * stride + j, mask=mask, other=0).to(tl.float32)
    mean = tl.sum(x, 0) / columns
    centred = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centred * centred, 0) / columns
    weight = tl.load(weight_ptr + j, mask=mask).to(tl.float32)
    bias = tl.load(bias_ptr + j, mask=mask).to(tl.float32)
    y = centred * tl.rsqrt(variance + eps) * weight + bias
    tl.store(out_ptr + row * stride + j, y.to(out_ptr.dtype.element_ty), mask=mask)


def disassembler():
    """nvdisasm of the wheels, which is beside ptxas, or of a CUDA on the machine."""
    ptxas = find_assembler(90).ptxas
    if not ptxas:
        pytest.skip("there is no ptxas to assemble with; ./dev setup installs it")
    beside = os.path.join(os.path.dirname(ptxas), "nvdisasm")
    found = beside if os.access(beside, os.X_OK) else shutil.which("nvdisasm")
    if not found:
        pytest.skip("there is no nvdisasm to look at machine code with; ./dev setup installs it")
    return found


@pytest.fixture
def instructions(tmp_path):
    """A function that returns opcode -> number of instructions in a kernel's machine code."""
    program = disassembler()

    def count(kernel, dtype, block, num_warps, unaligned=(), **options):
        compiled = compile_for_hopper(kernel, dtype, block, num_warps, unaligned, **options)
        cubin = tmp_path / f"{kernel.__name__}.cubin"
        cubin.write_bytes(compiled.asm["cubin"])
        text = subprocess.run(
            [program, "-c", str(cubin)], capture_output=True, text=True, check=True
        ).stdout
        opcodes = collections.Counter(INSTRUCTION.findall(text))
        assert opcodes["EXIT"], f"this is no machine code of a kernel:\n{text}"
        return opcodes

    return count


def compile_for_hopper(kernel, dtype, block, num_warps, unaligned, **options):
    """Pointers and sizes are multiples of 16 except for those named in `unaligned`."""
    signature, attributes = {}, {}
    for param in kernel.params:
        pointer = param.name.endswith("_ptr")
        kind = "*" + dtype if pointer else "fp32" if param.name == "eps" else "i32"
        signature[param.name] = "constexpr" if param.is_constexpr else kind
        if kind != "fp32" and not param.is_constexpr and param.name not in unaligned:
            attributes[(param.num,)] = [["tt.divisibility", 16]]
    source = ASTSource(kernel, signature, {"BLOCK": block}, attributes)
    return triton.compile(source, target=TARGET, options=dict(num_warps=num_warps, **options))


def named(opcodes, *starts):
    return sum(count for opcode, count in opcodes.items() if opcode.startswith(starts))


def wide(opcodes, start):
    """Accesses of 16 bytes."""
    return sum(n for opcode, n in opcodes.items() if opcode.startswith(start) and ".128" in opcode)


# Kernel: how often a block is loaded and stored, and how many values are combined across warps.
GOLDEN = {
    add: (2, 1, 0),
    gelu: (1, 1, 0),
    softmax: (1, 1, 2),
    layer_norm: (3, 1, 2),
}
SIZES = [(1024, 4), (4096, 8), (16384, 8), (16384, 16)]


@pytest.mark.parametrize("block, num_warps", SIZES)
@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("kernel", GOLDEN, ids=lambda kernel: kernel.__name__)
def test_accesses_and_barriers(kernel, dtype, block, num_warps, instructions):
    loads, stores, reductions = GOLDEN[kernel]
    accesses = block * BYTES[dtype] // (32 * num_warps) // 16  # a thread's, of 16 bytes
    opcodes = instructions(kernel, dtype, block, num_warps)
    assert named(opcodes, "LDG") == wide(opcodes, "LDG") == loads * accesses
    assert named(opcodes, "STG") == wide(opcodes, "STG") == stores * accesses
    assert named(opcodes, "BAR") == reductions
    assert named(opcodes, "STS") == reductions  # a warp's result, from one of its lanes
    assert named(opcodes, "LDL", "STL") == 0
    assert named(opcodes, "LD.", "ST.", "LD ", "ST ") == 0  # generic addresses


@pytest.mark.parametrize("block, num_warps, copies", [(4096, 8, 2), (16384, 16, 2), (16384, 8, 1)])
def test_rows_loaded_ahead(block, num_warps, copies, instructions):
    """The loads of the first row are before the loop, unless a row takes over 32 registers of a thread."""
    opcodes = instructions(softmax_ahead, "fp32", block, num_warps)
    assert named(opcodes, "LDG") == wide(opcodes, "LDG") == copies * block // (128 * num_warps)
    assert (named(opcodes, "BAR"), named(opcodes, "LDL", "STL")) == (2, 0)


@pytest.mark.parametrize("kernel", [softmax, layer_norm], ids=lambda kernel: kernel.__name__)
def test_one_warp_needs_no_barrier(kernel, instructions):
    opcodes = instructions(kernel, "fp32", 512, 1)
    assert named(opcodes, "BAR", "STS", "LDS") == 0
    assert named(opcodes, "SHFL") == 2 * 5  # two reductions over 32 lanes


def test_a_block_smaller_than_its_threads_has_narrow_accesses(instructions):
    """256 elements for 128 threads: two each, in one access."""
    opcodes = instructions(add, "fp32", 256, 4)
    assert (named(opcodes, "LDG"), opcodes["LDG.E.64"]) == (2, 2)
    assert (named(opcodes, "STG"), opcodes["STG.E.64"]) == (1, 1)


def test_a_length_of_any_kind_may_end_within_16_bytes(instructions):
    """1024 elements by 128 threads: 8 each, of two inputs."""
    opcodes = instructions(add, "fp32", 1024, 4, unaligned=("n",))
    assert (opcodes["LDG.E"], opcodes["STG.E"]) == (16, 8)
    assert (named(opcodes, "LDG"), named(opcodes, "STG")) == (16, 8)


def test_a_pointer_of_any_alignment_is_accessed_by_elements(instructions):
    opcodes = instructions(gelu, "fp32", 1024, 4, unaligned=("x_ptr", "out_ptr"))
    assert (opcodes["LDG.E"], opcodes["STG.E"]) == (8, 8)
    assert (named(opcodes, "LDG"), named(opcodes, "STG")) == (8, 8)


def test_rows_of_any_stride_are_accessed_by_elements(instructions):
    opcodes = instructions(softmax, "fp32", 1024, 4, unaligned=("stride",))
    assert (opcodes["LDG.E"], opcodes["STG.E"], wide(opcodes, "LDG")) == (8, 8, 0)


def test_local_memory_would_be_seen(instructions):
    """128 elements of each input a thread, with 24 registers to hold them."""
    opcodes = instructions(add, "fp32", 16384, 4, maxnreg=24)
    assert named(opcodes, "LDL") and named(opcodes, "STL")
