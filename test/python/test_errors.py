"""Failed compilations: class, location, text and attached data of the error."""
# SPDX-License-Identifier: MIT

import functools
import pickle

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.compiler.errors import (
    CompilationError,
    CompileTimeAssertionFailure,
    InternalCompilerError,
    SourcePoint,
    UnsupportedLanguageConstruct,
    from_diagnostics,
)
from triton.language.extra import libdevice

SRC = "def k(x):\n    y = x + z\n    return y\n"


def entry(**changes):
    frames = [{"src": SRC, "name": "k", "line": 2, "column": 12}]
    base = dict(
        code="undefined-name",
        severity="error",
        message="`z` is not defined",
        file="k.py",
        line=12,
        column=13,
        end_line=12,
        end_column=14,
        rendered="k.py:12:13: error: `z` is not defined [undefined-name]",
        frames=frames,
        notes=[],
        python_error="NameError",
        cause=None,
    )
    return {**base, **changes}


def test_text_begins_as_tritons_does():
    error = from_diagnostics([entry()])
    assert type(error) is CompilationError and isinstance(error, triton.TritonError)
    assert str(error) == ("at 2:12: in `k`\nk.py:12:13: error: `z` is not defined [undefined-name]")
    assert isinstance(error.__cause__, NameError) and str(error.__cause__) == "`z` is not defined"
    assert error.src == SRC and (
        error.node.lineno,
        error.node.col_offset,
        error.node.end_col_offset,
    ) == (2, 12, 13)
    assert error.diagnostics[0].code == "undefined-name" and error.diagnostics[0].line == 12


def test_at_most_twelve_lines_are_shown():
    src = "def k():\n" + "".join(f"    a{i}\n" for i in range(30))
    error = CompilationError(src, SourcePoint(20, 4), "bad")
    lines = str(error).split("\n")
    assert (
        lines[0] == "at 20:4:"
        and lines[1] == "    a7"
        and lines[12] == "    a18"
        and lines[13:] == ["    ^", "bad"]
    )


def test_notes_and_further_errors_follow():
    note = dict(message="created here", file="k.py", line=11, column=5)
    second = entry(message="other", rendered="k.py:13:5: error: other [x]")
    first = "k.py:12:13: error: `z` [undefined-name]\nk.py:11:5: note: created here\n"
    error = from_diagnostics([entry(notes=[note], rendered=first), second])
    expected = first + "\n1 more error:\nk.py:13:5: error: other [x]"
    assert str(error) == "at 2:12: in `k`\n" + expected
    placeless = from_diagnostics([entry(notes=[note], file="", rendered=first)])
    assert str(placeless).endswith("[undefined-name]\nk.py:11:5: note: created here")
    assert len(error.diagnostics) == 2


def test_calls_become_a_chain():
    frames = [
        {"src": "def outer():\n    k(1)\n", "name": "outer", "line": 2, "column": 4},
        entry()["frames"][0],
    ]
    error = from_diagnostics([entry(frames=frames)])
    text = entry()["rendered"]
    assert error.error_message is None and str(error) == "at 2:4: in `outer`\n" + text
    assert str(error.__cause__) == "at 2:12: in `k`\n" + text
    assert isinstance(error.__cause__.__cause__, NameError)


def internal_entry(message, reproducer):
    return entry(
        code="internal-error",
        severity="internal",
        message=message,
        reproducer=reproducer,
        file="",
        rendered="",
    )


def test_classes():
    assert (
        type(from_diagnostics([entry(python_error="UnsupportedLanguageConstruct")]))
        is UnsupportedLanguageConstruct
    )
    failure = from_diagnostics([entry(python_error="CompileTimeAssertionFailure")])
    assert type(failure) is CompileTimeAssertionFailure and failure.__cause__ is None
    cause = RuntimeError("from the host")
    assert from_diagnostics([entry(python_error="RuntimeError", cause=cause)]).__cause__ is cause
    internal = from_diagnostics([internal_entry("boom", "/tmp/r.mlir")])
    assert (
        type(internal) is InternalCompilerError
        and str(internal) == "boom [internal-error]; reproducer: /tmp/r.mlir"
    )
    # Triton raises RuntimeError where a pass fails; other code expects a CompilationError.
    assert isinstance(internal, RuntimeError) and isinstance(internal, CompilationError)
    assert internal.src is None and internal.reproducer == "/tmp/r.mlir"
    twin = pickle.loads(pickle.dumps(internal))
    assert str(twin) == str(internal) and twin.reproducer == internal.reproducer


