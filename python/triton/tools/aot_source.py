"""Generates the C text of a kernel compiled ahead of time."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from dataclasses import dataclass

# Half floats are passed as bits: C has no portable type for them.
_C_TYPES = {
    "i1": "int8_t",
    "u1": "uint8_t",
    "fp16": "uint16_t",
    "bf16": "uint16_t",
    "fp32": "float",
    "f32": "float",
    "fp64": "double",
    "f64": "double",
    **{
        f"{kind}{bits}": f"{'u' * (kind == 'u')}int{bits}_t"
        for kind in "iu"
        for bits in (8, 16, 32, 64)
    },
}


# Names that mean something else in C, and those that the generated text itself uses.
_C_NAMES = frozenset(
    """
    alignas alignof auto bool break case char const constexpr continue default do double else enum
    extern false float for goto if inline int long nullptr register restrict return short signed
    sizeof static static_assert struct switch thread_local true typedef typeof union unsigned void
    volatile while asm class catch delete explicit export friend mutable namespace new operator
    private protected public template this throw try typename using virtual wchar_t
    main NULL errno stdin stdout stderr exit abort atexit malloc calloc realloc free getenv system
    abs labs div atoi atof strtol strtod rand srand qsort bsearch printf fprintf sprintf snprintf
    vprintf scanf sscanf puts putchar getchar fopen fclose fread fwrite fflush remove rename perror
    memcpy memset memmove memcmp strlen
    stream arguments gridX gridY gridZ global_scratch profile_scratch
    """.split()
)


def c_name(name: str) -> str:
    """The name in C: a Python name may be a keyword there, or taken."""
    return f"{name}_" if name in _C_NAMES else name


class ArgumentError(ValueError):
    """The request cannot be compiled ahead of time."""


def c_type(kind: str) -> str:
    if kind.startswith("*"):
        return "CUdeviceptr"
    if kind not in _C_TYPES:
        raise ArgumentError(f"a parameter of type `{kind}` cannot be passed from C")
    return _C_TYPES[kind]


def _declared(parameters: list[tuple[str, str]]) -> str:
    return ", ".join(f"{kind} {name}" for kind, name in parameters)


@dataclass
class KernelSource:
    """The inputs of the texts. The launch takes `parameters`; a dispatcher has `all_parameters`,
    including those with the hint 1.
    """

    function: str
    symbol: str
    binary: bytes
    parameters: list[tuple[str, str]]
    all_parameters: list[tuple[str, str]]
    grid: tuple[str, str, str]
    threads: int
    shared: int
    variant: str
    settings: list[str]  # constants, warps, stages: the comment that heads the source
    ones: list[str]

    def _declaration(self) -> str:
        return f"CUresult {self.function}({_declared([('CUstream', 'stream'), *self.parameters])})"

    def header_text(self) -> str:
        return f"""\
#ifndef TT_KERNEL_INCLUDES
#define TT_KERNEL_INCLUDES

#include <cuda.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#endif

// tt-linker-backend: cuda

void unload_{self.function}(void);
void load_{self.function}(void);
// tt-linker: {self.function}:{_declared(self.all_parameters)}:{self.variant}
{self._declaration()};
"""

    def _binary_text(self) -> str:
        lines = [
            ", ".join(f"0x{byte:02x}" for byte in self.binary[begin : begin + 16])
            for begin in range(0, len(self.binary), 16)
        ]
        return ",\n    ".join(lines)

    def source_text(self) -> str:
        name = self.function
        arguments = ", ".join(
            [
                *(f"&{parameter}" for _, parameter in self.parameters),
                "&global_scratch",
                "&profile_scratch",
            ]
        )
        ones = "".join(f"  const int32_t {one} = 1;\n  (void){one};\n" for one in self.ones)
        return f"""\
// {", ".join(self.settings)}
#include <cuda.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static CUmodule {name}_mod = NULL;
static CUfunction {name}_func = NULL;
static const unsigned char {name}_cubin[{len(self.binary)}] = {{
    {self._binary_text()}}};

static void check_{name}(CUresult result) {{
  const char *text = "unknown error";
  if (result == CUDA_SUCCESS)
    return;
  cuGetErrorString(result, &text);
  fprintf(stderr, "Triton Error [CUDA]: %s\\n", text);
  exit((int)result);
}}

void load_{name}(void) {{
  const int shared = {self.shared};
  check_{name}(cuModuleLoadData(&{name}_mod, {name}_cubin));
  check_{name}(cuModuleGetFunction(&{name}_func, {name}_mod, "{self.symbol}"));
  if (shared > 49152) // more than a kernel gets unasked
    check_{name}(cuFuncSetAttribute({name}_func, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared));
}}

void unload_{name}(void) {{
  if ({name}_mod != NULL)
    check_{name}(cuModuleUnload({name}_mod));
  {name}_mod = NULL;
  {name}_func = NULL;
}}

{self._declaration()} {{
{ones}  const unsigned int gridX = {self.grid[0]};
  const unsigned int gridY = {self.grid[1]};
  const unsigned int gridZ = {self.grid[2]};
  CUdeviceptr global_scratch = 0, profile_scratch = 0;
  void *arguments[{len(self.parameters) + 2}] = {{{arguments}}};
  if ({name}_func == NULL)
    load_{name}();
  if (gridX == 0 || gridY == 0 || gridZ == 0)
    return CUDA_SUCCESS;
  return cuLaunchKernel({name}_func, gridX, gridY, gridZ, {self.threads}, 1, 1, {self.shared}, stream, arguments, NULL);
}}
"""
