"""`triton.tools.compile` and `link`: the C code that they write, compiled against a stub of the driver."""
# SPDX-License-Identifier: MIT

import os
import shutil
import subprocess
import sys

import pytest
from triton.tools.link import HeaderParser, LinkerError

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="there is no gcc")

KERNEL = """
import triton
import triton.language as tl
from scale_of import scale

@triton.jit
def add(x, y, out, n, stride, weight, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    sums = tl.load(x + at, inside) + scale(tl.load(y + at * stride, inside), weight)
    tl.store(out + at, sums, inside)
"""
HELPER = """
import triton

@triton.jit
def scale(value, weight):
    return value * weight
"""
GRID = "(n + 127) / 128, stride, 1"

# The part of cuda.h that the sources use.
CUDA_H = """
#pragma once
#include <stddef.h>
typedef int CUresult;
typedef struct CUmod *CUmodule;
typedef struct CUfun *CUfunction;
typedef struct CUstr *CUstream;
typedef unsigned long long CUdeviceptr;
enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 };
typedef enum { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 } CUfunction_attribute;
CUresult cuGetErrorString(CUresult, const char **);
CUresult cuModuleLoadData(CUmodule *, const void *);
CUresult cuModuleUnload(CUmodule);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void **, void **);
"""
# Prints its arguments. A module is its code, a function too.
DRIVER = """
#include <cuda.h>
#include <stdio.h>
CUresult cuGetErrorString(CUresult result, const char **text) { *text = "stub"; return 0; }
CUresult cuModuleLoadData(CUmodule *module, const void *code) {
  *module = (CUmodule)code;
  printf("load %02x%.3s\\n", *(unsigned char *)code, (const char *)code + 1);
  return 0;
}
CUresult cuModuleUnload(CUmodule module) { printf("unload\\n"); return 0; }
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  *function = (CUfunction)module;
  printf("function %s\\n", name);
  return 0;
}
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int value) { printf("shared %d\\n", value); return 0; }
CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream stream, void **args, void **extra) {
  printf("launch %u %u %u x %u %u %u: %llx %llx %llx %d\\n", x, y, z, bx, by, bz, *(CUdeviceptr *)args[0],
         *(CUdeviceptr *)args[1], *(CUdeviceptr *)args[2], *(int *)args[3]);
  return PASS(args);
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The kernel, a compiler's headers, and the cache."""
    path = tmp_path_factory.mktemp("aot")
    (path / "add.py").write_text(KERNEL)
    (path / "scale_of.py").write_text(HELPER)
    (path / "include").mkdir()
    (path / "include" / "cuda.h").write_text(CUDA_H)
    return path


def run_tool(tool, *arguments, cwd, ok=True):
    result = subprocess.run(
        [sys.executable, "-m", f"triton.tools.{tool}", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, "TRITON_CACHE_DIR": str(cwd / "cache")},
    )
    assert (result.returncode == 0) is ok, result.stderr
    return result.stderr


def compile_kernel(cwd, signature, *more, out="add"):
    """Names of the source and of the header that it makes."""
    before = set(os.listdir(cwd))
    run_tool(
        "compile", cwd / "add.py", "-n", "add", "-s", signature, "-g", GRID, "-t", "cuda:90:32",
        "-o", cwd / out, "-on", out, *more, cwd=cwd,
    )  # fmt: skip
    source, header = sorted(set(os.listdir(cwd)) - before - {"cache", "__pycache__"})
    return cwd / source, cwd / header


def run_program(cwd, main, sources, printed="0"):
    (cwd / "driver.c").write_text(DRIVER.replace("PASS(args)", printed))
    (cwd / "main.c").write_text(main)
    command = [
        "gcc",
        "-Wall",
        "-Werror",
        "-Iinclude",
        "-I.",
        "main.c",
        "driver.c",
        *map(str, sources),
    ]
    subprocess.run([*command, "-o", "program"], cwd=cwd, check=True)
    result = subprocess.run([str(cwd / "program")], capture_output=True, text=True, check=True)
    return result.stdout.splitlines()


TYPES = "*fp32:16, *fp32, *fp32:16, i32, i32{}, fp32, 128"


