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
        try:
            return driver.active.get_current_target()
        finally:
            driver.reset_active()
    if name == "hip":
        return GPUTarget("hip", "gfx942", 64)
    return SimDriver(name).get_current_target()


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
        ("op $0, $1", "=m,r", "a register for each result"),
        ("op $0, $1", "=oV,r", "a register for each result"),
        ("op $0, $1", "=m|o,r|r", "a register for each result"),
        ("op $0, $1", "=r,*m", "`*m` stands for memory"),
        ("op $0, $1", "=r,r,!i", "`!i` stands for a label"),
    ],
)
def test_assembly_that_cannot_be_used(name, asm, constraints, words):
    diagnostic = refusal(name, asm, constraints)
    assert diagnostic.code == "asm-text" and words in diagnostic.message


@pytest.mark.parametrize("name", ["cpu", "hip"])
@pytest.mark.parametrize(
    "asm",
    [
        ".rept 1000000000\n.endr",
        ".rept 999\n.rept 999\nnop\n.endr\n.endr",
        "a: .fill -1 + (1 << 20), 8, 0",
        ".L1: 2: .SKIP 0x7fffffff",
        ".L${:uid}: .zero 99999999",
        "/* a */ .dcb.b 70000, 0",
        ".ds.l 1<<20",
        ".p2align 30",
        ".balign 1^1<<30",
        ".comm x, 1 << 40",
        ".byte '\"'\n.fill 99999999\n# \"",
        "x = 1 << 30\n.skip x",
        ".skip nowhere * 2",
        "1: .rept 30\n.skip 2f-1b\n.endr\n2:" + "\n.skip 2b-1b" * 30,
        ".macro a\n.rept 300\nnop\n.endr\n.endm\n.macro b\n.rept 300\na\n.endr\n.endm\nb",
        ".macro a\nb\n.endm\n.macro b\na\n.endm\nb",
        ".macro a\na\na\n.endm\na",
        ".macro a x\n\\x\n\\x\n.endm\na a",
        '.incbin "/dev/zero"',
    ],
)
def test_assembly_that_grows_without_a_limit(name, asm):
    assert refusal(name, asm, "=r,r").code == "asm-text"


@pytest.mark.parametrize(
    "name, asm, constraints",
    [
        ("cpu", ".rept 2 # two\nmovl $1, $0\n.endr", "=r,r"),
        ("cpu", "movl $1, $0; .skip 2f-1f\n.pushsection .x; 1: nop\n2: .popsection", "=r,r"),
        ("cpu", "movl $1, $0 # ; .fill 99999999", "=r,r"),
        ("cpu", "movl $1, $0 /* ; .fill 99999999 */; .balign 16", "=r,r"),
        ("cpu", '.pushsection .x\n.ascii ";.fill 99999999"\n.popsection\nmovl $1, $0', "=r,r"),
        ("cpu", ".macro move x, y\nmovl \\x, \\y\n.endm\nmove $1, $0\n.purgem move", "=r,r"),
        ("cpu", "movl $1, $0" + "\n.skip 1000" * 9, "=r,r"),
        ("cpu", "movl $1, $0", "=r,r|m"),
        ("cpu", "movl $1, $0", "=m|r,r|r"),
        ("cpu", "movl $1, $0", "=rm,rm"),
        ("sim", "mov.b32 $0, $1;", "=r|m,r|m"),
        ("sim", "mov.b32 $0, $1;", "=m|r,r"),
        ("hip", "v_mov_b32 $0, $1 ; .fill 99999999", "=v,v"),
        ("hip", "v_mov_b32 $0, $1", "=m|v,v|v"),
        (
            "hip",
            ".macro twice x, y\nv_mov_b32 \\x, \\y\nv_mov_b32 \\x, \\y\n.endm\ntwice $0, $1",
            "=v,v",
        ),
    ],
)
def test_assembly_that_assemblers_take(name, asm, constraints):
    source = ASTSource(
        kernel, {"x": "*i32", "out": "*i32"}, {"ASM": asm, "CONSTRAINTS": constraints}
    )
    assert triton.compile(source, target=target_of(name)).name == "kernel"


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


@pytest.mark.parametrize("asm", ["v_mov_b32 $0, $1", "addss $1, $0", "s_nop 0", "x"])
def test_a_simulated_gpu_of_amds_names_the_assembly_that_it_lacks(asm):
    diagnostic = refusal("sim:gfx942", asm, "=v,v")
    assert diagnostic.code == "sim-unsupported" and f"the assembly `{asm}`" in diagnostic.message
