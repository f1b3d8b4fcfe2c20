"""`TRITON_KERNEL_DUMP` writes a kernel's stages, `TRITON_KERNEL_OVERRIDE` reads edited ones: docs/settings.md."""
# SPDX-License-Identifier: MIT

import json
import shutil

import numpy as np
import pytest
import triton
import triton.language as tl
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.backends.sim.driver import SimDriver
from triton.compiler import ASTSource

CUDA = GPUTarget("cuda", 90, 32)
TEXTS = {"cuda": "ttir ttgir llir ptx", "hip": "ttir ttgir llir amdgcn", "cpu": "ttir llir asm"}
BINARY = {"cuda": "cubin", "hip": "hsaco", "cpu": "so"}
TARGETS = {"cuda": CUDA, "hip": GPUTarget("hip", "gfx942", 64), "cpu": None}


@triton.jit
def shift(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) + n, mask=at < n)


@pytest.fixture(autouse=True)
def folders(tmp_path, cpu_is_active):
    """(dump, override): the folders of the settings."""
    with knobs.cache.scope(), knobs.compilation.scope():
        knobs.cache.dir = str(tmp_path / "cache")
        knobs.cache.dump_dir = str(tmp_path / "dump")
        knobs.cache.override_dir = str(tmp_path / "override")
        yield tmp_path / "dump", tmp_path / "override"


def compiled(target="cuda", **options):
    source = ASTSource(shift, {"x": "*fp32", "n": "i32"}, {"BLOCK": 64})
    return triton.compile(source, TARGETS[target], options)


def dumped(folders, target="cuda", **options):
    """Dumps a kernel; returns the folder, in the place where it overrides."""
    dump, override = folders
    knobs.compilation.dump_ir = True
    compiled(target, **options)
    knobs.compilation.dump_ir = False
    (folder,) = dump.iterdir()
    shutil.move(folder, override / folder.name)
    knobs.compilation.override = True
    return override / folder.name


def keep(folder, *stages):
    for path in folder.iterdir():
        if path.suffix[1:] not in stages:
            path.unlink()


def edit(folder, stage, word, other):
    path = folder / f"shift.{stage}"
    text = path.read_text()
    assert word in text
    path.write_text(text.replace(word, other))
    return path


@pytest.mark.parametrize("target", TARGETS)
def test_every_stage_is_dumped(target, folders):
    folder = dumped(folders, target)
    for stage in TEXTS[target].split():
        assert "shift" in (folder / f"shift.{stage}").read_text(), stage
    assert (folder / f"shift.{BINARY[target]}").exists()
    assert json.loads((folder / "shift.json").read_text())["name"] == "shift"


@pytest.mark.parametrize(
    "target, stage, word, other",
    [
        ("cuda", "ttir", "arith.addf", "arith.subf"),
        ("cuda", "ttgir", "arith.addf", "arith.subf"),
        ("cuda", "llir", "fadd", "fsub"),
        ("cuda", "ptx", "add.f32", "sub.f32"),
        ("hip", "llir", "fadd", "fsub"),
        ("hip", "amdgcn", "v_add_f32", "v_sub_f32"),
        ("cpu", "ttir", "arith.addf", "arith.subf"),
    ],
)
def test_an_edited_stage_overrides(target, stage, word, other, folders, capfd):
    plain = compiled(target)
    folder = dumped(folders, target)
    keep(folder, stage)
    path = edit(folder, stage, word, other)
    kernel = compiled(target)
    assert other in kernel.asm[stage] and word not in kernel.asm[stage]
    assert kernel.hash != plain.hash
    assert capfd.readouterr().out == f"\nOverriding kernel with file {path}\n"


def test_a_launch_runs_what_overrides(folders):
    folder = dumped_by_launch(folders)
    keep(folder, "ttir")
    edit(folder, "ttir", "arith.addf", "arith.subf")
    shift.device_caches.clear()
    x = np.zeros(64, np.float32)
    shift[(1,)](x, 5, BLOCK=64)
    assert x[:6].tolist() == [-5, -5, -5, -5, -5, 0]
    knobs.compilation.override = False
    shift.device_caches.clear()
    x[:] = 0
    shift[(1,)](x, 5, BLOCK=64)
    assert x[:6].tolist() == [5, 5, 5, 5, 5, 0]


def dumped_by_launch(folders):
    dump, override = folders
    knobs.compilation.dump_ir = True
    shift.device_caches.clear()
    shift[(1,)](np.zeros(64, np.float32), 5, BLOCK=64)
    knobs.compilation.dump_ir = False
    (folder,) = dump.iterdir()
    shutil.move(folder, override / folder.name)
    knobs.compilation.override = True
    return override / folder.name


def test_the_last_of_several_stages_overrides(folders):
    folder = dumped(folders)
    keep(folder, "ttir", "llir")
    edit(folder, "ttir", "arith.addf", "arith.mulf")
    edit(folder, "llir", "fadd", "fsub")
    kernel = compiled()
    assert "arith.addf" in kernel.asm["ttir"] and "fsub" in kernel.asm["llir"]


