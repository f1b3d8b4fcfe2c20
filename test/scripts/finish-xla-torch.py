"""Makes PyTorch's CUDA build loadable without CUDA: writes stub libraries for its missing dependencies, removes its GPU
code.

usage: finish-xla-torch.py [TORCH_LIB [LIBRARY...]]   (this environment's torch/lib; names of libraries that are there)

A stub library has only the symbols that the rest of torch needs: CUDA's functions return "no device", those of
libtorch_cuda.so return zeroed memory. Both wheels of PyTorch/XLA's releases need such a build of torch.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import dataclasses
import glob
import os
import re
import subprocess
import sys
import sysconfig
import tempfile

GPU_CODE = "libtorch_cuda.so"
# Only GPU code uses these: nothing loads them without a GPU.
UNUSED = ("libtorch_cuda_linalg.so", "libtorch_nvshmem.so", "libcaffe2_nvrtc.so")
CUDA_NAME = re.compile(r"cu[a-zA-Z]+[A-Z]|nccl[A-Z]|nv[a-z]+[A-Z]")
NO_DEVICE = 100  # cudaErrorNoDevice, CUDA_ERROR_NO_DEVICE
SYSTEM = re.compile(
    r"(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|libgomp|ld-linux.*)\.so(\.\d+)?"
)


@dataclasses.dataclass(frozen=True)
class Symbol:
    name: str
    version: str  # "" without one
    kind: str  # FUNC, OBJECT, TLS, NOTYPE
    size: int
    is_defined: bool
    is_weak: bool


def readelf(option: str, library: str) -> list[str]:
    command = ["readelf", "-W", option, library]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def symbols(library: str) -> list[Symbol]:
    found = []
    for line in readelf("--dyn-syms", library):
        words = line.split()
        if len(words) < 8 or not words[0].rstrip(":").isdigit():
            continue
        size, kind, binding, section, name = (
            int(words[2], 0),
            words[3],
            words[4],
            words[6],
            words[7],
        )
        if binding != "LOCAL":
            name, _, version = name.partition("@")
            found.append(
                Symbol(name, version.lstrip("@"), kind, size, section != "UND", binding == "WEAK")
            )
    return found


def needed(library: str) -> list[str]:
    return re.findall(r"\(NEEDED\).*\[(.+)\]", "\n".join(readelf("-d", library)))


def function(name: str, body: str) -> str:
    return f'.text\n.globl "{name}"\n.type "{name}",@function\n"{name}": {body}\n ret\n'


def data(symbol: Symbol) -> str:
    """Zeros; a class's type info contains its name, since types are compared by it."""
    name, size = symbol.name, max(symbol.size, 8)
    if name.startswith("_ZTI"):
        words = f'_ZTVN10__cxxabiv117__class_type_infoE+16, ".L{name}", 0\n".L{name}": .asciz "{name[4:]}"'
        section, value = '.section .data.rel,"aw"', f".quad {words}"
        size = 24
    else:
        section = '.section .tbss,"awT",@nobits' if symbol.kind == "TLS" else ".data"
        value = f".zero {size}"
    return f'{section}\n.balign 16\n.globl "{name}"\n.type "{name}",@object\n.size "{name}",{size}\n"{name}": {value}\n'


def link(path: str, assembly: str, versions: dict[str, list[str]]) -> None:
    script = "".join(
        f"{version} {{ global: {' '.join(name + ';' for name in names)} }};\n"
        for version, names in versions.items()
    )
    with tempfile.TemporaryDirectory() as folder:
        source, map_file = os.path.join(folder, "s.s"), os.path.join(folder, "versions")
        for file_path, text in ((source, assembly), (map_file, script)):
            with open(file_path, "w", encoding="utf-8") as file:
                file.write(text)
        command = ["clang-22", "-shared", "-nostdlib", "-fuse-ld=lld", "-o", path, source]
        command += [f"-Wl,-soname,{os.path.basename(path)}"]
        command += [f"-Wl,--version-script,{map_file}"] if script else []
        subprocess.run(command, check=True)


def replace_gpu_code(folder: str, libraries: list[str]) -> int:
    """Replaces libtorch_cuda.so by a library with only the symbols that the other libraries need."""
    path = os.path.join(folder, GPU_CODE)
    theirs = [s for library in libraries for s in symbols(library)]
    # A symbol that another library defines too (inlined C++) or that has a version (libstdc++) is resolved there.
    wanted = {s.name for s in theirs if not s.is_defined and not s.version}
    wanted -= {s.name for s in theirs if s.is_defined}
    real = [path, *glob.glob(os.path.join(folder, "libtorch_nvshmem.so"))]
    provided = [s for p in real for s in symbols(p) if s.is_defined and s.name in wanted]
    text = ".local .Lzeros\n.comm .Lzeros,4096,64\n" + "".join(
        function(s.name, "leaq .Lzeros(%rip), %rax") if s.kind == "FUNC" else data(s)
        for s in {s.name: s for s in provided}.values()
    )
    link(path, text, {})
    return len(provided)


def write_cuda_libraries(folder: str, libraries: list[str], present: set[str]) -> dict[str, int]:
    """The missing libraries that torch's depend on; symbols without a version go into the first."""
    own = {os.path.basename(path) for path in libraries} | {GPU_CODE}
    names = sorted(
        {
            n
            for library in libraries
            for n in needed(library)
            if n not in own and not SYSTEM.fullmatch(n)
        }
    )
    by_version: dict[str, set[str]] = {name: set() for name in names}
    for library in libraries:
        for symbol in symbols(library):
            if not symbol.is_defined and symbol.version in by_version:
                by_version[symbol.version].add(symbol.name)
    loose = unversioned(libraries)
    for name in set(names) - present:
        versioned = sorted(by_version[name])
        text = "".join(function(s, f"movl ${NO_DEVICE}, %eax") for s in versioned)
        if name == names[0]:
            text += "".join(function(s, f"movl ${NO_DEVICE}, %eax") for s in loose)
        link(os.path.join(folder, name), text, {name: versioned} if versioned else {})
    return {name: len(by_version[name]) for name in names if name not in present}


def unversioned(libraries: list[str]) -> list[str]:
    """CUDA's undefined symbols without a version; any library may define them."""
    return sorted(
        {
            s.name
            for path in libraries
            for s in symbols(path)
            if not (s.is_defined or s.version) and CUDA_NAME.match(s.name)
        }
    )


def main() -> None:
    installed = os.path.join(sysconfig.get_path("purelib"), "torch", "lib")
    folder, present = (sys.argv[1:2] or [installed])[0], set(sys.argv[2:])
    keep = [
        path
        for path in sorted(glob.glob(os.path.join(folder, "*.so")))
        if os.path.basename(path) not in (GPU_CODE, *UNUSED)
    ]
    replaced = replace_gpu_code(folder, keep)
    for name in UNUSED:
        if os.path.exists(os.path.join(folder, name)):
            os.unlink(os.path.join(folder, name))
    written = write_cuda_libraries(folder, keep, present)
    print(f"{GPU_CODE}: {replaced} symbols; {', '.join(f'{n}: {c}' for n, c in written.items())}")


if __name__ == "__main__":
    main()