def test_errors_pickle():
    error = from_diagnostics([entry()])
    twin = pickle.loads(pickle.dumps(error))
    assert (
        str(twin) == str(error)
        and twin.diagnostics == error.diagnostics
        and twin.node == error.node
    )
    for other in (triton.OutOfResources(5, 3, "shared memory"), triton.runtime.PTXASError("x")):
        assert str(pickle.loads(pickle.dumps(other))) == str(other)


def test_out_of_resources_text():
    assert str(triton.OutOfResources(5, 3, "shared memory")) == (
        "out of resource: shared memory, Required: 5, Hardware limit: 3. Reducing block sizes or "
        "`num_stages` may help."
    )


@triton.jit
def undefined(x_ptr):
    tl.store(x_ptr, no_such_name)  # noqa: F821


@triton.jit
def shapes(x_ptr):
    tl.store(x_ptr + tl.arange(0, 8), tl.arange(0, 16))


@triton.jit
def callee(x):
    return x + no_such_name  # noqa: F821


@triton.jit
def caller(x_ptr):
    tl.store(x_ptr, callee(tl.load(x_ptr)))


@triton.jit
def halves(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr) + 1)


@triton.jit
def asserting(x_ptr, N: tl.constexpr):
    tl.static_assert(N > 5, "N is too small")
    tl.store(x_ptr, N)


@triton.jit
def unsupported(x_ptr):
    try:
        tl.store(x_ptr, 1)
    finally:
        tl.store(x_ptr, 2)


PLAIN_GLOBAL = 7


@triton.jit
def plain_global(x_ptr):
    tl.store(x_ptr, PLAIN_GLOBAL)


def failure_of(kernel, *args):
    with pytest.raises(CompilationError) as caught:
        kernel[(1,)](np.zeros(16, np.float32), *args)
    return caught.value


@pytest.mark.parametrize(("kernel", "cause"), [(undefined, NameError), (shapes, ValueError)])
def test_real_errors_point_at_the_line(kernel, cause):
    error = failure_of(kernel)
    first_line, source = str(error).split("\n")[:3:2]
    assert first_line == f"at 2:{error.node.col_offset}: in `{kernel.__name__}`"
    assert source.startswith("    tl.store(")
    assert isinstance(error.__cause__, cause)
    (first, *_) = error.diagnostics
    assert first.file == __file__ and first.line == kernel.def_file_line_number + 1 and first.code
    assert first.rendered.startswith(f"{__file__}:{first.line}:{first.column}: error: ")


def test_real_errors_show_file_and_underlined_range():
    error = failure_of(shapes)
    place = f"{__file__}:{shapes.def_file_line_number + 1}:"
    _, message, source, underlined = str(error).split("\n")
    assert message.startswith(place) and "    tl.store(x_ptr + tl.arange(0, 8)" in source
    assert "~" in underlined


def test_errors_of_the_target_have_a_place():
    """A kernel that the front end accepts, and the CPU cannot run."""
    target = triton.backends.compiler.GPUTarget("cpu", "x86-64-v2", 32)
    source = triton.compiler.ASTSource(halves, signature={"x_ptr": "*fp16"})
    with pytest.raises(CompilationError) as caught:
        triton.compile(source, target=target)
    (first,) = caught.value.diagnostics
    assert first.code == "cpu-f16" and first.file == __file__
    assert first.line == halves.def_file_line_number + 1
    assert str(caught.value).startswith("at 2:")
    assert "float16 needs a CPU with F16C, which target `x86-64-v2` lacks" in str(caught.value)