def test_variants_have_their_own_folders(folders):
    folder = dumped(folders, num_warps=2)
    keep(folder, "ttgir")
    edit(folder, "ttgir", "arith.addf", "arith.subf")
    assert "arith.addf" in compiled(num_warps=4).asm["ttgir"]
    assert "arith.subf" in compiled(num_warps=2).asm["ttgir"]


def test_without_files_the_kernel_is_the_same(folders, capfd):
    plain = compiled()
    knobs.compilation.override = True
    assert compiled().hash == plain.hash and capfd.readouterr().out == ""


def test_the_option_holds_where_no_file_overrides(folders, tmp_path):
    path = tmp_path / "mine.ttir"
    path.write_text(compiled().asm["ttir"].replace("arith.addf", "arith.subf"))
    knobs.compilation.override = True
    assert "arith.subf" in compiled(ir_override=str(path)).asm["ttir"]


def test_a_stage_that_cannot_be_replaced_is_told(folders):
    folder = dumped(folders, "cpu")
    keep(folder, "ttir", "llir")
    with pytest.warns(
        UserWarning,
        match=r"shift.llir overrides nothing: on target `cpu` a file \*.ttir, \*.so replaces",
    ):
        compiled("cpu")


@pytest.mark.parametrize(
    "stage, text, message",
    [
        ("ttir", "", "shift.ttir, which has 0 public functions"),
        ("ttgir", "\n\nmodule { nonsense", r"shift.ttgir:3:10: error: cannot read this IR"),
        ("llir", "; empty\nnonsense", "shift.llir, which is no LLVM IR: line 2"),
        ("ptx", "", "shift.ptx, which has no entry `shift`"),
    ],
)
def test_a_file_that_is_wrong_is_named(stage, text, message, folders):
    folder = dumped(folders)
    keep(folder, stage)
    (folder / f"shift.{stage}").write_text(text)
    with pytest.raises(triton.CompilationError, match=message):
        compiled()


def other_binary(target, tmp_path):
    """The binary of a kernel that subtracts where `shift` adds."""
    path = tmp_path / "other.ttir"
    path.write_text(compiled(target).asm["ttir"].replace("arith.addf", "arith.subf"))
    return compiled(target, ir_override=str(path)).asm[BINARY[target]]


@pytest.mark.parametrize("target", TARGETS)
def test_a_binary_overrides_as_it_is(target, folders, tmp_path):
    other = other_binary(target, tmp_path)
    folder = dumped(folders, target)
    binary = folder / f"shift.{BINARY[target]}"
    assert binary.read_bytes() != other
    keep(folder)
    binary.write_bytes(other)
    assert compiled(target).asm[BINARY[target]] == other


def test_a_launch_runs_the_binary_that_overrides(folders, tmp_path):
    folder = dumped_by_launch(folders)
    knobs.compilation.override = False
    other = other_binary("cpu", tmp_path)
    knobs.compilation.override = True
    keep(folder)
    (folder / "shift.so").write_bytes(other)
    shift.device_caches.clear()
    x = np.zeros(64, np.float32)
    shift[(1,)](x, 5, BLOCK=64)
    assert x[:6].tolist() == [-5, -5, -5, -5, -5, 0]


@pytest.mark.parametrize("target", TARGETS)
def test_a_file_that_is_no_binary_of_the_kernel_is_named(target, folders, tmp_path):
    machine = "cpu" if target != "cpu" else "hip"
    wrong = {
        b"": "it is no ELF file",
        b"some text": "it is no ELF file",
        other_binary(target, tmp_path)[:100]: "",
        other_binary(machine, tmp_path): "it is for another machine",
        other_binary(target, tmp_path).replace(b"shift", b"other"): "it does not define `shift`",
    }
    folder = dumped(folders, target)
    keep(folder)
    for content, fault in wrong.items():
        (folder / f"shift.{BINARY[target]}").write_bytes(content)
        with pytest.raises(
            triton.CompilationError,
            match=rf"no \*.{BINARY[target]} of `shift`: .*{fault}.*\[ir-override-binary\]",
        ):
            compiled(target)


def test_simulated_gpus_take_no_binary(folders, tmp_path):
    path = tmp_path / "mine.cubin"
    path.write_bytes(b"")
    with pytest.raises(triton.CompilationError, match=r"mine.cubin; on target `sim` .* \*.ptx"):
        source = ASTSource(shift, {"x": "*fp32", "n": "i32"}, {"BLOCK": 64})
        triton.compile(source, SimDriver("sim").get_current_target(), {"ir_override": str(path)})


def test_a_folder_is_no_stage(folders):
    folder = dumped(folders)
    (folder / "shift.ttir").unlink()
    (folder / "shift.ttir").mkdir()
    with pytest.raises(IsADirectoryError, match="a folder cannot override a stage: .*shift.ttir"):
        compiled()


def test_files_that_others_may_write_are_refused(folders):
    folder = dumped(folders)
    (folder / "shift.ttir").chmod(0o666)
    with pytest.raises(
        PermissionError, match="shift.ttir does not override a stage: .* `chmod go-w`"
    ):
        compiled()
