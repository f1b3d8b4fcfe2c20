"""The small tools: microscaling formats, ragged descriptors, modules of external libraries."""
# SPDX-License-Identifier: MIT

import importlib.util
import shutil
import subprocess
import sys

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.tools import build_extern
from triton.tools.ragged_tma import (
    atomic_add_ragged,
    create_ragged_descriptor,
    load_ragged,
    store_ragged,
)

# --- mxfp --------------------------------------------------------------------------------------------


def fp4(values):
    torch = pytest.importorskip("torch")
    from triton.tools.mxfp import MXFP4Tensor

    return MXFP4Tensor(torch.tensor(values, dtype=torch.float32))


def test_fp4_rounds_to_nearest_even():
    torch = pytest.importorskip("torch")
    values = [0.25, 0.26, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 5.1, 100.0]
    assert fp4(values).to(torch.float32).tolist() == [0, 0.5, 1, 1, 2, 2, 4, 4, 6, 6]
    assert fp4([-v for v in values]).to(torch.float32).tolist()[1:] == [
        -0.5, -1, -1, -2, -2, -4, -4, -6, -6,
    ]  # fmt: skip
    assert fp4([float("nan"), float("inf"), -float("inf"), -0.0]).data.tolist() == [7, 7, 15, 8]


@pytest.mark.parametrize(("shape", "dim"), [((5, 4), 0), ((5, 4), 1), ((3, 7), 1), ((2, 3, 5), 1)])
def test_fp4_packs_and_unpacks(shape, dim):
    torch = pytest.importorskip("torch")
    from triton.tools.mxfp import MXFP4Tensor

    values = MXFP4Tensor(size=shape, device="cpu").random()
    packed = values.to_packed_tensor(dim)
    assert packed.shape[dim] == (shape[dim] + 1) // 2 and packed.dtype == torch.uint8
    first = packed.select(dim, 0)
    assert torch.equal(first & 15, values.data.select(dim, 0))
    assert torch.equal(values.unpack_packed_tensor(packed, dim, shape), values.data)


def test_scales_are_powers_of_two():
    torch = pytest.importorskip("torch")
    from triton.tools.mxfp import MXScaleTensor

    values = torch.tensor([1.0, 1.9, 2.0, 0.75, 0.0, -1.0, float("inf"), float("nan")])
    scales = MXScaleTensor(values)
    assert scales.data.tolist() == [127, 127, 128, 126, 255, 255, 255, 255]
    assert scales.to(torch.float32).tolist()[:4] == [1, 1, 2, 0.5]
    assert torch.isnan(scales.to(torch.float32)[4:]).all()
    lowest = MXScaleTensor(torch.tensor([1.0]))
    lowest.data = torch.tensor([0, 254], dtype=torch.uint8)
    assert lowest.to(torch.float32).tolist() == [2.0**-127, 2.0**127]
    drawn = MXScaleTensor(size=(1000,), device="cpu").random(low=0.25, high=4.0).data
    assert drawn.min() == 125 and drawn.max() == 129


# --- ragged_tma --------------------------------------------------------------------------------------


@triton.jit
def copy_slice_kernel(src, dst, off, size, dst_off, ADD: tl.constexpr, BLOCK: tl.constexpr):
    rows = load_ragged(src, off, size, [tl.program_id(0) * BLOCK, 0])
    if ADD:
        atomic_add_ragged(dst, dst_off, size, [tl.program_id(0) * BLOCK, 0], rows)
    else:
        store_ragged(dst, dst_off, size, [tl.program_id(0) * BLOCK, 0], rows)


@pytest.mark.parametrize("add", [False, True])
def test_slices_end_where_they_end(add):
    src = np.arange(40 * 16, dtype=np.float32).reshape(40, 16)
    dst = np.ones_like(src)
    expected = dst.copy()
    expected[20:33] = src[5:18] + add
    descriptors = [create_ragged_descriptor(each, [8, 16]) for each in (src, dst)]
    copy_slice_kernel[(3,)](*descriptors, 5, 13, 20, ADD=add, BLOCK=8)
    assert np.array_equal(dst, expected)


@triton.jit
def load_middle_kernel(src, out, off, size, BLOCK: tl.constexpr):
    block = load_ragged(src, off, size, [1, 0, 0], ragged_dim=1)
    at = tl.arange(0, BLOCK)[:, None] * 4 + tl.arange(0, 4)[None, :]
    tl.store(out + at, tl.reshape(block, [BLOCK, 4]))


