"""Properties of a cubin without a device: machine code as text, registers and spills."""
# SPDX-License-Identifier: MIT

import os
import re
import stat
import subprocess

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia import assembler, disassembler
from triton.backends.nvidia.assembler import find_assembler
from triton.compiler import ASTSource
from triton.tools.disasm import get_sass

needs_ptxas = pytest.mark.skipif(not find_assembler().ptxas, reason="no ptxas on this machine")


def _has_disassembler():
    try:
        return bool(disassembler.find_disassembler())
    except RuntimeError:
        return False


needs_disassembler = pytest.mark.skipif(
    not _has_disassembler() or not find_assembler().ptxas, reason="no nvdisasm on this machine"
)


@triton.jit
def total(x_ptr, out_ptr, n):
    v = tl.load(x_ptr)
    for _ in range(n):
        v += tl.load(x_ptr + v % 16)
    tl.store(out_ptr, v)


@triton.jit
def crowded(x_ptr, out_ptr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    tl.store(out_ptr + i, tl.sort(tl.load(x_ptr + i)))


def compiled(kernel=total, **options):
    if kernel is total:
        source = ASTSource(total, signature={"x_ptr": "*i32", "out_ptr": "*i32", "n": "i32"})
    else:
        signature = {"x_ptr": "*i32", "out_ptr": "*i32", "SIZE": "constexpr"}
        source = ASTSource(crowded, signature, {"SIZE": 2048})
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)


pytestmark = pytest.mark.usefixtures("own_cache")


@needs_disassembler
def test_machine_code_is_a_stage_that_is_made_when_asked_for():
    made = compiled()
    text = made.asm["sass"]
    lines = text.splitlines()
    assert lines[0] == "Function:total" and text.endswith("\n\n")
    assert "sass" not in list(made.asm)
    code = [line for line in lines[1:] if line and not line.endswith(":")]
    assert all(re.fullmatch(r"(\d\d|--):[\d-]:[\d-]:[Y-]:[0-9a-f]\t.*;", line) for line in code)
    assert any("EXIT;" in line for line in code)
    targets = set(re.findall(r"BRA.* (LBB\d+);", text))
    assert targets and targets <= {line[:-1] for line in lines if line.startswith("LBB")}


@needs_disassembler
def test_both_tools_give_one_text(monkeypatch):
    cubin = compiled().asm["cubin"]
    tools = disassembler.find_disassembler()
    if not tools.cuobjdump:
        pytest.skip("no cuobjdump on this machine")
    texts = []
    for cuobjdump in (tools.cuobjdump, ""):
        get_sass.cache_clear()
        chosen = disassembler.Disassembler(cuobjdump, tools.nvdisasm)
        monkeypatch.setattr(disassembler, "find_disassembler", lambda chosen=chosen: chosen)
        texts += [get_sass(cubin), get_sass(cubin, "total")]
        assert get_sass(cubin, "other") is None or cuobjdump
    assert len(set(texts)) == 1


def test_a_missing_tool_is_named_with_what_to_install(monkeypatch):
    monkeypatch.setattr(assembler, "_wheels", list)
    monkeypatch.setattr(assembler, "_DEFAULT_ROOT", "/nowhere")
    monkeypatch.setenv("PATH", "/nowhere")
    for name in ("CUDA_HOME", "CUDA_PATH", "TRITON_NVDISASM_PATH", "TRITON_CUOBJDUMP_PATH"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(RuntimeError, match="nvidia-cuda-nvdisasm.*TRITON_NVDISASM_PATH"):
        disassembler.find_disassembler()


def test_the_settings_name_a_tool(monkeypatch, tmp_path):
    program = tmp_path / "nvdisasm"
    program.write_text("#!/bin/sh\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("TRITON_NVDISASM_PATH", str(program))
    assert disassembler.find_disassembler().nvdisasm == str(program)
    monkeypatch.setenv("TRITON_NVDISASM_PATH", str(tmp_path / "missing"))
    with pytest.raises(
        RuntimeError, match="TRITON_NVDISASM_PATH names .*missing, which is no program"
    ):
        disassembler.find_disassembler()


def ptxas_report(ptx, folder, *words):
    path = folder / "kernel.ptx"
    path.write_text(ptx)
    command = [find_assembler().ptxas, "-v", "-arch=sm_90a", *words, str(path), "-o", os.devnull]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr


@needs_ptxas
@pytest.mark.parametrize(
    ("kernel", "options"), [(total, {}), (crowded, {"num_warps": 1, "maxnreg": 32})]
)
def test_registers_and_spills_need_no_device(kernel, options, tmp_path):
    made = compiled(kernel, **options)
    output = ptxas_report(made.asm["ptx"], tmp_path)
    spilled = int(re.search(r"(\d+) bytes spill stores", output).group(1))
    assert made.n_regs == int(re.search(r"Used (\d+) registers", output).group(1))
    assert made.n_spills == -(-spilled // 4)
    assert (spilled > 0) == (kernel is crowded)
    assert made.n_max_threads == 32 * made.metadata.num_warps
    assert made.module is None  # nothing was loaded


def test_more_warps_than_a_block_has_are_out_of_resources():
    with pytest.raises(triton.OutOfResources) as error:
        compiled(num_warps=128)
    assert (error.value.required, error.value.limit, error.value.name) == (4096, 1024, "threads")
    assert "out of resource: threads, Required: 4096, Hardware limit: 1024" in str(error.value)
