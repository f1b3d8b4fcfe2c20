"""What a user reads of a failed launch: the user's own frames, then one message."""
# SPDX-License-Identifier: MIT

import subprocess
import sys
import textwrap
import traceback

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.compiler.errors import CompilationError


@triton.jit
def undefined(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr) + no_such_name)  # noqa: F821


@triton.jit
def innermost(x):
    return x + no_such_name  # noqa: F821


@triton.jit
def between(x):
    return innermost(x) * 2


@triton.jit
def outermost(x_ptr):
    tl.store(x_ptr, between(tl.load(x_ptr)))


@triton.jit
def keyword(x_ptr):
    tl.store(x_ptr, 1, msak=True)


@triton.jit
def asserting(x_ptr):
    tl.static_assert(x_ptr.dtype == tl.float64, "no doubles")


@triton.jit
def statement(x_ptr):
    try:
        tl.store(x_ptr, 1)
    finally:
        pass


@triton.jit
def from_python(x_ptr):
    tl.store(x_ptr, np.hypot(tl.load(x_ptr), 1.0))


@triton.jit
def sized(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), no_such_name)  # noqa: F821


@triton.jit
def fine(x_ptr):
    tl.store(x_ptr, 1)


@triton.must_use_result("Keep it.")
@triton.jit
def useful(x):
    return x + 1


@triton.jit
def unused(x_ptr):
    x = tl.load(x_ptr)
    useful(x)


tuned = triton.autotune([triton.Config({"BLOCK": 16})], key=[])(sized)
derived = triton.heuristics({"BLOCK": lambda args: 16})(sized)

MISTAKES = [
    (undefined, {}, "no_such_name is not defined"),
    (outermost, {}, "no_such_name is not defined"),
    (keyword, {}, "unexpected keyword argument"),
    (asserting, {}, "no doubles [static-assert]"),
    (statement, {}, "kernels have no exceptions"),
    (from_python, {}, "only while the kernel runs"),
    (tuned, {}, "no_such_name is not defined"),
    (derived, {}, "no_such_name is not defined"),
    (sized, {}, "missing 1 required positional argument"),
    (undefined, {"y": 1}, "Keyword argument y was specified but unrecognised"),
    (fine, {"grid": (1.5,)}, "grid dimension 0 must be an integer"),
]


def launch(kernel, grid=(1,), **keywords):
    kernel[grid](np.zeros(16, np.float32), **keywords)


def printed(error):
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


@pytest.mark.parametrize(("kernel", "keywords", "message"), MISTAKES)
def test_users_frames_then_the_message_once(kernel, keywords, message):
    with pytest.raises(Exception) as caught:
        launch(kernel, **keywords)
    text = printed(caught.value)
    assert text.count(message) == 1 and "direct cause" not in text
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert {frame.filename for frame in frames} == {__file__}
    assert len(text.splitlines()) <= 16


def test_all_frames_on_request():
    with triton.knobs.compilation.scope(), pytest.raises(CompilationError) as caught:
        triton.knobs.compilation.front_end_debugging = True
        launch(undefined)
    text = printed(caught.value)
    assert "in _compile_for" in text and "NameError: no_such_name is not defined" in text


def test_calls_are_notes():
    with pytest.raises(CompilationError) as caught:
        launch(outermost)
    lines = str(caught.value).splitlines()
    assert lines[0] == "at 2:20: in `outermost`"
    assert lines[1].startswith(f"{__file__}:{innermost.def_file_line_number + 1}:16: error: ")
    assert [line.split(": ", 1)[1] for line in lines[-2:]] == ["note: called from here"] * 2
    # Code that follows the causes finds one for each call, as in Triton.
    assert "at 2:11: in `between`" in str(caught.value.__cause__)
    assert isinstance(caught.value.__cause__.__cause__.__cause__, NameError)


def test_a_cause_of_other_code_is_shown():
    with pytest.raises(CompilationError) as caught:
        try:
            launch(undefined)
        except CompilationError as error:
            raise error from KeyError("somebody's own")
    assert "somebody's own" in printed(caught.value)


@triton.constexpr_function
def refuses(step):
    raise ValueError("the step must be even")


@triton.jit
def inside_python(x_ptr):
    tl.store(x_ptr, refuses(3))


@triton.jit
def around_python(x_ptr):
    inside_python(x_ptr)


@pytest.mark.parametrize("kernel", [inside_python, around_python])
def test_frames_of_python_code_that_kernels_call_are_shown(kernel):
    with pytest.raises(CompilationError) as caught:
        launch(kernel)
    text = printed(caught.value)
    assert "in refuses" in text and text.count("direct cause") == 1


def test_frames_between_launches_remain():
    def grid(arguments):
        launch(undefined)

    with pytest.raises(CompilationError) as caught:
        launch(keyword, grid=grid)  # a message of its compilation comes first
    assert "msak" in str(caught.value)

    def hook(*args, **keywords):
        launch(undefined)

    hooked = triton.jit(asserting.fn)
    hooked.add_pre_run_hook(hook)
    with pytest.raises(CompilationError) as caught:
        launch(hooked)
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-3:] == ["launch", "hook", "launch"]


def test_errors_of_others_keep_their_frames():
    def grid(arguments):
        raise ValueError("from the grid")

    with pytest.raises(ValueError, match="from the grid") as caught:
        launch(fine, grid=grid)
    assert any("runtime" in frame.filename for frame in traceback.extract_tb(caught.tb))


def test_an_unused_result_has_its_place():
    with pytest.raises(CompilationError) as caught:
        launch(unused)
    lines = str(caught.value).splitlines()
    assert lines[0] == "at 3:4: in `unused`" and lines[1].endswith(":5: error:")
    assert lines[-1] == "The result of useful is not being used. Keep it."


def test_python_prints_it_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""\
        import numpy as np, triton, triton.language as tl
        @triton.jit
        def kernel(x_ptr):
            tl.store(x_ptr, no_such_name)
        kernel[(1,)](np.zeros(1, np.float32))
        """)
    )
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    lines = [line for line in ran.stderr.splitlines() if set(line.strip()) != {"^"}]
    assert lines[:3] == [
        "Traceback (most recent call last):",
        f'  File "{script}", line 5, in <module>',
        "    kernel[(1,)](np.zeros(1, np.float32))",
    ]
    assert lines[3] == "triton.compiler.errors.CompilationError: at 2:20: in `kernel`"
    assert lines[4] == f"{script}:4:21: error: no_such_name is not defined [undefined-name]"
    assert len(lines) == 7
