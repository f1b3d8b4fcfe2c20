"""`triton.compile` for AMD's GPUs: stages, options, metadata; the code object's own account of a launch."""
# SPDX-License-Identifier: MIT

import re
import shutil
import struct
import subprocess

import numpy as np
import pytest
import triton
import triton.language as tl
from _stub_cuda import exchange_array_class
from _stub_hip import LIBRARY, use_hip_stub
from triton.backends.amd.compiler import HIPBackend, HIPOptions, get_min_dot_size
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

GPUS = {"gfx90a": 64, "gfx942": 64, "gfx950": 64, "gfx1030": 32, "gfx1100": 32, "gfx1200": 32}


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, scale, flag, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x * scale + y, mask=mask & flag)


@triton.jit
def dot_kernel(x_ptr, y_ptr, out_ptr, K, BLOCK: tl.constexpr):
    rows, ks = tl.arange(0, BLOCK), tl.arange(0, 32)
    sums = tl.zeros([BLOCK, BLOCK], tl.float32)
    for start in range(0, K, 32):
        x = tl.load(x_ptr + rows[:, None] * K + start + ks[None, :])
        y = tl.load(y_ptr + (start + ks)[:, None] * BLOCK + rows[None, :])
        sums = tl.dot(x, y, sums)
    tl.store(out_ptr + rows[:, None] * BLOCK + rows[None, :], sums)


ADD = {
    "x_ptr": "*fp32",
    "y_ptr": "*fp32",
    "out_ptr": "*fp32",
    "n": "i32",
    "scale": "fp32",
    "flag": "i1",
}


def target_of(arch):
    return GPUTarget("hip", arch, GPUS[arch])


def compiled_add(arch="gfx942", **options):
    source = ASTSource(add_kernel, {**ADD, "BLOCK": "constexpr"}, {"BLOCK": 1024})
    return triton.compile(source, target=target_of(arch), options=options)


def compiled_dot(arch="gfx942", **options):
    signature = {
        "x_ptr": "*fp16",
        "y_ptr": "*fp16",
        "out_ptr": "*fp32",
        "K": "i32",
        "BLOCK": "constexpr",
    }
    source = ASTSource(dot_kernel, signature, {"BLOCK": 64})
    return triton.compile(source, target=target_of(arch), options=options)


# --- Stages and metadata --------------------------------------------------------------------------


@pytest.mark.parametrize("arch", GPUS)
def test_stages_and_metadata(arch):
    kernel = compiled_add(arch, num_warps=2)
    assert [stage for stage in kernel.asm if stage != "plan"] == [
        "ttir",
        "ttgir",
        "llir",
        "amdgcn",
        "hsaco",
    ]
    assert f'.amdgcn_target "amdgcn-amd-amdhsa--{arch}' in kernel.asm["amdgcn"]
    assert kernel.asm["hsaco"].startswith(b"\x7fELF") and kernel.kernel == kernel.asm["hsaco"]
    metadata = kernel.metadata
    assert (metadata.target, metadata.warp_size) == (target_of(arch), GPUS[arch])
    assert (metadata.num_warps, metadata.num_stages, metadata.arch) == (2, 2, arch)
    assert metadata.backend_name == "hip"
    assert re.search(rf"\.max_flat_workgroup_size: {2 * GPUS[arch]}\b", kernel.asm["amdgcn"])


def test_stages_one_by_one():
    target = target_of("gfx942")
    backend = make_backend(target)
    options = backend.parse_options({"num_warps": 4})
    source = ASTSource(add_kernel, {**ADD, "BLOCK": "constexpr"}, {"BLOCK": 256})
    context = triton._C.libtriton.ir.context()
    module = source.make_ir(target, options, {}, {}, context)
    metadata = {}
    ttir = backend.make_ttir(module, metadata, options)
    ttgir = backend.make_ttgir(ttir, metadata, options)
    llir = backend.make_llir(ttgir, metadata, options)
    amdgcn = backend.make_amdgcn(llir, metadata, options)
    hsaco = backend.make_hsaco(amdgcn, metadata, options)
    assert "tt.load" in str(ttir) and "#ttg.blocked" in str(ttgir)
    assert "amdgpu_kernel" in llir and "s_endpgm" in amdgcn and hsaco.startswith(b"\x7fELF")
    assert metadata["name"] == "add_kernel" and metadata["shared"] >= 0


# --- Options --------------------------------------------------------------------------------------