def test_an_error_in_a_callee_names_both_places():
    error = failure_of(caller)
    called = f"{__file__}:{caller.def_file_line_number + 1}:21: note: called from here"
    for each in (error, error.__cause__):
        assert "    return x + no_such_name" in str(each) and called in str(each)
    assert "in `caller`" in str(error) and "in `callee`" in str(error.__cause__)


def test_static_assert():
    error = failure_of(asserting, 3)
    assert (
        type(error) is CompileTimeAssertionFailure
        and "N is too small" in str(error)
        and error.__cause__ is None
    )
    asserting[(1,)](np.zeros(1, np.float32), 6)


def test_unsupported_statements():
    assert isinstance(failure_of(unsupported), UnsupportedLanguageConstruct)


def test_plain_globals_are_refused_and_can_be_allowed():
    error = failure_of(plain_global)
    assert "Cannot access global variable PLAIN_GLOBAL from within @jit'ed function" in str(error)
    with triton.knobs.compilation.scope():
        triton.knobs.compilation.allow_non_constexpr_globals = True
        out = np.zeros(1, np.float32)
        plain_global[(1,)](out)
        assert out[0] == 7


def test_a_kernel_compiles_after_a_failed_one():
    failure_of(asserting, 2)
    out = np.zeros(1, np.float32)
    asserting[(1,)](out, 9)
    assert out[0] == 9


@triton.jit
def to_byte_float(x_ptr, TO: tl.constexpr):
    tl.load(x_ptr).to(TO)


def test_formats_that_a_target_lacks():
    x = np.zeros(1, np.float32)
    supported = dict(grid=(1,), supported_fp8_dtypes=("fp8e5", "fp8e4nv"))
    to_byte_float.warmup(x, tl.float8e5, **supported)
    with pytest.raises(
        CompilationError, match="fp8e4b8 not supported in this architecture"
    ) as info:
        to_byte_float.warmup(x, tl.float8e4b8, **supported)
    assert "The supported fp8 dtypes are ('fp8e5', 'fp8e4nv')" in str(info.value)
    assert isinstance(info.value.__cause__, ValueError)


@triton.jit
def calls_a_library(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, libdevice.erfc(tl.load(x_ptr + i)))


def test_a_remark_is_printed_once(capfd, monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))  # a kernel from the cache prints none
    for block in (4, 8, 16):
        calls_a_library.warmup(np.zeros(16, np.float32), block, grid=(1,))
    printed = capfd.readouterr().err
    assert printed.count("remark: `__nv_erfcf` is called element by element") == 1
    assert "[cpu-extern-scalar]" in printed
    assert "libdevice.erfc(tl.load(x_ptr + i))" in printed


LIMIT = tl.constexpr(3)


@triton.jit
def misspelt_member(x_ptr):
    tl.stroe(x_ptr, 1)


@triton.jit
def misspelt_global(x_ptr):
    tl.store(x_ptr, LIMTI)  # noqa: F821


@triton.jit
def misspelt_attribute(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr).dtpye)


@triton.jit
def misspelt_keyword(x_ptr):
    tl.store(x_ptr, 1, msak=True)


@triton.jit
def sized(x_ptr, BLOCK_SIZE: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK_SIZE), 1.0)


@pytest.mark.parametrize(
    ("kernel", "hint"),
    [
        (misspelt_member, "has no attribute 'stroe'; did you mean `store`?"),
        (misspelt_global, "LIMTI is not defined; did you mean `LIMIT`?"),
        (misspelt_attribute, "has no attribute `dtpye`; did you mean `dtype`?"),
        (misspelt_keyword, "argument `msak`; did you mean `mask`?"),
    ],
)
def test_a_misspelt_name_suggests_the_nearest(kernel, hint):
    assert hint in str(failure_of(kernel))


