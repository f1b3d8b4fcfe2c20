"""TTIR as input text: its sources, and the diagnostics of wrong text."""
# SPDX-License-Identifier: MIT

import pickle
from pathlib import Path

import pytest
import triton
import triton.language as tl
from _refused_ttir import refusal
from triton.backends.compiler import GPUTarget
from triton.backends.sim.driver import SimDriver
from triton.compiler import ASTSource
from triton.runtime import driver

KERNEL = """\
module {
  tt.func public @kernel(%p: !tt.ptr<i32>, %n: i32) {
    BODY
    tt.return
  }
}
"""


@pytest.mark.parametrize(
    "body, line, words",
    [
        ("%x = arith.addi %n, %m : i32", 3, "use of undeclared SSA value name"),
        ("%x = arith.addi %n, %n : f32", 3, "expects different type"),
        ("%x = tt.load %n : i32", 3, "'i32' is neither a pointer nor a tile of pointers"),
        ("tt.frobnicate %n : i32", 3, "custom op 'tt.frobnicate' is unknown"),
        ("cf.br ^bb9", 3, "reference to an undefined block"),
        ("%x = arith.constant dense<0> : tensor<2097152xi32>", 3, "at most 1048576 elements"),
        ("%x = ub.poison : tensor<?xi32>", 3, "a value has type 'tensor<?xi32>'"),
        ("%x = ub.poison : memref<4xi32>", 3, "a value has type 'memref<4xi32>'"),
        ("%x = ub.poison : i24", 3, "a value has type 'i24'"),
        ("tt.call @other(%n) : (i32) -> ()", 3, "calls `other`, which is not a function"),
    ],
)
def test_wrong_text_is_refused_at_its_place(tmp_path, body, line, words):
    diagnostics = refusal(tmp_path, KERNEL.replace("BODY", body))
    assert [d.code for d in diagnostics] == ["invalid-ir"] * len(diagnostics)
    assert words in diagnostics[0].message
    assert (diagnostics[0].line, Path(diagnostics[0].file).name) == (line, "kernel.ttir")
    assert "^" in diagnostics[0].rendered


@pytest.mark.parametrize(
    "text, words",
    [
        ("tt.func public @k(%x: tensor<4xf32>) { tt.return }", "takes 'tensor<4xf32>'"),
        ("tt.func public @k(%x: index) { tt.return }", "takes 'index'"),
        ("tt.func public @k(%x: !tt.ptr<tensor<4xf32>>) { tt.return }", "takes '!tt.ptr<"),
        ("tt.func public @k(%x: i32) -> i32 { tt.return %x : i32 }", "returns a value"),
        ("tt.func public @k(%x: i32)", "has no body"),
        ("tt.func public @k() { tt.return } " + "(" * 100000, "deep"),
    ],
)
def test_functions_that_are_no_kernels_are_refused(tmp_path, text, words):
    (diagnostic,) = refusal(tmp_path, text)
    assert diagnostic.code == "invalid-ir" and words in diagnostic.message and diagnostic.line == 1


@triton.jit
def add_one(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, offsets < n) + 1, offsets < n)


def test_compiling_goes_on_from_ttgir(tmp_path):
    gpu = GPUTarget("cuda", 90, 32)
    source = ASTSource(add_one, {"x_ptr": "*fp32", "n": "i32"}, {"BLOCK": 1024})
    whole = triton.compile(source, target=gpu, options={"num_warps": 8})
    path = tmp_path / "kernel.ttgir"
    path.write_text(whole.asm["ttgir"].replace("1.000000e+00", "2.000000e+00"))
    rest = triton.compile(path, target=gpu)
    assert rest.src.signature == {0: "*f32", 1: "i32"} and rest.src.name == "@add_one"
    assert rest.name == "add_one" and rest.metadata.num_warps == 8
    assert "ttir" not in rest.asm and "ttgir" in rest.asm
    assert rest.metadata.written == whole.metadata.written and len(rest.metadata.written) == 1
    assert "0f3F800000" in whole.asm["ptx"] and "0f40000000" in rest.asm["ptx"]
    path.write_text(whole.asm["ttgir"])
    assert triton.compile(path, target=gpu).asm["ptx"] == whole.asm["ptx"]
    assert pickle.loads(pickle.dumps(rest.src)).parse_options() == {"num_warps": 8, "num_ctas": 1}
    with pytest.raises(ValueError, match="takes no `ir_override`"):
        triton.compile(str(path), target=gpu, options={"ir_override": str(path)})
    with pytest.raises(ValueError, match=r"compiles from \.ttir, not from \.ttgir"):
        triton.compile(path, target=GPUTarget("cpu", "", 32))


def test_offsets_computed_as_index_are_no_overflow_to_check(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_SANITIZE", "overflow")
    body = """%c = arith.index_cast %n : i32 to index
    %d = arith.addi %c, %c : index
    %e = arith.index_cast %d : index to i32
    %q = tt.addptr %p, %e : !tt.ptr<i32>, i32
    tt.store %q, %n : !tt.ptr<i32>"""
    path = tmp_path / "kernel.ttir"
    path.write_text(KERNEL.replace("BODY", body))
    assert triton.compile(str(path), target=GPUTarget("cpu", "", 32)).asm["so"]


@pytest.mark.parametrize("location", ["loc(unknown)", 'loc("k.py":3:1)'])
def test_an_error_stands_at_its_op_where_ops_share_a_location(tmp_path, location):
    body = f"""%c = arith.constant 3 : i32 {location}
    tt.store %p, %c : !tt.ptr<i32> {location}
    %r = tt.make_range {{end = 3 : i32, start = 5 : i32}} : tensor<4xi32> {location}"""
    first, *_ = refusal(tmp_path, KERNEL.replace("BODY", body))
    assert (first.line, "greater than the start" in first.message) == (5, True)


@pytest.mark.parametrize(
    "name", ["vect!r_add", "a b", "é", "1st", "x.y", "tt.load", "exp", "say \\22x\\22"]
)
@pytest.mark.parametrize("device", ["cpu", "sim", "sim:gfx942"])
def test_functions_of_any_name(tmp_path, name, device):
    """As text of the stage after TTIR, too: each stage has the name that the launch asks for."""
    target = (
        driver.active.get_current_target()
        if device == "cpu"
        else SimDriver(device).get_current_target()
    )
    path = tmp_path / "kernel.ttir"
    path.write_text(
        KERNEL.replace("@kernel", f'@"{name}"').replace("BODY", "tt.store %p, %n : !tt.ptr<i32>")
    )
    kernel = triton.compile(str(path), target=target)
    assert kernel.metadata.name.isidentifier() and kernel.metadata.name.isascii()
    if device == "cpu":
        return
    later = tmp_path / "kernel.ttgir"
    later.write_text(kernel.asm["ttgir"].replace(f"@{kernel.metadata.name}(", f'@"{name}"('))
    again = triton.compile(str(later), target=target)
    assert again.metadata.name == kernel.metadata.name
    if device == "sim":
        assert f".entry {kernel.metadata.name}(" in again.asm["ptx"]
