"""Machine code of NVIDIA GPUs as text: `get_sass`, and `asm["sass"]` of a compiled kernel."""

# SPDX-License-Identifier: MIT
#
# A line is an instruction preceded by its control bits, in the format of maxas:
#   waits:read barrier:write barrier:yield:stall<TAB>instruction;
# Branch targets are labels LBB0, LBB1 and so on.
from __future__ import annotations

import functools
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator

__all__ = ["extract", "get_sass", "path_to_cuobjdump"]

# cuobjdump starts a function with the first form, nvdisasm with the second.
_HEAD = re.compile(r"\s*Function : (\S+)|\.text\.(\S+):$")
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s*/\* 0x([0-9a-f]{16}) \*/")
_SECOND_WORD = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/")
_LABEL = re.compile(r"\s*(\.L_x_\d+):")
_BRANCH = re.compile(r"(\bBRA\b\S* .*?)(0x[0-9a-f]+|`\((\.L_x_\d+)\))")


@functools.lru_cache
def get_sass(cubin_asm: bytes, fun: str | None = None) -> str | None:
    """The machine code of a cubin's first function, or of `fun`; None where there is none."""
    descriptor, path = tempfile.mkstemp(suffix=".cubin")
    try:
        with open(descriptor, "wb") as file:
            file.write(cubin_asm)
        return extract(path, fun)
    finally:
        os.remove(path)


def path_to_cuobjdump() -> str:
    from ..backends.nvidia.disassembler import find_disassembler

    return find_disassembler().cuobjdump


def extract(file_path: str, fun: str | None) -> str | None:
    """The same of a file."""
    lines = _listing(file_path, fun)
    for name, code in _functions(lines):
        if fun is None or name == fun:
            return "\n".join([f"Function:{name}", *code, "", ""])
    return None


def _listing(path: str, fun: str | None) -> list[str]:
    from ..backends.nvidia.disassembler import find_disassembler

    tools = find_disassembler()
    # cuobjdump searches the PATH for nvdisasm.
    search = os.pathsep.join([os.path.dirname(tools.nvdisasm), os.environ.get("PATH", "")])
    only = ["-fun", fun] if fun is not None else []
    command = [tools.cuobjdump, *only, "-sass"] if tools.cuobjdump else [tools.nvdisasm, "-hex"]
    done = subprocess.run(
        [*command, path], capture_output=True, text=True, env={**os.environ, "PATH": search}
    )
    if done.returncode != 0:
        message = (done.stderr or done.stdout).strip()
        raise RuntimeError(f"{command[0]} does not show this code: {message}")
    return done.stdout.splitlines()


def _functions(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Each function's name, and its code as lines of text."""
    name, code = None, _Code()
    for line in lines:
        head = _HEAD.match(line)
        if head:
            if name is not None:
                yield name, code.text()
            name, code = head.group(1) or head.group(2), _Code()
        elif name is not None:
            code.read(line)
    if name is not None:
        yield name, code.text()


class _Code:
    """The instructions of one function."""

    def __init__(self) -> None:
        self.addresses: list[int] = []
        self.instructions: list[str] = []
        self.controls: list[str] = []
        self.label_offsets: dict[str, int] = {}  # nvdisasm's labels

    def read(self, line: str) -> None:
        instruction = _INSTRUCTION.match(line)
        if instruction:
            self.addresses.append(int(instruction.group(1), 16))
            self.instructions.append(instruction.group(2))
            return
        second = _SECOND_WORD.match(line)
        if second and len(self.controls) < len(self.instructions):
            self.controls.append(_control(int(second.group(1), 16)))
        label = _LABEL.match(line)
        if label:
            self.label_offsets[label.group(1)] = 16 * len(self.instructions)

    def text(self) -> list[str]:
        labels: dict[int, str] = {}

        def named(branch: re.Match[str]) -> str:
            target = self.label_offsets[branch.group(3)] if branch.group(3) else int(branch.group(2), 16)
            return branch.group(1) + labels.setdefault(target, f"LBB{len(labels)}")

        code = [_BRANCH.sub(named, instruction) for instruction in self.instructions]
        lines = []
        for address, control, instruction in zip(self.addresses, self.controls, code, strict=False):
            if address in labels:
                lines.append(f"{labels[address]}:")
            lines.append(f"{control}\t{instruction};")
        return lines


def _control(word: int) -> str:
    """The scheduling information in the second word of an instruction."""

    def field(position: int, bits: int) -> int:
        return word >> position & (1 << bits) - 1

    stall, write, read, waits = field(41, 4), field(46, 3), field(49, 3), field(52, 6)
    no_barrier = 7
    parts = [
        f"{waits:02d}" if waits else "--",
        "-" if read == no_barrier else str(read),
        "-" if write == no_barrier else str(write),
        "-" if field(45, 1) else "Y",
        f"{stall:x}",
    ]
    return ":".join(parts)
