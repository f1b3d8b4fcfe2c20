"""The C text of a library of kernels, and its header: functions that pack arguments and run or launch."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
import struct
from typing import Any

from .aot_source import _C_TYPES, c_name


class BuildError(ValueError):
    """The kernel cannot be a function of a C library."""


_HEADER_AT, _HEADER_BYTES_AT = 24, 12  # of an artifact's file
_GRID = [("uint32_t", "grid_x"), ("uint32_t", "grid_y"), ("uint32_t", "grid_z")]


def header_of(artifact: bytes) -> dict[str, Any]:
    """The properties of a compiled kernel."""
    (size,) = struct.unpack_from("<I", artifact, _HEADER_BYTES_AT)
    return dict(json.loads(artifact[_HEADER_AT : _HEADER_AT + size]))


def _c_type(kind: str, is_written: bool) -> str:
    if not kind.startswith("*"):
        if kind not in _C_TYPES:
            raise BuildError(f"a parameter of type `{kind}` cannot be passed from C")
        return _C_TYPES[kind]
    pointee = "uint8_t" if kind[1:].startswith(("fp8", "i1")) else _C_TYPES.get(kind[1:], "void")
    return f"{pointee} *" if is_written else f"const {pointee} *"


def _joined(parameters: list[tuple[str, str]]) -> str:
    return ", ".join(f"{kind}{'' if kind.endswith('*') else ' '}{name}" for kind, name in parameters)  # fmt: skip


class Function:
    """One function of the library."""

    def __init__(self, name: str, header: dict[str, Any], image: bytes = b""):
        self.name, self.header, self.image = name, header, image
        self.backend = header["target"]["backend"]
        self.symbol = f"{name}_kernel_code"
        for field, what in (("globalScratchBytes", "scratch memory"), ("profileScratchBytes", "scratch memory"), ("cooperative", "a cooperative launch"), ("persistent", "a launcher of its own")):  # fmt: skip
            if header[field]:
                raise BuildError(f"{name}: the kernel needs {what}; `nereid pack` takes it")
        if self.backend == "cuda" and header["clusterDims"] != [1, 1, 1]:
            raise BuildError(f"{name}: the kernel needs clusters; `nereid pack` takes it")
        self.parameters = [
            (_c_type(each["type"], each["written"]), c_name(each["name"]))
            for each in header["parameters"]
        ]

    def _declaration(self, suffix: str = "", more: tuple[tuple[str, str], ...] = ()) -> str:
        stream = [("void *", "stream")] if self.backend == "cuda" else []
        shown = _joined([*stream, *_GRID, *more, *self.parameters])
        return f"int {self.name}{suffix}({shown})"

    def header_text(self) -> str:
        target, signature = self.header["target"], self.header["signature"]
        lines = [
            f"// {self.header['name']}({signature}) for {target['backend']}:{target['arch']}",
            f"{self._declaration()};",
        ]
        if self.backend == "cpu":
            lines.append(f"{self._declaration('_range', _RANGE)};")
        return "\n".join(lines)

    def _checks(self) -> str:
        """Arguments that the code does not fit are refused."""
        words = self.header["signature"].split(",")
        lines = []
        for each, (kind, name) in zip(self.header["parameters"], self.parameters, strict=True):
            hint = (
                words[each["position"]].partition(":")[2] if each["position"] < len(words) else ""
            )
            if hint.isdigit():
                value = f"(uintptr_t){name}" if kind.endswith("*") else name
                lines.append(f"  if ({value} % {hint} != 0)\n    return {self._invalid};\n")
        return "".join(lines)

    @property
    def _invalid(self) -> str:
        return "1 /* CUDA_ERROR_INVALID_VALUE */" if self.backend == "cuda" else "EINVAL"

    def source_text(self) -> str:
        return self._cuda_text() if self.backend == "cuda" else self._cpu_text()

    def _cpu_text(self) -> str:
        header = self.header
        size = max([8, *(each["offset"] + each["size"] for each in header["parameters"])])
        arena, align = max(header["arenaBytes"], 8), header["arenaAlign"]
        arena = (arena + align - 1) // align * align
        copies = "".join(
            f"  memcpy(packed + {each['offset']}, &{name}, {each['size']});\n"
            for each, (_, name) in zip(header["parameters"], self.parameters, strict=True)
        )
        names = "".join(f", {name}" for _, name in self.parameters)
        return f"""\
extern void {self.symbol}(const void *, const uint32_t *, uint64_t, uint64_t, void *);

{self._declaration("_range", _RANGE)} {{
{self._checks()}  _Alignas(64) unsigned char packed[{size}] = {{0}};
{copies}  const uint32_t grid[3] = {{grid_x, grid_y, grid_z}};
  void *arena = aligned_alloc({align}, {arena});
  if (arena == NULL)
    return ENOMEM;
  memset(arena, 0, 8);
  {self.symbol}(packed, grid, begin, end, arena);
  free(arena);
  return 0;
}}

