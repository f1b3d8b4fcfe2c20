"""The tools that assemble PTX: where they are found, and what the compiler does with their answers."""
# SPDX-License-Identifier: MIT

import os
import subprocess
import sys

import pytest
import triton
import triton.language as tl
from _stub_cuda import LIBRARY, use_stub
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia import assembler
from triton.compiler.compiler import ASTSource, make_backend


@triton.jit
def kernel(x_ptr, n, y_ptr, BLOCK: tl.constexpr):
    tl.store(y_ptr, tl.load(x_ptr) + n)


SIGNATURE = {"x_ptr": "*fp32", "n": "i32", "y_ptr": "*fp32", "BLOCK": "constexpr"}


@pytest.fixture
def stub():
    yield from use_stub()


def compiled_for(**given):
    target = GPUTarget("cuda", 90, 32)
    return triton.compile(ASTSource(kernel, SIGNATURE, {"BLOCK": 64}, {}), target, given)


@pytest.fixture
def empty_machine(monkeypatch, tmp_path):
    """A machine without CUDA except for the files that a test puts into the folder."""
    monkeypatch.setattr(assembler, "_DEFAULT_ROOT", str(tmp_path / "cuda"))
    monkeypatch.setattr(assembler, "_wheels", lambda: [str(tmp_path / "nvidia")])
    for name in ("CUDA_HOME", "CUDA_PATH", "TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assembler._search.cache_clear()
    yield tmp_path
    assembler._search.cache_clear()


def place(path, text="x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def found(arch=90):
    assembler._search.cache_clear()
    return assembler.find_assembler(arch)


def test_nothing_there(empty_machine):
    assert found() == assembler.Assembler()
    assert found().key == ""


def test_search_order(empty_machine, monkeypatch):
    on_path = place(empty_machine / "bin" / "ptxas")
    assert found().ptxas == on_path
    usual = place(empty_machine / "cuda" / "bin" / "ptxas")
    assert found().ptxas == usual
    monkeypatch.setenv("CUDA_HOME", str(empty_machine / "home"))
    home = place(empty_machine / "home" / "bin" / "ptxas")
    assert found().ptxas == home
    twelve = place(empty_machine / "nvidia" / "cuda_nvcc" / "bin" / "ptxas")
    assert found().ptxas == twelve
    thirteen = place(empty_machine / "nvidia" / "cu13" / "bin" / "ptxas")
    assert found().ptxas == thirteen
    library = place(empty_machine / "nvidia" / "nvjitlink" / "lib" / "libnvJitLink.so.12")
    assert found() == assembler.Assembler(thirteen, library)
    library = place(empty_machine / "nvidia" / "cu13" / "lib" / "libnvJitLink.so.13")
    assert found() == assembler.Assembler(thirteen, library)
    monkeypatch.setenv("TRITON_PTXAS_PATH", on_path)
    assert found() == assembler.Assembler(on_path)
    monkeypatch.setenv("TRITON_PTXAS_BLACKWELL_PATH", usual)
    assert (found(90).ptxas, found(100).ptxas) == (on_path, usual)


def test_a_wrong_path_in_the_settings_is_an_error(empty_machine, monkeypatch):
    monkeypatch.setenv("TRITON_PTXAS_PATH", str(empty_machine / "missing"))
    with pytest.raises(
        RuntimeError, match="TRITON_PTXAS_PATH names .*missing, which is no program"
    ):
        found()


def test_options_reach_the_assembler(tmp_path, monkeypatch):
    """A stub of ptxas writes its arguments."""
    program = place(tmp_path / "ptxas", '#!/bin/sh\necho "$@" >&4\n')
    with knobs.nvidia.scope():
        knobs.nvidia.ptxas = program
        plain = compiled_for()
        made = compiled_for(ptx_options="--maxrregcount=40 -O1")
        monkeypatch.setenv("PTXAS_OPTIONS", "--warn-on-spills")
        from_settings = compiled_for()
        monkeypatch.setenv("DISABLE_PTXAS_OPT", "1")
        unoptimised = compiled_for()
    assert made.asm["cubin"].endswith(b" --maxrregcount=40 -O1\n")
    assert from_settings.asm["cubin"].endswith(b" --warn-on-spills\n")
    assert unoptimised.asm["cubin"].endswith(b" --opt-level=0 --warn-on-spills\n")
    assert len({each.hash for each in (plain, made, from_settings, unoptimised)}) == 4


TOOLS_OF_FORKS = """
import os, sys
import triton, triton.language as tl
from triton.backends.nvidia import assembler
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def store(p, n, N: tl.constexpr):
    for i in range(n):
        tl.store(p + i, N)

def tool(n):
    source = ASTSource(store, {"p": "*i32", "n": "i32", "N": "constexpr"}, {"N": n})
    return triton.compile(source, GPUTarget("cuda", 90, 32)).metadata.tool

assembler._search = lambda root: assembler.Assembler(*sys.argv[1:])
print(tool(1), flush=True)
if os.fork() == 0:
    print(tool(2), flush=True)
    os._exit(0)
os.wait()
"""


@pytest.mark.parametrize(
    ("has_ptxas", "answer", "tools"),
    [
        (True, "", ["nvjitlink", "nvjitlink"]),
        (True, "fail=cuDeviceGetCount:3", ["ptxas", "ptxas"]),
        (False, "fail=cuDeviceGetCount:3", ["nvjitlink", "driver"]),
    ],
)
def test_compilation_does_not_initialise_cuda(tmp_path, stub, has_ptxas, answer, tools):
    """nvJitLink calls cuInit, after which forked processes have no CUDA: ptxas is used where nobody else has called it."""
    ptxas = place(tmp_path / "ptxas", "#!/bin/sh\necho cubin >&4\n") if has_ptxas else ""
    script = tmp_path / "forks.py"
    script.write_text(TOOLS_OF_FORKS)
    folder = os.path.dirname(LIBRARY)
    environment = dict(
        os.environ, LD_LIBRARY_PATH=folder, STUB_LIBCUDA=answer, TRITON_CACHE_DIR=str(tmp_path)
    )
    command = [sys.executable, str(script), ptxas, os.path.join(folder, "libnvJitLink.so.98")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == tools, done.stderr


SPILLING_PTXAS = """#!/bin/sh
[ "$1" = --version ] && exit
blocks=$(sed -n 's/^[.]minnctapersm //p' /proc/self/fd/3)
echo cubin >&4
echo ${{blocks:-0}} >> {log}
spills=$(( blocks > {most} ? 4 * (blocks - {most}) : 0 ))
echo "    8 bytes stack frame, $spills bytes spill stores, $spills bytes spill loads" >&2
echo "ptxas info    : Used 40 registers" >&2
"""


@triton.jit
def add(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at) + 1)


@triton.jit
def add_blocks(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    for block in range(n):
        at = block * BLOCK + tl.arange(0, BLOCK)
        tl.store(y_ptr + at, tl.load(x_ptr + at) + 1)


def launch_bounds(kernel, signature, most, tmp_path, monkeypatch):
    """The bounds that a stub of ptxas saw, which spills if more than `most` CTAs must be resident,
    and the PTX that was kept.
    """
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    log = tmp_path / "blocks"
    program = place(tmp_path / "ptxas", SPILLING_PTXAS.format(log=log, most=most))
    source = ASTSource(kernel, signature | {"BLOCK": "constexpr"}, {"BLOCK": 1024}, {})
    with knobs.nvidia.scope():
        knobs.nvidia.ptxas = program
        options = {"ptx_options": f"--most={most}"}  # a kernel of its own
        made = triton.compile(source, GPUTarget("cuda", 90, 32), options)
    return [int(blocks) for blocks in log.read_text().split()], made.asm["ptx"]


@pytest.mark.parametrize("most", [1, 2, 3, 5, 7, 1000])
def test_a_launch_bound_that_spills_gives_way_to_the_largest_that_does_not(
    most, tmp_path, monkeypatch
):
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32"}
    tried, ptx = launch_bounds(add_blocks, signature, most, tmp_path, monkeypatch)
    of_all_registers = 65536 // (256 * 128)
    assert tried[0] > 7 and len(tried) <= 6
    kept = min(tried[0], max(most, of_all_registers))
    assert f".minnctapersm {kept}\n" in ptx


@pytest.mark.parametrize("most", [1, 7, 1000])
def test_without_loops_a_launch_bound_that_spills_is_dropped(most, tmp_path, monkeypatch):
    """Without a bound the stub takes 40 registers, which leave room for 12 CTAs; bounds above are tried, and spill."""
    tried, ptx = launch_bounds(
        add, {"x_ptr": "*fp32", "y_ptr": "*fp32"}, most, tmp_path, monkeypatch
    )
    assert tried[0] > 7
    if most < tried[0]:
        assert 0 in tried and ".minnctapersm" not in ptx
    else:
        assert tried == tried[:1] and f".minnctapersm {tried[0]}\n" in ptx


def test_options_without_an_assembler_are_an_error(empty_machine):
    with pytest.raises(
        triton.CompilationError, match="there is no ptxas or nvJitLink for sm_90a"
    ) as caught:
        compiled_for(ptx_options="-O1")
    assert "[assembler-missing]" in str(caught.value)


def test_tools_are_part_of_the_backends_hash(empty_machine):
    backend = make_backend(GPUTarget("cuda", 90, 32))
    first = backend.hash()
    place(empty_machine / "bin" / "ptxas", "a")
    assembler._search.cache_clear()
    second = backend.hash()
    place(empty_machine / "cuda" / "bin" / "ptxas", "another")
    assembler._search.cache_clear()
    assert len({first, second, backend.hash()}) == 3
