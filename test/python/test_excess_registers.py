"""Kernels whose values take a multiple of a thread's registers: what the assembler and the user get."""
# SPDX-License-Identifier: MIT

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.errors import PTXASError


@triton.jit
def wide(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(o + i, (a + tl.sum(b)) * b)


def compile_for(kernel, size, target=("cuda", 90, 32), **options):
    signature = {"x": "*i32", "y": "*i32", "o": "*i32", "N": "constexpr"}
    source = ASTSource(kernel, signature, {(3,): size})
    return triton.compile(source, target=GPUTarget(*target), options={"num_warps": 1, **options})


def stand_in(folder, body):
    program = folder / "ptxas"
    program.write_text(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'release 97.2, V97'; exit 0; fi\n"
        f'echo "$@" >> {folder}/calls\n{body}\n'
    )
    program.chmod(0o755)
    return str(program)


SPILLS = (
    "cat /proc/self/fd/3 >&4; echo '8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads'"
    "; echo 'ptxas info : Used 128 registers, 0 bytes smem'"
)


def test_values_beyond_the_limit_are_assembled_once_and_fast(tmp_path, nvidia, capfd):
    nvidia.ptxas = stand_in(tmp_path, SPILLS)
    compile_for(wide, 16384)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == 1 and calls[0].endswith(" -O1")
    remark = capfd.readouterr().err
    assert "remark: the values of `wide` need about 1" in remark
    assert "has 255" in remark and "`num_warps` is 1" in remark and "[excess-registers]" in remark


def test_some_excess_is_left_to_the_assembler(tmp_path, nvidia):
    nvidia.ptxas = stand_in(tmp_path, SPILLS)
    assert ".local" not in compile_for(wide, 16384).asm["ptx"]  # 1024 registers
    assert ".local" in compile_for(wide, 65536, num_warps=2).asm["ptx"]


def test_without_a_tool_the_driver_takes_long_code(nvidia):
    nvidia.ptxas = "/bin/true"
    assert compile_for(wide, 16384).metadata.tool == "driver"


def test_options_of_the_user_replace_the_fast_ones(tmp_path, nvidia):
    nvidia.ptxas = stand_in(tmp_path, SPILLS)
    compile_for(wide, 16384, ptx_options="-O2")
    assert (tmp_path / "calls").read_text().splitlines()[0].endswith(" -O2")


@pytest.mark.parametrize("size, warps", [(16384, 8), (4096, 1)])
def test_values_up_to_the_limit_are_left_to_the_assembler(tmp_path, nvidia, capfd, size, warps):
    nvidia.ptxas = stand_in(tmp_path, SPILLS)
    made = compile_for(wide, size, num_warps=warps)
    assert "-O" not in (tmp_path / "calls").read_text()
    assert ".local" not in made.asm["ptx"]
    assert "excess-registers" not in capfd.readouterr().err


LONG = tl.constexpr("mov.b32 $0, $1; /*" + "x" * (3 << 19) + "*/")


@triton.jit
def long_text(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.inline_asm_elementwise(LONG, "=r,r", [tl.load(x + i)], tl.int32, True, 1)
    tl.store(o + i, a)


def test_long_code_is_assembled_once_and_fast(tmp_path, nvidia):
    nvidia.ptxas = stand_in(tmp_path, SPILLS)
    compile_for(long_text, 32)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == 1 and calls[0].endswith(" -O1")


def test_the_remark_is_shown_while_the_assembler_runs(tmp_path, nvidia, capfd):
    nvidia.ptxas = stand_in(tmp_path, "sleep 1.5; exit 1")
    with pytest.raises(PTXASError):
        compile_for(wide, 32768)  # a remark that was not shown before
    assert "[excess-registers]" in capfd.readouterr().err