{self._declaration()} {{
  const uint64_t programs = (uint64_t)grid_x * grid_y * grid_z;
  return {self.name}_range(grid_x, grid_y, grid_z, 0, programs{names});
}}
"""

    def _cuda_text(self) -> str:
        header = self.header
        rows = [", ".join(f"{byte}" for byte in self.image[at : at + 24]) for at in range(0, len(self.image), 24)]  # fmt: skip
        arguments = "".join(f"&{name}, " for _, name in self.parameters)
        return f"""\
static const unsigned char {self.symbol}[] = {{
{",".join(rows)}}};
static struct nereid_function {self.name}_loaded;

{self._declaration()} {{
{self._checks()}  void *scratch = NULL;
  void *arguments[] = {{{arguments}&scratch, &scratch}};
  return nereid_launch(&{self.name}_loaded, {self.symbol}, "{header["entry"]}", {header["sharedBytes"]}, {header["blockDims"][0]},
                       grid_x, grid_y, grid_z, stream, arguments);
}}
"""


_RANGE = (("uint64_t", "begin"), ("uint64_t", "end"))

_CUDA = """\
#include <dlfcn.h>
#include <pthread.h>

static struct {
  int (*load)(void **, const void *);
  int (*find)(void **, void *, const char *);
  int (*set)(void *, int, int);
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
  int (*current)(void **);
} driver;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

struct nereid_function { // of the contexts that have loaded it
  struct { void *context, *function; } loaded[16];
  int count;
};

static int find_driver(void) {
  if (driver.launch != NULL)
    return 0;
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    return 100; // CUDA_ERROR_NO_DEVICE
  *(void **)&driver.load = dlsym(library, "cuModuleLoadData");
  *(void **)&driver.find = dlsym(library, "cuModuleGetFunction");
  *(void **)&driver.set = dlsym(library, "cuFuncSetAttribute");
  *(void **)&driver.current = dlsym(library, "cuCtxGetCurrent");
  *(void **)&driver.launch = dlsym(library, "cuLaunchKernel");
  return driver.load && driver.find && driver.set && driver.current && driver.launch ? 0 : 500; // CUDA_ERROR_NOT_FOUND
}

static int load_function(struct nereid_function *known, const void *image, const char *entry, int shared, void **function) {
  void *context = NULL, *module = NULL;
  int status = find_driver();
  if (status == 0)
    status = driver.current(&context);
  if (status != 0 || context == NULL)
    return status != 0 ? status : 201; // CUDA_ERROR_INVALID_CONTEXT
  for (int i = 0; i < known->count; ++i)
    if (known->loaded[i].context == context) {
      *function = known->loaded[i].function;
      return 0;
    }
  if (known->count == 16)
    return 2; // CUDA_ERROR_OUT_OF_MEMORY
  status = driver.load(&module, image);
  if (status == 0)
    status = driver.find(function, module, entry);
  if (status == 0 && shared > 49152)
    status = driver.set(*function, 8, shared); // more than a kernel gets unasked
  if (status == 0) {
    known->loaded[known->count].context = context;
    known->loaded[known->count++].function = *function;
  }
  return status;
}

static int nereid_launch(struct nereid_function *known, const void *image, const char *entry, int shared, unsigned threads,
                         unsigned x, unsigned y, unsigned z, void *stream, void **arguments) {
  void *function = NULL;
  pthread_mutex_lock(&loading);
  const int status = load_function(known, image, entry, shared, &function);
  pthread_mutex_unlock(&loading);
  if (status != 0 || x == 0 || y == 0 || z == 0)
    return status;
  return driver.launch(function, x, y, z, threads, 1, 1, (unsigned)shared, stream, arguments, NULL);
}
"""


def header_text(guard: str, functions: list[Function]) -> str:
    declarations = "\n".join(function.header_text() for function in functions)
    return f"""\
// Kernels: grid_* are the numbers of programs. A function of a CPU returns 0, EINVAL where an argument is not the multiple
// that its signature says, or ENOMEM; it runs on the calling thread, and NAME_range runs programs begin to end alone, so
// that several threads may share them. A function of a GPU launches in a CUstream of the current context, takes device
// pointers, and returns a CUresult.
#ifndef {guard}
#define {guard}

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

{declarations}

#ifdef __cplusplus
}}
#endif

#endif
"""


def source_text(header_name: str, functions: list[Function]) -> str:
    cuda = _CUDA if any(function.backend == "cuda" for function in functions) else ""
    texts = "\n".join(function.source_text() for function in functions)
    return f"""\
#include "{header_name}"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
{cuda}
{texts}"""
