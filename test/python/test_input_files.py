"""What stands at a path that a user names may be no file, or have no end: that is an error, not a hang."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading

import pytest
import triton
import triton.language as tl
from triton.backends import GPUTarget
from triton.compiler import ASTSource

KERNEL = """
import triton
import triton.language as tl
@triton.jit
def one(x):
    tl.store(x, 1.0)
"""


@triton.jit
def one(x):
    tl.store(x, 1.0)


def nereid(tmp_path, *arguments):
    """A run of the program that ends in time and with little memory."""
    program = shutil.which("nereid", path=os.path.dirname(sys.executable)) or shutil.which("nereid")
    if program is None:
        pytest.skip("no `nereid` beside this Python")
    return subprocess.run(
        [program, "compile", *arguments, "-o", tmp_path],
        capture_output=True,
        text=True,
        timeout=30,
    )


@pytest.fixture
def large(tmp_path):
    """A file that is larger than the limit, without taking room on the disk."""
    path = tmp_path / "large.py"
    with open(path, "wb") as file:
        file.truncate((1 << 30) + 1)
    return path


def test_texts_without_an_end(tmp_path, large):
    for path in ("/dev/zero", large):
        done = nereid(tmp_path, path, "--signature", "*fp32")
        assert done.returncode == 1 and "File too large [cannot-read-file]" in done.stderr, done


@pytest.mark.parametrize("option", ["source", "override"])
def test_ir_without_an_end(tmp_path, option):
    link = tmp_path / "zero.ttir"
    link.symlink_to("/dev/zero")
    (tmp_path / "one.py").write_text(KERNEL)
    request = (
        (link,)
        if option == "source"
        else (tmp_path / "one.py", "--signature", "*fp32", "--ir-override", link)
    )
    done = nereid(tmp_path, *request)
    assert done.returncode == 2 and "File too large" in done.stderr, done


def test_a_module_without_an_end(tmp_path):
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    (tmp_path / "one.py").write_text("from zero import ZERO\n" + KERNEL.replace("1.0", "ZERO"))
    done = nereid(tmp_path, tmp_path / "one.py", "--signature", "*fp32")
    assert done.returncode == 1 and "one.py:7:" in done.stderr, done


def test_a_text_may_come_through_a_pipe(tmp_path):
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(KERNEL,), daemon=True)
    writer.start()
    done = nereid(tmp_path, pipe, "--signature", "*fp32", "--emit", "ttir")
    assert done.returncode == 0 and (tmp_path / "one.ttir").exists(), done


@pytest.mark.parametrize(
    "target", [GPUTarget("cpu", 0, 1), GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)]
)
@pytest.mark.parametrize("kind", ["device", "pipe", "folder", "large", "missing"])
def test_libraries_that_are_no_files(tmp_path, large, target, kind):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    path = {
        "device": "/dev/zero",
        "pipe": pipe,
        "folder": tmp_path,
        "large": large,
        "missing": tmp_path / "no",
    }[kind]
    source = ASTSource(one, {"x": "*fp32"}, {})
    options = {"extern_libs": (("mine", str(path)),)}
    # None of its functions is called, so that nothing is said of it.
    assert triton.compile(source, target=target, options=options).asm["ttir"]


class Pointer:
    dtype = "float32"

    def __init__(self, address):
        self.address = address

    def data_ptr(self):
        return self.address


@pytest.mark.parametrize("address", [1 << 64, 1 << 70, -(1 << 63) - 1, -(1 << 90)])
def test_an_address_of_more_than_64_bits(address):
    with pytest.raises(ValueError, match="which takes more than 64 bits"):
        one[(1,)](Pointer(address))


@pytest.mark.parametrize("address", [None, 1.5, "0", b"0", [], object()])
def test_an_address_that_is_no_number(address):
    with pytest.raises(TypeError, match=r"its `data_ptr\(\)` gives "):
        one[(1,)](Pointer(address))


@pytest.mark.parametrize("signed", [False, True])
def test_addresses_may_be_signed(signed):
    """Only their type and alignment are read: nothing is launched."""
    address = (1 << 63) + 16
    described = triton.runtime.jit.mangle_type(
        Pointer(address - (1 << 64) if signed else address), True
    )
    assert described == "*fp32"