def test_the_defaults_are_tritons_except_kpack():
    options = HIPBackend(target_of("gfx942")).parse_options({})
    assert isinstance(options, HIPOptions)
    assert (options.num_warps, options.num_stages, options.waves_per_eu) == (4, 2, 0)
    assert (options.matrix_instr_nonkdim, options.kpack) == (0, 0)
    assert (options.enable_fp_fusion, options.allow_flush_denorm) == (True, False)
    assert options.schedule_hint == "none" and options.default_dot_input_precision == "ieee"
    assert "tf32" in options.allowed_dot_input_precisions
    other = HIPBackend(target_of("gfx90a")).parse_options({"launch_pdl": True, "unknown": 1})
    assert "tf32" not in other.allowed_dot_input_precisions
    assert get_min_dot_size(target_of("gfx942"))(tl.float16, tl.float16) == (1, 1, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"matrix_instr_nonkdim": 8}, "matrix_instr_nonkdim must be one of 0, 16, 32, got 8"),
        ({"kpack": 3}, "kpack must be one of 0, 1, 2, got 3"),
        ({"num_ctas": 2}, "num_ctas=2: AMD GPUs have no clusters of CTAs"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        compiled_add(**options)


def test_more_threads_than_a_cta_has():
    with pytest.raises(triton.OutOfResources, match="Required: 2048, Hardware limit: 1024"):
        compiled_add(num_warps=32)
    assert compiled_add("gfx1100", num_warps=32).metadata.num_warps == 32


def test_an_unknown_gpu():
    with pytest.raises(ValueError, match="gfx943"):
        triton.compile(
            ASTSource(add_kernel, {**ADD, "BLOCK": "constexpr"}, {"BLOCK": 64}),
            target=GPUTarget("hip", "gfx943", 64),
        )
    with pytest.raises(ValueError, match="90 is not the name of an AMD GPU; write gfx942"):
        make_backend(GPUTarget("hip", 90, 64))


def test_matrix_instructions_have_the_chosen_size():
    for size, other in ((16, 32), (32, 16)):
        text = compiled_dot(matrix_instr_nonkdim=size).asm["amdgcn"]
        assert re.search(rf"v_mfma_f32_{size}x{size}x", text)
        assert not re.search(rf"v_mfma_f32_{other}x{other}x", text)
    assert "v_wmma_f32_16x16x16" in compiled_dot("gfx1100").asm["amdgcn"]
    assert "v_wmma" not in compiled_dot("gfx1030").asm["amdgcn"]


def widths_of_loads(kernel):
    """Bits of the loads of operands from LDS; the b16 is that of one value."""
    return set(re.findall(r"ds_(?:read|load)(?:2(?:st64)?)?_b(\d+)", kernel.asm["amdgcn"]))


def test_kpack_is_the_number_of_instructions_whose_operands_a_load_brings():
    for arch in ("gfx90a", "gfx942"):  # four f16 values of an instruction: 64 bits
        narrow, wide, chosen = (compiled_dot(arch, kpack=kpack) for kpack in (1, 2, 0))
        assert widths_of_loads(narrow) == {"64"}
        assert widths_of_loads(wide) == widths_of_loads(chosen) == {"128"}
        assert "kWidth = 4" in narrow.asm["ttgir"] and "kWidth = 8" in wide.asm["ttgir"]
    # eight values: one load brings no more
    assert widths_of_loads(compiled_dot("gfx950", kpack=1)) == {"128"}
    assert widths_of_loads(compiled_dot("gfx950", kpack=2)) == {"128"}


def test_waves_and_denormals_reach_the_code():
    assert '"amdgpu-waves-per-eu"="3' in compiled_add(waves_per_eu=3).asm["llir"]
    assert "preserve-sign" in compiled_add(allow_flush_denorm=True).asm["llir"]
    assert "preserve-sign" not in compiled_add().asm["llir"]


def test_options_distinguish_kernels():
    keys = {
        compiled_add(**options).hash
        for options in (
            {},
            {"waves_per_eu": 2},
            {"kpack": 1},
            {"kpack": 2},
            {"allow_flush_denorm": True},
        )
    }
    assert len(keys) == 5


# --- Launches of compiled code --------------------------------------------------------------------


@pytest.mark.parametrize(("arch", "warp"), GPUS.items())
def test_the_buffer_of_a_launch_is_what_the_code_object_describes(arch, warp):
    """The stub reads offset and size of each argument in the metadata that HIP's runtime reads."""
    kernel = triton.jit(add_kernel.fn)  # kernels of one function are kept by device
    for stub in use_hip_stub(f"arch={arch}"):
        array = exchange_array_class(LIBRARY)
        for _ in range(2):
            kernel[(7, 1, 1)](
                array(0x10000),
                array(0x20000),
                array(0x30000),
                -5,
                0.5,
                True,
                BLOCK=512,
                num_warps=8,
            )
        assert len(stub.launches()) == 2
        for launch in stub.launches():
            assert launch["arguments"] == [
                struct.pack("<Q", 0x10000).hex(),
                struct.pack("<Q", 0x20000).hex(),
                struct.pack("<Q", 0x30000).hex(),
                struct.pack("<i", -5).hex(),
                struct.pack("<f", 0.5).hex(),
                "01",
                "00" * 8,
                "00" * 8,
            ]
            assert launch["bytes"] == 56
            assert launch["grid"] == [7, 1, 1]
            assert launch["block"] == [8 * warp, 1, 1]


def test_the_shared_memory_of_a_launch_is_the_kernels():
    for stub in use_hip_stub():
        array = exchange_array_class(LIBRARY)
        kernel = dot_kernel[(1,)](
            array(0x10000, type_bits=16), array(0x20000, type_bits=16), array(0x30000), 64, BLOCK=64
        )
        assert kernel.metadata.shared > 0
        assert stub.launches()[-1]["shared"] == kernel.metadata.shared


def test_code_is_not_loaded_where_it_was_not_compiled_for():
    kernel = compiled_add("gfx90a")
    for _ in use_hip_stub("arch=gfx942"):
        with pytest.raises(RuntimeError, match="compiled for gfx90a; hip:0 .* is gfx942"):
            kernel._init_handles()


def test_arrays_of_the_host_are_not_for_a_gpu():
    for _ in use_hip_stub():
        kernel = compiled_add()
        kernel._init_handles(0)
        x = np.zeros(8, np.float32)
        with pytest.raises(
            ValueError, match="is on device cpu, but the kernel was compiled for hip:0"
        ):
            kernel[(1,)](x, x, x, 8, 1.0, True)


@tl.core.extern
def scaled(x, _semantic=None):
    symbols = {(tl.float32,): ("my_scaled", tl.float32)}
    return tl.core.extern_elementwise("mine", "", [x], symbols, is_pure=True, _semantic=_semantic)


@triton.jit
def scaled_kernel(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, scaled(tl.load(x_ptr + at)))


def test_a_library_that_calls_what_is_not_there_is_named(tmp_path):
    clang = shutil.which("clang-22")
    if clang is None:
        pytest.skip("no clang to make a library of bitcode")
    library = tmp_path / "mine.bc"
    text = "float __nv_nothing(float); float my_scaled(float x) { return __nv_nothing(x); }"
    command = [clang, "--target=amdgcn-amd-amdhsa", "-nogpulib", "-mcode-object-version=5", "-O1"]
    subprocess.run(
        [*command, "-x", "c", "-", "-emit-llvm", "-c", "-o", str(library)],
        input=text,
        text=True,
        check=True,
    )
    source = ASTSource(
        fn=scaled_kernel,
        signature={"x_ptr": "*fp32", "BLOCK": "constexpr"},
        constexprs={"BLOCK": 64},
    )
    with pytest.raises(triton.CompilationError, match="cannot be linked into the kernel") as caught:
        triton.compile(source, target_of("gfx942"), {"extern_libs": {"mine": str(library)}})
    assert caught.value.diagnostics[0].code == "amd-extern-library"


def replaced(folder, stage, text):
    path = folder / f"mine.{stage}"
    path.write_text(text)
    return compiled_add(ir_override=str(path))


@pytest.mark.parametrize(
    "stage, word, other",
    [
        ("ttgir", "arith.addf", "arith.subf"),
        ("llir", "fadd", "fsub"),
        ("amdgcn", "v_fmac_f32_e32", "v_add_f32_e32"),
    ],
)
def test_a_file_replaces_a_stage(stage, word, other, tmp_path):
    plain = compiled_add()
    text = plain.asm[stage]
    assert word in text
    changed = replaced(tmp_path, stage, text.replace(word, other))
    assert other in changed.asm[stage] and changed.asm["hsaco"] != plain.asm["hsaco"]


def test_assembly_of_the_user_that_is_rejected_is_named(tmp_path):
    lines = compiled_add().asm["amdgcn"].splitlines()
    at = next(number for number, each in enumerate(lines) if "s_endpgm" in each)
    lines[at] = "  s_nonsense"
    with pytest.raises(
        triton.CompilationError, match=rf"mine.amdgcn; the assembler rejects .* at line {at + 1}: "
    ) as caught:
        replaced(tmp_path, "amdgcn", "\n".join(lines))
    assert caught.value.diagnostics[0].code == "amd-ir-override-refused"
