"""Compilations and launches from threads whose stacks are far smaller than what parsers and passes recurse over."""
# SPDX-License-Identifier: MIT

import subprocess
import sys

import pytest

PROLOGUE = """\
import sys, threading
import numpy as np
import triton
import triton.language as tl
from triton.runtime import driver

driver.set_active_to_cpu()


def in_small_thread(work):
    threading.stack_size(64 << 10)
    result = []
    thread = threading.Thread(target=lambda: result.append(work()))
    thread.start()
    thread.join()
    print(result[0] if result else "raised")


"""
KERNEL = """\
@triton.jit
def helper(x):
    return x + 1


@triton.jit
def kernel(out, n):
    x = n
{body}
    tl.store(out, x)


def launch():
    out = np.zeros(1, np.int32)
    try:
        kernel[(1,)](out, 1)
    except triton.CompilationError as error:
        return error.diagnostics[0].code
    return int(out[0])


in_small_thread(launch)
"""
TEXT = """\
import tempfile, pathlib

path = pathlib.Path(tempfile.mkdtemp()) / "kernel.ttir"
path.write_text({text!r})


def compile():
    try:
        return triton.compile(str(path), target=driver.active.get_current_target()).name
    except triton.CompilationError as error:
        return error.diagnostics[0].code


in_small_thread(compile)
"""


def nested_ifs(depth):
    lines = ["    " + "  " * level + f"if n > {-level}:" for level in range(depth)]
    return "\n".join([*lines, "    " + "  " * depth + "x = x + 1"])


def nested_regions(depth):
    opened = "".join("scf.if %c {\n" for _ in range(depth))
    return f"tt.func public @kernel(%c: i1) {{\n{opened}{'}' * depth}\ntt.return\n}}\n"


def run(tmp_path, text):
    path = tmp_path / "script.py"
    path.write_text(PROLOGUE + text)
    done = subprocess.run(
        [sys.executable, path],
        capture_output=True,
        text=True,
        timeout=120,
        env={"TRITON_CACHE_DIR": str(tmp_path)},
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-1000:])
    return done.stdout.strip()


@pytest.mark.parametrize(
    "body, expected",
    [
        ("    x = " + "(" * 90 + "x" + ")" * 90, "1"),
        ("    x = " + "-" * 90 + "x", "1"),
        ("    x = " + "helper(" * 60 + "x" + ")" * 60, "61"),
        ("    x = " + "(" * 60 + "x" + ", 0)[0]" * 60, "1"),
        ("    x = " + " + ".join(["x"] * 90), "90"),
        (nested_ifs(40), "2"),
    ],
)
def test_nested_kernels(tmp_path, body, expected):
    assert run(tmp_path, KERNEL.format(body=body)) == expected


@pytest.mark.parametrize("text, expected", [
    (nested_regions(200), "kernel"),
    (nested_regions(100_000), "invalid-ir"),
    ("tt.func public @kernel(%x: i32 {tt.note = " + "[" * 400 + "]" * 400 + "}) { tt.return }", "kernel"),
    ("tt.func public @kernel(%x: " + "!tt.ptr<" * 300 + "i32" + ">" * 300 + ") { tt.return }", "kernel"),
])  # fmt: skip
def test_nested_ir(tmp_path, text, expected):
    assert run(tmp_path, TEXT.format(text=text)) == expected


HOST_STATE = """
import contextvars, sys, warnings

variable = contextvars.ContextVar("variable", default="unset")
traced = []


def trace(frame, event, argument):
    if frame.f_code.co_name == "host":
        traced.append(event)


@triton.constexpr_function
def host():
    before = variable.get()
    variable.set("by the function")
    return {"unset": 1, "by the caller": 2}[before]


@triton.jit
def kernel(out):
    tl.store(out, host())


def launch():
    out = np.zeros(1, np.int32)
    variable.set("by the caller")
    sys.settrace(trace)
    kernel[(1,)](out)
    sys.settrace(None)
    return int(out[0]), variable.get(), traced[:1], sys.gettrace()


in_small_thread(launch)
"""


def test_functions_of_the_host_find_the_callers_state(tmp_path):
    assert run(tmp_path, HOST_STATE) == "(2, 'by the function', ['call'], None)"
