"""Inline assembly that LLVM would not survive: an error at the call, on every target."""
# SPDX-License-Identifier: MIT

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.sim.driver import SimDriver
from triton.compiler import ASTSource
from triton.runtime import driver


@triton.jit
def kernel(x, out, ASM: tl.constexpr, CONSTRAINTS: tl.constexpr):
    i = tl.arange(0, 64)
    value = tl.inline_asm_elementwise(
        ASM, CONSTRAINTS, [tl.load(x + i)], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(out + i, value)


def target_of(name):
    if name == "cpu":
        driver.set_active_to_cpu()
        return driver.active.get_current_target()
    return (
        GPUTarget("hip", "gfx942", 64) if name == "hip" else SimDriver("sim").get_current_target()
    )


def refusal(name, asm, constraints):
    source = ASTSource(
        kernel, {"x": "*i32", "out": "*i32"}, {"ASM": asm, "CONSTRAINTS": constraints}
    )
    with pytest.raises(triton.CompilationError) as raised:
        triton.compile(source, target=target_of(name))
    (diagnostic,) = raised.value.diagnostics
    assert "value = tl.inline_asm_elementwise" in diagnostic.rendered
    return diagnostic


@pytest.mark.parametrize("name", ["cpu", "sim", "hip"])
@pytest.mark.parametrize(
    "asm, constraints, words",
    [
        ("op $0, $5", "=r,r", "`$5` names no operand; there are 2"),
        ("op $0, $99999999999", "=r,r", "names no operand"),
        ("op ${0, $1", "=r,r", "`${` has no `}`"),
        ("op ${0:zz}, $1", "=r,r", "the modifier in `${0:zz}` is not one letter"),
        ("op ${:nothing}", "=r,r", "`${:nothing}` is not known"),
        ("op $0, $1 $", "=r,r", "`$$` is a dollar sign"),
        ("$( a $( b $) $0", "=r,r", "`$(` is within another"),
        ("op \0 $0", "=r,r", "zero byte"),
        (".rept 1000000000\n.endr", "=r,r", "`.rept`"),
        (".rept 999\n.rept 999\n.endr\n.endr", "=r,r", "`.rept`"),
        ("a: .fill -1, 8, 0", "=r,r", "`.fill`"),
        (".MACRO x\n.endm", "=r,r", "`.macro`"),
        ("op $0, $1", "=r|m,r", "alternatives"),
    ],
)
def test_assembly_that_cannot_be_used(name, asm, constraints, words):
    diagnostic = refusal(name, asm, constraints)
    assert diagnostic.code == "asm-text" and words in diagnostic.message


@pytest.mark.parametrize(
    "name, asm, constraints",
    [("cpu", "movl $1, $0", "={rsp},{rbp}"), ("hip", "v_mov_b32 $0, $1", "=v,m")],
)
def test_a_fatal_error_of_llvm_is_reported_at_the_assembly(name, asm, constraints):
    assert refusal(name, asm, constraints).code == "asm-failed"
    assert refusal(name, "op $0, $5", "=r,r").code == "asm-text"  # the process goes on


def test_placeholders_that_llvm_reads_are_accepted():
    source = ASTSource(
        kernel,
        {"x": "*i32", "out": "*i32"},
        {"ASM": "movl ${1:k}, $0 # $$ ${:uid}", "CONSTRAINTS": "=r,r"},
    )
    assert triton.compile(source, target=target_of("cpu")).name == "kernel"
