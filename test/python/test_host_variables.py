"""Libraries of bitcode with variables that the host initialises, as NVSHMEM's: linking, hooks, torch's interface."""
# SPDX-License-Identifier: MIT

import re
import shutil
import subprocess

import _cuda_launches
import pytest
import triton
import triton.language as tl
from _cuda_launches import A, B
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.language import core

stub, array = _cuda_launches.stub, _cuda_launches.array

# A library as NVSHMEM's: state in constant memory, a variable that no function reads, functions of blocks with addresses
# and without a result.
LIBRARY = """
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"

%state = type { i32, i32, ptr }
@shmem_state_d = addrspace(4) externally_initialized global %state zeroinitializer, align 8
@shmem_version_d = addrspace(4) externally_initialized global i32 7, align 4
@helper_table = internal addrspace(1) global [2 x i32] [i32 1, i32 2]

define i32 @shmem_my_pe() {
  %pe = load i32, ptr addrspace(4) @shmem_state_d
  ret i32 %pe
}

define void @shmemx_putmem_block(ptr %dest, ptr %source, i64 %bytes, i32 %pe) noinline {
  %base = load ptr, ptr addrspace(4) getelementptr (%state, ptr addrspace(4) @shmem_state_d, i32 0, i32 2)
  %offset = ptrtoint ptr %dest to i64
  %remote = getelementptr i8, ptr %base, i64 %offset
  %word = load i32, ptr %source
  %sum = add i32 %word, %pe
  store i32 %sum, ptr %remote
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define void @shmem_fence() {
  fence seq_cst
  ret void
}

define i32 @unused(i32 %x) {
  %at = getelementptr [2 x i32], ptr addrspace(1) @helper_table, i32 0, i32 %x
  %value = load i32, ptr addrspace(1) %at
  ret i32 %value
}
"""


def bitcode(path, text=LIBRARY):
    clang = shutil.which("clang-22")
    if clang is None:
        pytest.skip("no clang-22 to make a library of bitcode")
    command = [clang, "--target=nvptx64-nvidia-cuda", "-x", "ir", "-", "-emit-llvm", "-c", "-w"]
    subprocess.run([*command, "-o", str(path)], input=text, text=True, check=True)
    return str(path)


def _extern(args, types, symbol, is_pure, _semantic):
    table = {tuple(core.dtype(name) for name in types): (symbol, core.dtype("int32"))}
    return core.extern_elementwise("", "", args, table, is_pure=is_pure, _semantic=_semantic)


@core.extern
def put(dest, source, size, pe, _semantic=None):
    types = ("int64", "int64", "int64", "int32")
    return _extern([dest, source, size, pe], types, "shmemx_putmem_block", False, _semantic)


@core.extern
def fence(_semantic=None):
    return _extern([], (), "shmem_fence", False, _semantic)


@core.extern
def my_pe(_semantic=None):
    return _extern([], (), "shmem_my_pe", True, _semantic)


@triton.jit
def send(dest, source, n):
    me = my_pe()
    put(dest.to(tl.int64), source.to(tl.int64), n.to(tl.int64) * 4, me + 1)
    fence()


def compiled(libraries, target=GPUTarget("cuda", 90, 32), kernel=send):
    source = ASTSource(kernel, {"dest": "*i32", "source": "*i32", "n": "i32"}, {}, {})
    return triton.compile(source, target, {"extern_libs": libraries})


def test_calls_without_a_library_take_the_one_that_has_the_symbol(tmp_path):
    other = bitcode(tmp_path / "other.bc", "define i32 @nothing() {\n  ret i32 0\n}\n")
    ptx = compiled(
        {"a": other, "libdevice": "/nowhere.bc", "shmem": bitcode(tmp_path / "s.bc")}
    ).asm["ptx"]
    assert "shmemx_putmem_block" in ptx
    assert re.search(r"fence\.(sc|acq_rel)\.sys|membar\.sys", ptx)
    assert "helper_table" not in ptx and "unused" not in ptx


