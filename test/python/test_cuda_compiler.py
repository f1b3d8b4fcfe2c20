"""The CUDA backend: options, assemblers of PTX, compiled kernels and what other packages read of them."""
# SPDX-License-Identifier: MIT

import json
import os
import pickle
import re
import shutil
import struct
import subprocess

import pytest
import triton
import triton.language as tl
from _stub_cuda import compile_by_hand, exchange_array_class, use_stub
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource, make_backend

A, B = 0x7F0000001000, 0x7F0000002000


@triton.jit
def kernel(x_ptr, n, y_ptr, BLOCK: tl.constexpr):
    tl.store(y_ptr, tl.load(x_ptr) + n)


SIGNATURE = {"x_ptr": "*fp32", "n": "i32", "y_ptr": "*fp32", "BLOCK": "constexpr"}


@pytest.fixture
def stub():
    yield from use_stub()


def options(arch=90, **given):
    return make_backend(GPUTarget("cuda", arch, 32)).parse_options(given)


# --- Options --------------------------------------------------------------------------------------


def test_defaults():
    assert options().arch == "sm90"
    assert (options().num_warps, options().num_stages, options().num_ctas) == (4, 3, 1)
    assert options().default_dot_input_precision == "tf32"
    assert options().max_num_imprecise_acc_default == 2**30
    assert options(80).max_num_imprecise_acc_default == 0
    assert "fp8e4nv" in options().supported_fp8_dtypes
    assert "fp8e4nv" not in options(80).supported_fp8_dtypes
    assert options(unknown=3, num_warps=8).num_warps == 8


def test_wrong_options_are_refused():
    with pytest.raises(AssertionError, match="num_warps must be a power of 2, got 6"):
        options(num_warps=6)
    with pytest.raises(
        triton.OutOfResources, match="threads, Required: 2048, Hardware limit: 1024"
    ):
        options(num_warps=64)
    with pytest.raises(ValueError, match="num_ctas=2 needs a GPU of compute capability 9.0"):
        options(80, num_ctas=2)
    with pytest.raises(ValueError, match="'hopper' is not the name of a GPU architecture"):
        make_backend(GPUTarget("cuda", 90, 32)).parse_options({"arch": "hopper"})


def test_architecture_can_be_overridden(monkeypatch):
    monkeypatch.setenv("TRITON_OVERRIDE_ARCH", "sm80")
    backend = make_backend(GPUTarget("cuda", 90, 32))
    assert backend.code_target(backend.parse_options({})) == GPUTarget("cuda", 80, 32)


def test_portable_code_has_the_exact_name(monkeypatch):
    monkeypatch.setenv("TRITON_OVERRIDE_ARCH", "sm_90")
    backend = make_backend(GPUTarget("cuda", 90, 32))
    target = backend.code_target(backend.parse_options({}))
    assert target == GPUTarget("cuda", "sm_90", 32)
    assert ".target sm_90\n" in compiled_for(target).asm["ptx"]


@pytest.mark.parametrize("flushes", [True, False])
def test_denormals_are_kept_either_way(flushes, recwarn):
    kept = compiled_for(enable_reflect_ftz=flushes)
    assert ".ftz" not in kept.asm["ptx"]
    assert not recwarn


def compiled_for(target=GPUTarget("cuda", 90, 32), **given):
    return triton.compile(ASTSource(kernel, SIGNATURE, {"BLOCK": 64}, {}), target, given)


def test_versions_of_ptx():
    assert ".version 8.0" in compiled_for().asm["ptx"]
    newer = compiled_for(ptx_version=83)
    assert ".version 8.3" in newer.asm["ptx"]
    assert newer.metadata.ptx_version == 83
    assert newer.hash != compiled_for().hash
    for version, text in (
        (70, "ptx_version is 70; the code generated for sm_90a needs 80 at least"),
        (999, "ptx_version is 999, which LLVM does not write; its highest is"),
    ):
        with pytest.raises(triton.CompilationError, match=text):
            compiled_for(ptx_version=version)


