"""Properties of PTX that can be checked without a GPU."""
# SPDX-License-Identifier: MIT

import re

import numpy as np
import pytest
import triton
import triton.language as tl
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.assembler import find_assembler
from triton.backends.nvidia.driver import make_tensordesc_arg
from triton.compiler import ASTSource
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def chase(start, out, n):
    address = tl.load(start)
    for i in range(n):
        address = tl.load(address.to(tl.pointer_type(tl.int64)), mask=i < n - 1, other=0)
    tl.store(out, address)


@triton.jit
def spin(flag, out):
    while tl.load(flag, cache_modifier=".cv", eviction_policy="evict_last") == 0:
        pass
    tl.store(out, 1)


def ptx_of(kernel, **signature):
    source = ASTSource(fn=kernel, signature=signature, constexprs={})
    return triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]


def test_a_masked_load_keeps_its_address():
    """`other` is written to the result before the address is read."""
    text = ptx_of(chase, start="*i64", out="*i64", n="i32")
    loads = re.findall(r"@%p\d+ ld\.global\.b64 (%rd\d+), \[(%rd\d+)\]", text)
    assert loads
    assert all(result != address for result, address in loads)


def test_a_loop_reads_a_flag_anew_in_every_iteration():
    text = ptx_of(spin, flag="*i32", out="*i32")
    label, body = re.search(r"(\$L__BB\d+_\d+):((?:(?!\$L__BB)[\s\S])*?)bra", text).groups()
    assert "ld.global.cv" in body, (label, body)


@triton.jit
def mean_of_rows(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + j, mask=j < columns, other=0).to(tl.float32)
    most = tl.max((x * 8).to(tl.int32), 0)
    tl.store(out_ptr + row, (tl.sum(x, 0) / columns + most).to(tl.bfloat16))


@pytest.mark.parametrize(
    ("arch", "name"),
    [
        (70, "sm_70"), (75, "sm_75"), (80, "sm_80"), (86, "sm_86"), (89, "sm_89"), (90, "sm_90a"),
        ("sm_90", "sm_90"), (100, "sm_100a"), (120, "sm_120a"), (130, "sm_121"),
    ],
)  # fmt: skip
def test_every_generation_gets_its_code(arch, name):
    """With a ptxas on the machine it is a target that ptxas accepts."""
    source = ASTSource(
        fn=mean_of_rows,
        signature={"x_ptr": "*bf16", "out_ptr": "*bf16", "columns": "i32", "BLOCK": "constexpr"},
        constexprs={"BLOCK": 1024},
    )
    made = triton.compile(source, target=GPUTarget("cuda", arch, 32))
    assert re.search(rf"^\.target {name}$", made.asm["ptx"], re.MULTILINE)
    assert ("redux.sync" in made.asm["ptx"]) == (name not in ("sm_70", "sm_75"))
    tools = find_assembler()
    if tools.ptxas and name not in ("sm_70", "sm_121"):
        assert made.metadata.tool in ("ptxas", "nvjitlink")
        assert made.asm["cubin"][:4] == b"\x7fELF"
    elif name in ("sm_70", "sm_121"):
        assert made.metadata.tool == "driver"


@triton.jit
def transpose(x_ptr, out_ptr, SIZE: tl.constexpr):
    i, j = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    tl.store(out_ptr + i * SIZE + j, tl.trans(tl.load(x_ptr + i * SIZE + j)))


@pytest.mark.parametrize("num_warps", [4, 8, 32])
def test_transposes_fit_into_shared_memory(num_warps):
    source = ASTSource(
        fn=transpose,
        signature={"x_ptr": "*fp32", "out_ptr": "*fp32", "SIZE": "constexpr"},
        constexprs={"SIZE": 256},
        attrs={(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]]},
    )
    options = {"num_warps": num_warps}
    with knobs.nvidia.scope():
        knobs.nvidia.ptxas = "/bin/true"  # machine code of 512 registers a thread takes minutes
        made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
    assert 0 < made.metadata.shared <= 227 * 1024


@triton.jit
def copy_described(tensor, out_ptr, BLOCK: tl.constexpr):
    i, j = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    tl.store(out_ptr + i * BLOCK + j, tensor.load([0, 0]))


def test_a_descriptor_is_passed_as_other_launchers_pass_it():
    """PyTorch's launcher gets the values from `make_tensordesc_arg`, the widths from the rank."""
    base = np.zeros((64, 64), np.float16)
    passed = make_tensordesc_arg(TensorDescriptor.from_tensor(base, [16, 16]), None, None)
    assert passed[0] is base
    assert passed[1:] == [64, 64, 64, 1, False, False, 64, 64, 64, 1]
    signature = {"tensor": "tensordesc<fp16[16, 16]>", "out_ptr": "*fp16", "BLOCK": "constexpr"}
    source = ASTSource(fn=copy_described, signature=signature, constexprs={(2,): 16})
    kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    assert not getattr(kernel.metadata, "tensordesc_meta", None)
    entry = re.search(r"\.entry \w+\(([^)]*)\)", kernel.asm["ptx"]).group(1)
    widths = [int(width) for width in re.findall(r"\.param \.u(\d+)", entry)]
    strides, shape = [64, 64], [32, 32]
    assert widths == [64, 64, 64, *strides, 8, 8, *shape, *strides, 64, 64, 64]