def test_variables_of_the_host_keep_their_names(tmp_path):
    ptx = compiled({"shmem": bitcode(tmp_path / "s.bc")}).asm["ptx"]
    assert re.search(r"^\.visible \.const \.align 8 \.b8 shmem_state_d\[16\]", ptx, re.MULTILINE)
    assert re.search(r"^\.visible \.const \.align 4 \.u32 shmem_version_d = 7", ptx, re.MULTILINE)
    assert not re.search(r"\.visible \.func", ptx)


def test_variables_of_the_host_are_in_the_machine_code(tmp_path):
    readelf = shutil.which("llvm-readelf-22") or shutil.which("readelf")
    if readelf is None:
        pytest.skip("no readelf")
    kernel = compiled({"shmem": bitcode(tmp_path / "s.bc")})
    if "cubin" not in kernel.asm:
        pytest.skip("no assembler for cubins")
    path = tmp_path / "kernel.cubin"
    path.write_bytes(kernel.asm["cubin"])
    symbols = subprocess.run(
        [readelf, "-sW", path], capture_output=True, text=True, check=True
    ).stdout
    for name in ("shmem_state_d", "shmem_version_d"):
        assert re.search(rf"GLOBAL\s.*\b{name}$", symbols, re.MULTILINE), symbols


def test_a_library_that_is_not_called_leaves_nothing(tmp_path):
    @triton.jit
    def plain(dest, source, n):
        tl.store(dest, tl.load(source) + n)

    ptx = compiled({"shmem": bitcode(tmp_path / "s.bc")}, kernel=plain).asm["ptx"]
    assert "shmem" not in ptx


def test_other_types_are_an_error(tmp_path):
    @core.extern
    def wrong(x, _semantic=None):
        return _extern([x], ("fp32",), "shmem_my_pe", True, _semantic)

    @triton.jit
    def calls_wrong(dest, source, n):
        tl.store(dest, wrong(n.to(tl.float32)))

    path = bitcode(tmp_path / "s.bc")
    with pytest.raises(triton.CompilationError, match=r"with these types: its own are \(\) -> i32"):
        compiled({"shmem": path}, kernel=calls_wrong)


def test_a_symbol_that_no_library_has_is_an_error(tmp_path):
    @core.extern
    def missing(x, _semantic=None):
        return _extern([x], ("int32",), "shmem_missing", True, _semantic)

    @triton.jit
    def calls_missing(dest, source, n):
        tl.store(dest, missing(n))

    path = bitcode(tmp_path / "s.bc")
    with pytest.raises(triton.CompilationError, match="s.bc`, which has no such symbol"):
        compiled({"shmem": path}, kernel=calls_missing)


# --- The hook -------------------------------------------------------------------------------------


@pytest.fixture
def initialized(stub):
    """Modules that a hook has seen before their first launch, found as torch's symmetric memory finds them."""
    seen = []

    def hook(*args, key, fn, compile, **more):  # noqa: A002
        kernel = fn.jit_function.device_caches[compile["device"]][0].get(key)
        kernel.run  # noqa: B018
        seen.append((kernel.module, compile["device"], len(stub.launches())))

    with knobs.runtime.scope():
        knobs.runtime.jit_post_compile_hook = hook
        yield seen


@pytest.mark.parametrize("device", [0, 1])
def test_hooks_get_the_module_of_the_gpu_that_launches(stub, array, initialized, device):
    kernel = _cuda_launches.make_kernel()
    for _ in range(2):
        kernel[(1,)](array(A, device), 5, 0.5, True, array(B, device))
    ((module, hooked, launches),) = initialized
    assert isinstance(module, int) and module
    assert (hooked, launches) == (device, 0)
    assert [call["device"] for call in stub.calls("cuModuleLoadDataEx")] == [device]
    assert [call["device"] for call in stub.launches()] == [device, device]