def test_a_kernel_is_loaded_and_launched(folder):
    source, header = compile_kernel(folder, TYPES.format(":1"), "-w", "4", out="alone")
    name, digest_hints, _ = source.name.split(".")
    function = f"{name}_{digest_hints}"
    assert digest_hints.endswith("_0d2d4c") and header.name == f"alone.{digest_hints}.h"
    assert (
        f"CUresult {function}(CUstream stream, CUdeviceptr x, CUdeviceptr y, CUdeviceptr out, "
        in (header.read_text())
    )
    main = f"""
#include "{header.name}"
int main(void) {{
  if ({function}(NULL, 16, 33, 64, 1000, 2.5f) != CUDA_SUCCESS || {function}(NULL, 1, 2, 3, 0, 1.0f))
    return 1;
  unload_{function}();
  return 0;
}}
"""
    printed = '(printf("weight %g\\n", *(float *)args[4]), *(CUdeviceptr *)args[5] != 0)'
    assert run_program(folder, main, [source], printed) == [
        "load 7fELF",
        "function add",
        "launch 8 1 1 x 128 1 1: 10 21 40 1000",
        "weight 2.5",
        "unload",
    ]


def test_the_code_is_that_of_the_compiler(folder):
    import re

    source, _ = compile_kernel(folder, TYPES.format(""), "-w", "8", out="code")
    text = source.read_text()
    numbers = re.search(r"_cubin\[(\d+)\] = \{(.*?)\}", text, re.DOTALL)
    binary = bytes(int(number, 16) for number in numbers[2].split(","))
    assert (
        len(binary) == int(numbers[1]) and binary.startswith(b"\x7fELF") and b".text.add" in binary
    )
    assert "BLOCK=128, num_warps=8, num_stages=3" in text.splitlines()[0]


def test_linked_kernels_are_chosen_by_their_arguments(folder):
    made = [
        compile_kernel(folder, TYPES.format(hint), "-w", warps, out="linked")
        for hint in (":1", ":16", "")
        for warps in ("4", "8")
    ]
    run_tool("link", *(header for _, header in made), "-o", folder / "dispatch", cwd=folder)
    main = """
#include "dispatch.h"
#include <stdio.h>
int main(void) {
  load_linked();
  printf("%d\\n", linked_get_num_algos());
  linked_default(NULL, 16, 16, 16, 300, 1, 1.0f);
  linked(NULL, 16, 16, 16, 300, 32, 1.0f, 3);
  linked(NULL, 16, 16, 16, 300, 3, 1.0f, 2);
  linked_128_warps4xstages3(NULL, 16, 16, 16, 300, 3, 1.0f);
  printf("%d ", linked(NULL, 8, 16, 16, 300, 3, 1.0f, 2));   // an address without its hint
  printf("%d ", linked(NULL, 16, 16, 16, 300, 3, 1.0f, 0));  // no stride of 1
  printf("%d\\n", linked(NULL, 16, 16, 16, 300, 3, 1.0f, 4)); // no such algorithm
  unload_linked();
  return 0;
}
"""
    lines = run_program(folder, main, [*(source for source, _ in made), "dispatch.c"])
    assert lines[:12] == ["load 7fELF", "function add"] * 6
    assert lines[12] == "4"  # warps, and whether the stride is the constant 1
    assert [line.split(":")[0] for line in lines[13:17]] == [
        "launch 3 1 1 x 128 1 1",
        "launch 3 32 1 x 256 1 1",
        "launch 3 3 1 x 128 1 1",
        "launch 3 3 1 x 128 1 1",
    ]
    assert lines[17:] == ["1 1 1", *["unload"] * 6]


@pytest.mark.parametrize(
    ("signature", "more", "text"),
    [
        ("*fp32, i32", (), "has 2 entries; add has the parameters x, y, out"),
        (TYPES.format(":8"), (), "Only 1 and 16 are valid hints, got 8"),
        (TYPES.format(""), ("-g", "1, 1"), "three expressions"),
        (TYPES.format(""), ("-t", "cpu::32"), "ahead of time for cuda, not for cpu"),
        (TYPES.format(""), ("-t", "cuda"), "a target such as --target cuda:90:32"),
        (TYPES.format(""), ("-n", "sub"), "no kernel `sub`; its kernels: scale, add"),
        (TYPES.format(""), ("-n", "tl"), "no kernel `tl`"),
        (TYPES.format("").replace("fp32", "fp33", 1), (), "type '*fp33'"),
        (TYPES.format("").replace("128", "2.5"), (), "add.py:"),
    ],
)
def test_what_is_refused(folder, signature, more, text):
    given = ["add.py", "-n", "add", "-s", signature, "-g", GRID, "-t", "cuda:90:32", *more]
    output = run_tool("compile", *given, cwd=folder, ok=False)
    assert text in output and "Traceback" not in output


