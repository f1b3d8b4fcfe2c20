"""`triton.runtime.build`: modules in C and C++ by the user's compiler, kept in the cache."""
# SPDX-License-Identifier: MIT

import ctypes
import os
import shutil

import pytest
from triton import knobs
from triton.runtime import build

SOURCE = """
#include <Python.h>
static PyObject *answer(PyObject *self, PyObject *none) { return PyLong_FromLong(ANSWER); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, "a number"}, {NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "NAME", NULL, -1, methods};
PyMODINIT_FUNC PyInit_NAME(void) { return PyModule_Create(&definition); }
"""

needs_compiler = pytest.mark.skipif(
    not (shutil.which("gcc") or shutil.which("clang")), reason="there is no C compiler"
)


pytestmark = pytest.mark.usefixtures("own_cache")


@needs_compiler
def test_module_from_text():
    source = SOURCE.replace("NAME", "c_answer")
    module = build.compile_module_from_src(source, "c_answer", ccflags=["-DANSWER=42"])
    assert module.answer() == 42
    other = build.compile_module_from_src(source, "c_answer", ccflags=["-DANSWER=43"])
    assert other.__file__ != module.__file__  # flags are part of the key


@needs_compiler
def test_second_time_needs_no_compiler(monkeypatch):
    source = "int twice(int x) { return 2 * x; }"
    path = build.compile_so_from_src(source, "twice")
    monkeypatch.setenv("CC", "/none")
    assert build.compile_so_from_src(source, "twice") == path
    assert ctypes.CDLL(path).twice(21) == 42
    with pytest.raises(OSError):
        build.compile_so_from_src(source + "\n", "twice")


@needs_compiler
def test_files_with_headers_beside_them(tmp_path):
    (tmp_path / "number.h").write_text("#define ANSWER 7\n")
    file = tmp_path / "seven.c"
    file.write_text('#include "number.h"\n' + SOURCE.replace("NAME", "seven"))
    assert build.compile_module_from_file(str(file), "seven").answer() == 7
    assert os.path.exists(build.compile_so_from_file(str(file), "seven"))


@pytest.mark.skipif(not shutil.which("g++"), reason="there is no C++ compiler")
def test_cpp():
    source = 'extern "C" int size() { auto x = [] { return 5; }; return x(); }'
    path = build.compile_so_from_src(source, "size", language="c++")
    assert ctypes.CDLL(path).size() == 5


@needs_compiler
def test_a_damaged_module_is_compiled_anew():
    source = SOURCE.replace("NAME", "c_answer").replace("ANSWER", "1 ")
    path = build.compile_so_from_src(source, "c_answer")
    with open(path, "wb") as file:
        file.write(b"no module")
    with pytest.warns(UserWarning, match="could not be loaded"):
        assert build.compile_module_from_src(source, "c_answer").answer() == 1


def test_the_users_own_way(tmp_path):
    calls = []

    def impl(name, src, srcdir, library_dirs, include_dirs, libraries):
        calls.append((name, library_dirs, include_dirs, libraries))
        made = tmp_path / "made.so"
        made.write_bytes(b"binary")
        return str(made)

    with knobs.build.scope():
        knobs.build.impl = impl
        path = build.compile_so_from_src("int x;", "own", ["/l"], ["/i"], ["m"])
    assert calls == [("own", ["/l"], ["/i"], ["m"])]
    with open(path, "rb") as file:
        assert file.read() == b"binary"


def test_what_is_refused(monkeypatch, tmp_path):
    (tmp_path / "x.rs").write_text("")
    with pytest.raises(ValueError, match=r"Unrecognized file extension: x\.rs"):
        build.compile_so_from_file(str(tmp_path / "x.rs"), "x")
    with pytest.raises(ValueError, match=r"language is 'rust'; it must be one of c, c\+\+"):
        build.compile_so_from_src("", "x", language="rust")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(RuntimeError, match="Failed to find C compiler"):
        build.compile_so_from_src("int x;", "x")