def test_a_misspelt_keyword_of_a_launch_suggests_the_nearest():
    x = np.zeros(16, np.float32)
    with pytest.raises(
        TypeError, match="'BLOCK_SIZE'; `BLOCK_SZIE` is no parameter; did you mean `BLOCK_SIZE`"
    ):
        sized[(1,)](x, BLOCK_SZIE=16)
    with pytest.raises(
        KeyError, match="num_warp was specified but unrecognised; did you mean `num_warps`"
    ):
        sized[(1,)](x, BLOCK_SIZE=16, num_warp=4)


def test_a_misspelt_target_suggests_the_nearest():
    source = triton.compiler.ASTSource(halves, signature={"x_ptr": "*fp16"})
    with pytest.raises(ValueError, match="CPU `znevr3` is unknown; did you mean `znver3`"):
        triton.compile(source, target=triton.backends.compiler.GPUTarget("cpu", "znevr3", 32))


PACKED_TTGIR = """
#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @packed(%p: !tt.ptr<f32>) {
    %x = arith.constant dense<1.0> : tensor<256xf32, #blocked>
    %y = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      tt.map_elementwise.return %b, %a : f32, f32
    }) : (tensor<256xf32, #blocked>) -> tensor<256xf32, #blocked>
    tt.return
  }
}
"""


def test_an_op_that_no_lowering_takes_is_an_error_of_its_text(tmp_path):
    path = tmp_path / "packed.ttgir"
    path.write_text(PACKED_TTGIR)
    with pytest.raises(
        triton.CompilationError, match="packs 2 elements of tiles with an encoding"
    ) as caught:
        triton.compile(str(path), target=triton.backends.compiler.GPUTarget("cuda", 90, 32))
    (first,) = caught.value.diagnostics
    assert first.code == "invalid-ir" and first.line == 6


def undecorated(x):
    return x + 1


@triton.jit
def calls_numpy(x_ptr):
    tl.store(x_ptr, np.exp(tl.load(x_ptr)))


@triton.jit
def calls_torch_like(x_ptr):
    tl.store(x_ptr, np.hypot(tl.load(x_ptr), 1.0))


@triton.jit
def calls_undecorated(x_ptr):
    tl.store(x_ptr, undecorated(tl.load(x_ptr)))


@pytest.mark.parametrize(
    "kernel, text",
    [
        (calls_numpy, "`numpy.exp` computes on values of Python; .*; use `tl.exp`"),
        (
            calls_torch_like,
            "`numpy.hypot` computes on values of Python; .*; use `libdevice.hypot`",
        ),
        (
            calls_undecorated,
            "plain `function`, which kernels cannot call. Decorate `undecorated` with @triton.jit",
        ),
    ],
)
def test_functions_of_python_name_what_serves_instead(kernel, text):
    with pytest.raises(CompilationError, match=text):
        kernel[(1,)](np.zeros(1, np.float32))


@triton.jit
def formats(x_ptr):
    tl.static_assert("%d of %s" % (3, "x") == "3 of x")  # noqa: UP031
    tl.static_assert("%d" % 3 == "3")  # noqa: UP031
    tl.store(x_ptr, 1.0)


def test_percent_formats_constants():
    x = np.zeros(1, np.float32)
    formats[(1,)](x)
    assert x[0] == 1


def odd(step, value):
    raise ValueError("the step must be even")


ODD = tl.constexpr(functools.partial(odd, 1))


@triton.jit
def calls_partial(x_ptr):
    tl.store(x_ptr, ODD(tl.load(x_ptr)))


def test_errors_of_pythons_own_objects_keep_their_text():
    with pytest.raises(CompilationError, match="the step must be even"):
        calls_partial[(1,)](np.zeros(1, np.float32))


def test_many_returns_are_refused(tmp_path):
    """What follows an `if` with a `return` is nested in its other side, which would take the stack."""
    path = tmp_path / "returns.py"
    returns = "".join(f"    if n == {at}:\n        return\n" for at in range(5000))
    path.write_text(f"@triton.jit\ndef kernel(p, n):\n{returns}    tl.store(p, n)\n")
    scope = {"triton": triton, "tl": tl}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    assert "more than 1000 branches may return" in str(failure_of(scope["kernel"], 7))