def test_files_that_are_not_there(folder):
    output = run_tool(
        "compile", "gone.py", "-n", "add", "-s", "i32", "-g", GRID, cwd=folder, ok=False
    )
    assert "there is no file gone.py" in output and "Traceback" not in output
    output = run_tool("link", "gone.h", "-o", "linked", cwd=folder, ok=False)
    assert "gone.h" in output and "Traceback" not in output
    (folder / "other.h").write_text("int x;\n")
    output = run_tool("link", "other.h", "-o", "linked", cwd=folder, ok=False)
    assert "no kernels for cuda in other.h" in output and "Traceback" not in output


def header(function, signature="CUdeviceptr x, int32_t n", variant="8_warps1xstages3"):
    return f"// tt-linker-backend: cuda\n// tt-linker: {function}:{signature}:{variant}\n"


def test_headers_are_read():
    parser = HeaderParser()
    parser.extract_linker_meta(header("add_0a1b_0d1c"))
    parser.extract_linker_meta(header("add_0a1c_"))
    assert parser.backend_name == "cuda"
    ((name, (first, second)),) = parser.kernels.items()
    assert name == "add_8_warps1xstages3" and first.sizes == [16, 1] and first.num_specs == 2
    assert first.arg_names == ("x", "n") and second.sizes == [None, None] and second.suffix == ""


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([header("add")], "not a valid kernel name"),
        ([header("add_0a_", "x")], "not a valid argument signature"),
        ([header("add_0a_5d")], "a hint is for parameter 5"),
        ([header("add_0a_0e")], "invalid extra suffix"),
        (
            [header("add_0a_"), header("add_0b_", "CUdeviceptr x, int64_t n")],
            "Mismatched signature",
        ),
    ],
)
def test_headers_that_do_not_fit(texts, message):
    parser = HeaderParser()
    with pytest.raises(LinkerError, match=message):
        for text in texts:
            parser.extract_linker_meta(text)


def test_names_that_c_has_taken(folder):
    """A kernel and parameters named as C's keywords, its library's functions and the generated text's variables."""
    (folder / "taken.py").write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
        "def register(double, stream, printf, N: tl.constexpr):\n"
        "    tl.store(double + tl.arange(0, N), stream + printf)\n"
    )
    before = set(os.listdir(folder))
    run_tool(
        "compile", folder / "taken.py", "-n", "register", "-s", "*i32, i32, i32, 8", "-g", "stream, printf, 1",
        "-t", "cuda:90:32", "-w", "4", cwd=folder,
    )  # fmt: skip
    source, header = sorted(set(os.listdir(folder)) - before - {"cache", "__pycache__"})
    run_tool("link", folder / header, "-o", folder / "linked", cwd=folder)
    main = """
#include "linked.h"
int main(void) { return register_(NULL, 16, 2, 3, 0); }
"""
    printed = 'printf("%d %d\\n", *(int *)args[1], *(int *)args[2])*0'
    lines = run_program(folder, main, [folder / source, folder / "linked.c"], printed)
    assert lines[-1] == "2 3" and "launch 2 3 1" in lines[-2]


@pytest.mark.parametrize("target", [["--target", "cuda:90:32"], []])
def test_the_tools_run_as_files(target, tmp_path):
    """Programs run `compile.py` and `link.py` by their paths, and compile for the device that is there."""
    import triton.tools

    (tmp_path / "kernels.py").write_text(KERNEL)
    (tmp_path / "scale_of.py").write_text(HELPER)
    tools = triton.tools.__path__[0]
    signature = "*fp32:16, *fp32:16, *fp32:16, i32, i32:1, fp32, 128"
    command = [
        sys.executable,
        os.path.join(tools, "compile.py"),
        "-n",
        "add",
        "--signature",
        signature,
        "--grid",
        GRID,
    ]
    command += ["--out-name", "sum", "-o", "sum", *target, "kernels.py"]
    environment = {**os.environ, "TRITON_DEVICE": "sim:90"}
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env=environment)
    headers = [path.name for path in tmp_path.glob("sum.*.h")]
    subprocess.run(
        [sys.executable, os.path.join(tools, "link.py"), *headers, "-o", "all"],
        cwd=tmp_path,
        check=True,
    )
    assert "sum_default" in (tmp_path / "all.h").read_text()