def test_another_dimension_is_ragged():
    src = np.arange(2 * 20 * 4, dtype=np.float32).reshape(2, 20, 4)
    out = np.full((8, 4), -1, dtype=np.float32)
    load_middle_kernel[(1,)](create_ragged_descriptor(src, [1, 8, 4], 1), out, 3, 5, BLOCK=8)
    assert np.array_equal(out[:5], src[1, 3:8]) and not out[5:].any()


def test_what_ragged_descriptors_refuse():
    matrix = np.zeros((8, 16), dtype=np.float32)
    with pytest.raises(AssertionError, match="last dimension cannot be ragged"):
        create_ragged_descriptor(matrix, [8, 16], 1)
    with pytest.raises(AssertionError, match="same length"):
        create_ragged_descriptor(matrix, [8])


# --- build_extern ------------------------------------------------------------------------------------

LIBRARY = """\
define float @__nv_cosf(float %x) #0 {
  ret float %x
}
define double @__nv_cos(double %x) #0 {
  ret double %x
}
define i32 @__nv_umulhi(i32 %x, i32 %y) #0 {
  ret i32 %x
}
define i32 @__nv_mulhi(i32 %x, i32 %y) #0 {
  ret i32 %x
}
define internal float @__nv_hidden(float %x) #0 {
  ret float %x
}
define float @__nv_frexpf(float %x, ptr %y) #0 {
  ret float %x
}
define double @__nv_dadd_rz(double %x, double %y) #0 {
  ret double %x
}
attributes #0 = { nounwind }
"""


def test_a_library_becomes_a_module(tmp_path):
    assembler, disassembler = shutil.which("llvm-as-22"), shutil.which("llvm-dis-22")
    if not (assembler and disassembler):
        pytest.skip("LLVM's tools are not installed")
    (tmp_path / "lib.ll").write_text(LIBRARY)
    subprocess.run([assembler, "lib.ll", "-o", "lib.bc"], cwd=tmp_path, check=True)
    build_extern.build(disassembler, str(tmp_path / "lib.bc"), "libdevice", str(tmp_path))
    spec = importlib.util.spec_from_file_location("stubs", tmp_path / "libdevice.py")
    stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stubs)
    names = {name for name in vars(stubs) if not name.startswith("_")} - {"core", "PATH"}
    assert names == {"cos", "mulhi", "add_rz"}
    text = (tmp_path / "libdevice.py").read_text()
    assert "(core.dtype('uint32'), core.dtype('uint32'), ): ('__nv_umulhi'," in text


def output_of_command(monkeypatch, capfd, *words):
    monkeypatch.setattr(sys, "argv", ["build_extern", *words, "--lib-name", "libdevice"])
    with pytest.raises(SystemExit):
        build_extern.main()
    return capfd.readouterr().err


def test_a_command_line_that_cannot_be_done(monkeypatch, capfd):
    output = output_of_command(monkeypatch, capfd, "--llvm-dis", "/none", "--lib-path", "lib.bc")
    assert "there is no /none; --llvm-dis names" in output
    output = output_of_command(monkeypatch, capfd, "--llvm-dis", "false", "--lib-path", "lib.bc")
    assert "false cannot read lib.bc: it ended with 1" in output


def test_names_of_operations():
    known = {"sin", "sinf", "ffs", "ffsll", "finitef", "max", "ullmax"}
    operations = {
        "sinf": "sin",
        "ffsll": "ffs",
        "finitef": "finitef",
        "ullmax": "max",
        "fmaxf": "max",
    }
    assert {name: build_extern._operation(name, known) for name in operations} == operations
    with pytest.raises(ValueError, match="Unknown extern library"):
        build_extern.build("llvm-dis", "lib.bc", "other", ".")


# --- the package -------------------------------------------------------------------------------------


def test_modules_are_attributes():
    pytest.importorskip("torch")
    assert triton.tools.mxfp.__name__ == "triton.tools.mxfp"
    assert not hasattr(triton.tools, "nonesuch")


def test_what_a_module_lacks_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "triton.tools.mxfp", raising=False)
    monkeypatch.delitem(vars(triton.tools), "mxfp", raising=False)
    with pytest.raises(ModuleNotFoundError, match="torch"):
        _ = triton.tools.mxfp