@triton.jit
def calls_mine(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.extra.libdevice.asin(x) + scaled(x)
    tl.store(y_ptr + at, y)


@tl.core.extern
def scaled(x, _semantic=None):
    symbols = {(tl.float32,): ("my_scaled", tl.float32)}
    return tl.core.extern_elementwise("mine", "", [x], symbols, is_pure=True, _semantic=_semantic)


def compiled_with(libraries):
    source = ASTSource(calls_mine, {"x_ptr": "*fp32", "y_ptr": "*fp32"}, {"BLOCK": 64}, {})
    return triton.compile(source, GPUTarget("cuda", 90, 32), {"extern_libs": libraries})


def bitcode(path, body):
    """A library of one function; skips if there is no clang to build it."""
    return bitcode_of(
        path, f"float __nv_nothing(float); float my_scaled(float x) {{ return {body}; }}"
    )


def bitcode_of(path, text):
    clang = shutil.which("clang-22") or shutil.which("clang")
    if clang is None:
        pytest.skip("no clang to make a library of bitcode")
    command = [clang, "--target=nvptx64-nvidia-cuda", "-O1", "-x", "c", "-", "-emit-llvm", "-c"]
    subprocess.run([*command, "-o", str(path)], input=text, text=True, check=True)
    return str(path)


def test_functions_come_from_libraries_of_the_options(tmp_path):
    # libdevice is the compiler's own, even if a file is named for it.
    libraries = {
        "mine": bitcode(tmp_path / "mine.bc", "x * 3.0f"),
        "libdevice": "/nowhere/libdevice.10.bc",
    }
    first = compiled_with(libraries)
    assert re.search(r"mul.*0f40400000", first.asm["ptx"])
    assert compiled_with(libraries).hash == first.hash
    bitcode(tmp_path / "mine.bc", "x * 5.0f")
    second = compiled_with(libraries)
    assert re.search(r"mul.*0f40A00000", second.asm["ptx"]) and second.hash != first.hash


@pytest.mark.parametrize(
    "libraries, text",
    [
        (
            None,
            "`my_scaled` is no function of libdevice with these types; .* in the option `extern_libs`",
        ),
        ({"other": "/nowhere/other.bc"}, "`my_scaled` is no function of libdevice"),
        (
            {"mine": "/nowhere/mine.bc"},
            "no function of `/nowhere/mine.bc`, which is no file: there is nothing of that",
        ),
    ],
)
def test_functions_that_no_library_has(libraries, text):
    with pytest.raises(triton.CompilationError, match=text):
        compiled_with(libraries)


@pytest.mark.parametrize(
    "contents, text",
    [
        (None, "which is a folder"),
        (b"", "which is no LLVM bitcode: file too small"),
        (
            b"define float @my_scaled(float %x) {}",
            "which is no LLVM bitcode: ",
        ),
    ],
)
def test_a_library_that_is_no_bitcode_is_named(contents, text, tmp_path):
    library = tmp_path / "mine.bc"
    if contents is None:
        library.mkdir()
    else:
        library.write_bytes(contents)
    with pytest.raises(
        triton.CompilationError, match=f"no function of `{re.escape(str(library))}`, {text}"
    ):
        compiled_with({"mine": str(library)})


@pytest.mark.parametrize(
    "function, text",
    [
        ("float their_scaled(float x) { return x; }", ", which has no such symbol"),
        (
            "float my_scaled(float); float f(float x) { return my_scaled(x); }",
            ", which has no such symbol",
        ),
        (
            "double my_scaled(double x) { return x; }",
            r" with these types: its own are \(double\) -> double, the call's",
        ),
        (
            "float my_scaled(int n) { return n; }",
            r" with these types: its own are \(i32\) -> float, the call's are \(float",
        ),
    ],
)
def test_a_library_without_the_function_is_named(function, text, tmp_path):
    library = bitcode_of(tmp_path / "mine.bc", function)
    with pytest.raises(
        triton.CompilationError, match=f"`my_scaled` is no function of `{re.escape(library)}`{text}"
    ):
        compiled_with({"mine": library})


def test_a_library_that_calls_what_is_not_there_is_named(tmp_path):
    library = bitcode(tmp_path / "mine.bc", "__nv_nothing(x)")
    text = f"the library `{library}` cannot be linked into the kernel: libdevice has no function `__nv_nothing`"
    with pytest.raises(triton.CompilationError, match=text) as caught:
        compiled_with({"mine": library})
    assert caught.value.diagnostics[0].code == "extern-library"


def test_libraries_must_be_named_paths():
    with pytest.raises(
        TypeError,
        match="extern_libs must be a dict of paths by the names of libraries, got 'mine.bc'",
    ):
        compiled_with("mine.bc")


def test_programs_of_clusters():
    made = compiled_for(num_ctas=2)
    ptx = made.asm["ptx"]
    assert re.search(r"\.reqnctapercluster 2\b", ptx) and ".explicitcluster" in ptx
    assert made.metadata.num_ctas == 2 and tuple(made.metadata.cluster_dims) == (2, 1, 1)
    assert 'ttg.num-ctas" = 2' in made.asm["ttgir"]
    assert "cluster" not in compiled_for().asm["ptx"]


def test_clusters_too_large_are_refused_at_the_kernel():
    with pytest.raises(
        triton.CompilationError, match="num_ctas is 32; it must be a power of two up to 16"
    ) as caught:
        compiled_for(num_ctas=32)
    assert os.path.basename(__file__) in str(caught.value)


# --- Stages from the user ---------------------------------------------------------------------


def overridden(tmp_path, stage, text, **given):
    path = tmp_path / f"mine.{stage}"
    path.write_text(text)
    return compiled_for(ir_override=str(path), **given)


@pytest.mark.parametrize("stage", ["ttir", "ttgir", "llir", "ptx"])
def test_a_file_replaces_a_stage(stage, tmp_path):
    """`x + n` becomes `x - n`; stages before it stay."""
    names = {"ttir": "arith.addf", "ttgir": "arith.addf", "llir": "fadd", "ptx": "add.f32"}
    stages = list(names)
    plain = compiled_for()
    text = plain.asm[stage]
    assert names[stage] in text
    word = names[stage].replace("add", "sub")
    changed = overridden(tmp_path, stage, text.replace(names[stage], word))
    assert changed.hash != plain.hash
    for each in stages:
        word = names[each].replace("add", "sub")
        assert (word in changed.asm[each]) == (stages.index(each) >= stages.index(stage)), each


def undominated():
    """The kernel's LLVM IR, which has debug information, with a value that is used before it is defined."""
    text = compiled_for().asm["llir"]
    assert "Debug Info Version" in text
    return text.replace("ret void", "%b = add i32 %a, 1\n  %a = add i32 1, 1\n  ret void", 1)


def unselectable():
    """The kernel's LLVM IR with an instruction of another machine."""
    text = (
        compiled_for()
        .asm["llir"]
        .replace("ret void", "call void @llvm.x86.sse2.pause()\n  ret void", 1)
    )
    return text + "declare void @llvm.x86.sse2.pause()\n"


def test_the_users_text_that_the_assembler_rejects_is_named(tmp_path):
    ptx = compiled_for().asm["ptx"]
    line = next(
        number
        for number, each in enumerate(ptx.splitlines(), 1)
        if "add.f32" in each or "add.rn.f32" in each
    )
    wrong = ptx.splitlines()
    wrong[line - 1] = "nonsense;"
    program = tmp_path / "ptxas"
    refusal = (
        f"ptxas kernel.ptx, line {line}; error   : Not a name of any known instruction: 'nonsense'"
    )
    program.write_text(f'#!/bin/sh\necho "{refusal}" >&2\nexit 255\n')
    program.chmod(0o755)
    with knobs.nvidia.scope():
        knobs.nvidia.ptxas = str(program)
        text = rf"mine.ptx; the assembler rejects its PTX at line {line}: Not a "
        with pytest.raises(triton.runtime.errors.PTXASError, match=text) as caught:
            overridden(tmp_path, "ptx", "\n".join(wrong))
    assert "[ir-override-refused]" in str(caught.value)


def test_no_word_of_a_correct_replacement(tmp_path, capfd):
    overridden(tmp_path, "llir", compiled_for().asm["llir"])
    assert capfd.readouterr().err == ""


def test_what_replaces_a_stage_must_fit_the_kernel(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing.ttir"):
        compiled_for(ir_override=str(tmp_path / "missing.ttir"))
    text = compiled_for().asm["ttir"]
    for stage, wrong, message, code in (
        (
            "plan",
            "x",
            r"on target `cuda` it replaces a stage by a file \*\.ttir, \*\.ttgir",
            "ir-override-stage",
        ),
        ("cubin", "x", "is no ELF file", "ir-override-binary"),
        (
            "ttir",
            text.replace("%n: i32", "%n: i64").replace("%n : i32", "%n : i64"),
            "whose kernel",
            "ir-override-kernel",
        ),
        ("ttir", "tt.func @other(", "cannot read this IR", "invalid-ir"),
        ("llir", "nonsense", "which is no LLVM IR: line 1", "ir-override-text"),
        ("llir", "@x = common global i32 1", "which is invalid: ", "ir-override-invalid"),
        (
            "llir",
            undominated(),
            "which is invalid: Instruction does not dominate all uses",
            "ir-override-invalid",
        ),
        (
            "llir",
            "define void @other() { ret void }",
            "which has no function `kernel`",
            "ir-override-entry",
        ),
        (
            "llir",
            "define void @kernel() { ret void }",
            "has 0 parameters; the kernel's are 5",
            "ir-override-parameters",
        ),
        (
            "llir",
            unselectable(),
            "mine.llir, of which LLVM makes no code in phase `ptx`: Cannot select",
            "ir-override-fails",
        ),
        ("ptx", ".version 8.0", "which has no entry `kernel`", "ir-override-entry"),
        *(
            (stage, "", f"mine.{stage}, which has 0 public functions", "ir-override-functions")
            for stage in ("ttir", "ttgir")
        ),
        *(
            (stage, "", f"mine.{stage}, which has no", "ir-override-entry")
            for stage in ("llir", "ptx")
        ),
    ):
        with pytest.raises(triton.CompilationError, match=message) as caught:
            overridden(tmp_path, stage, wrong)
        assert caught.value.diagnostics[0].code == code


# --- Compiled kernels -----------------------------------------------------------------------------


def compiled(stub, **fields):
    source = ASTSource(kernel, SIGNATURE, {"BLOCK": 64}, {})
    return compile_by_hand(stub, **fields)(source, target=GPUTarget("cuda", 90, 32))


def test_properties_of_a_loaded_kernel(stub):
    stub.configure("registers=48 local=16 max_threads=512")
    made = compiled(stub, sharedBytes=1024)
    assert (made.n_regs, made.n_spills, made.n_max_threads) == (48, 4, 512)
    assert int(made.function) != 0
    assert made.module is not None
    assert made.metadata.shared == 1024
    assert made.metadata.num_warps == 4
    assert made.metadata.cluster_dims == (1, 1, 1)
    assert made.metadata.target == GPUTarget("cuda", 90, 32)
    assert made.metadata.name == made.name == "kernel"
    assert made.packed_metadata == (4, 1, 1024)


def test_run_takes_all_arguments_in_the_low_level_convention(stub):
    array = exchange_array_class()
    made, events = compiled(stub), []
    made._init_handles()
    args = (array(A), 7, array(B), 64)
    made.run(3, 2, 1, 0x30, made.function, made.packed_metadata, "data", events.append, None, *args)
    (launch,) = stub.launches()
    assert (launch["grid"], launch["stream"]) == ([3, 2, 1], 0x30)
    assert launch["arguments"][:3] == [
        struct.pack("<Q", A).hex(),
        struct.pack("<i", 7).hex(),
        struct.pack("<Q", B).hex(),
    ]
    assert events == ["data"]


def test_addresses_are_taken_as_numbers(stub):
    compiled(stub)[(2,)](A, 7, B, 64)
    compiled(stub)[(2,)](A, 7, None, 64, stream=0x40)
    first, second = stub.launches()
    assert first["arguments"][0] == struct.pack("<Q", A).hex()
    assert second["arguments"][2] == "00" * 8
    assert (first["stream"], second["stream"]) == (0, 0x40)


def test_arrays_of_other_gpus_are_taken_those_of_the_host_refused(stub):
    stub.configure("devices=2")
    array = exchange_array_class()
    compiled(stub)[(1,)](array(A, 1), 7, array(B), 64)
    assert [launch["device"] for launch in stub.launches()] == [0]
    numpy = pytest.importorskip("numpy")
    with pytest.raises(ValueError, match="`y_ptr` is on device cpu.*cpu tensor"):
        compiled(stub)[(1,)](array(A), 7, numpy.zeros(4, numpy.float32), 64)


def test_kernels_travel_between_processes(stub):
    made = compiled(stub)
    again = pickle.loads(pickle.dumps(made.__dict__["_code"]))
    assert again.artifact == made._code.artifact
    assert again.kernel(0).n_regs == 32


def test_folder_view_has_the_code_under_the_name_that_static_launchers_want(stub, tmp_path):
    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path)
        made = compiled(stub)
        files = made.metadata_group
    assert set(files) >= {"kernel.cubin", "kernel.json"}
    assert os.path.dirname(files["kernel.cubin"]) == str(tmp_path / ("A" * 52))
    with open(files["kernel.cubin"], "rb") as file:
        assert b".entry kernel" in file.read()
    with open(files["kernel.json"]) as file:
        info = json.load(file)
    assert info["target"] == {"backend": "cuda", "arch": "90", "warp_size": 32}
    assert (info["name"], info["shared"]) == ("kernel", 0)
