"""The examples of the documentation: reads the fenced blocks of a page and runs them in order, in one folder.

    python test/python/_doc_examples.py     lists every block and how it is checked

The words after the language say how a block is checked:

    (none)            python, cpp, sh: it is run and must succeed; other languages: it is only shown
    title="x.py"      the block is kept under this name, for later blocks of the page
    continues         it is run after the python block before it, in one program
    fails             it must fail
    gpu               its kernels are compiled for cuda:90, and it runs with its arrays on the CPU
    xla="jax"         it is run in that environment of the test level xla
    signature         it is the heading of a function: it is only parsed
    not-run="why"     it is not run, and why
    output            text: the lines are in the output of the block before it; `...` stands for anything
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import ast
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build" / "dev"
ON_CPU = ROOT / "test" / "python" / "_doc_on_gpu.py"
FENCE = re.compile(r"^```(\w*)([^`\n]*)$")
MARK = re.compile(r'([\w-]+)(?:="([^"]*)")?\s*')
RUN = ("python", "cpp", "sh")
SHOWN = ("text", "tree", "mlir", "cmake", "ini")
MARKS = {
    "python": {"title", "continues", "fails", "gpu", "xla", "signature", "not-run"},
    "cpp": {"title", "not-run"},
    "sh": {"fails", "not-run"},
    "text": {"output"},
}
LIMIT_SECONDS = 120


@dataclasses.dataclass
class Block:
    page: pathlib.Path
    line: int
    language: str
    marks: dict[str, str]
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    def way(self) -> str:
        """How it is checked, in a word."""
        for mark in ("not-run", "signature", "gpu", "output"):
            if mark in self.marks:
                return mark
        if "xla" in self.marks:
            return f"run with {self.marks['xla']}"
        return "run" if self.language in RUN else "shown"


def pages() -> list[pathlib.Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: pathlib.Path) -> list[Block]:
    found: list[Block] = []
    inside: Block | None = None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if inside is not None and line == "```":
            inside = None
        elif inside is not None:
            inside.text += line + "\n"
        elif fence:
            inside = Block(page, number, fence[1], read_marks(fence[2]), "")
            found.append(inside)
    return found


def xla_blocks(environment: str) -> list[Block]:
    """The blocks of all pages that need JAX ("jax") or PyTorch/XLA ("torch")."""
    return [block for page in pages() for block in blocks(page) if block.marks.get("xla") == environment]


def read_marks(text: str) -> dict[str, str]:
    return {found[1]: found[2] or "" for found in MARK.finditer(text)}


def problems(block: Block) -> list[str]:
    """What is wrong with a block's first line."""
    if block.language not in RUN + SHOWN:
        return [f"{block}: `{block.language}` is none of {', '.join(RUN + SHOWN)}"]
    wrong = [
        f"{block}: `{mark}` is no mark of {block.language}"
        for mark in block.marks.keys() - MARKS.get(block.language, set())
    ]
    if block.marks.get("not-run") == "":
        wrong.append(f"{block}: `not-run` without a reason")
    return wrong


class Run:
    """The blocks of one page, run in order in one folder."""

    def __init__(self, folder: pathlib.Path, on_gpu: bool = False, xla: str = ""):
        self.folder = folder
        self.on_gpu = on_gpu
        self.xla = xla
        (folder / "examples").symlink_to(ROOT / "examples")
        self.output: str | None = None  # of the last block that was run
        self.program: tuple[str, str] | None = None  # name and text of the last python block
        self.count = 0
        path = [os.path.dirname(sys.executable), str(BUILD / "bin"), os.environ["PATH"]]
        self.environment = {**os.environ, "PATH": os.pathsep.join(path)}
        self.environment |= {"TRITON_CACHE_DIR": str(folder / "cache"), "HOME": str(folder)}

    def add(self, block: Block) -> None:
        if "not-run" in block.marks or block.marks.get("xla", "") != self.xla:
            self.output = None
            if block.language == "python":
                compile(block.text, str(block), "exec")
        elif "signature" in block.marks:
            ast.parse(block.text)
        elif "output" in block.marks:
            assert self.output is not None, f"{block}: output of a block that is not run"
            compare(block, self.output)
        elif block.language in RUN:
            command = getattr(self, f"command_for_{block.language}")(block)
            self.execute(block, command)

    def execute(self, block: Block, command: list[str]) -> None:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_SECONDS,
        )
        self.output = done.stdout
        failed = done.returncode != 0
        assert failed == ("fails" in block.marks), (
            f"{block}: status {done.returncode}\n{done.stdout}"
        )

    def name_of(self, block: Block, suffix: str) -> str:
        self.count += 1
        return block.marks.get("title") or f"example_{self.count}{suffix}"

    def command_for_python(self, block: Block) -> list[str]:
        if "continues" in block.marks:
            assert self.program is not None, f"{block}: there is no program to continue"
            name, text = self.program[0], self.program[1] + "\n" + block.text
        else:
            name, text = self.name_of(block, ".py"), block.text
        self.program = name, text
        (self.folder / name).write_text(text, encoding="utf-8")
        is_simulated = "gpu" in block.marks and not self.on_gpu
        return [sys.executable, *([str(ON_CPU)] if is_simulated else []), name]

    def command_for_cpp(self, block: Block) -> list[str]:
        source = self.folder / self.name_of(block, ".cpp")
        source.write_text(block.text, encoding="utf-8")
        program = source.with_suffix("")
        libraries = BUILD / "lib"
        command = [
            "clang++-22",
            "-std=c++20",
            f"-I{ROOT / 'include'}",
            source,
            f"-L{libraries}",
            "-lnereid",
        ]
        subprocess.run([*command, f"-Wl,-rpath,{libraries}", "-o", program], check=True)
        return [str(program)]

    def command_for_sh(self, block: Block) -> list[str]:
        return ["bash", "-euo", "pipefail", "-c", block.text]


def compare(block: Block, output: str) -> None:
    """Asserts that the lines of a block are in an output; `...` is any text, alone in a line any lines."""
    lines = [
        r"(?:.*\n)*?" if line.strip() == "..." else pattern_of(line)
        for line in block.text.splitlines()
    ]
    pattern = re.compile("^" + "".join(lines), re.MULTILINE)
    assert pattern.search(output.rstrip("\n") + "\n"), f"{block}: the output is\n{output}"


def pattern_of(line: str) -> str:
    return r".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n"


def reason_to_skip() -> str:
    """Why examples cannot be run by this Python; empty if they can."""
    if not (BUILD / "bin" / "nereid").exists():
        return "the examples run the tools of build/dev, which is not built"
    return (
        "" if shutil.which("clang++-22") else "there is no clang++-22 to compile the C++ examples"
    )


def main() -> None:
    counts: dict[str, int] = {}
    for page in pages():
        for block in blocks(page):
            kind = f"{block.language}: {block.way()}"
            counts[kind] = counts.get(kind, 0) + 1
            if "signature" not in block.marks:
                why = block.marks.get("not-run", "")
                print(f"{block!s:40} {kind}{' (' + why + ')' if why else ''}")
    for kind, count in sorted(counts.items()):
        print(f"{count:5} {kind}")


if __name__ == "__main__":
    main()
