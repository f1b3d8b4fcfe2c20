"""Draws docs/figures/flow.svg: from the text of a kernel to the running kernel.

usage: draw_flow.py
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import pathlib
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 116, 44  # of a box
COLUMN, LEFT = 152, 16
ROWS = {"cpu": 34, "middle": 104, "gpu": 174, "host": 284}
STYLE = """
  text { font: 13px sans-serif; text-anchor: middle; fill: #1b1f24 }
  .folder { font: 11px monospace; fill: #57606a }
  .edge { font: 11px sans-serif; fill: #0a5c63 }
  rect { fill: #e6f2f1; stroke: #0a7c7c; rx: 6px }
  .host { fill: #fdf3e1; stroke: #b7791f }
  path { fill: none; stroke: #57606a; stroke-width: 1.4; marker-end: url(#arrow) }
"""


@dataclass
class Box:
    column: float
    row: str
    title: str
    folder: str = ""
    kind: str = ""

    @property
    def x(self) -> float:
        return LEFT + self.column * COLUMN

    @property
    def y(self) -> float:
        return ROWS[self.row]

    @property
    def middle(self) -> float:
        return self.y + HEIGHT / 2


BOXES = {
    "text": Box(0, "middle", "kernel.py"),
    "ast": Box(1, "middle", "AST", "compiler/syntax"),
    "tt": Box(2, "middle", "tt: tiles", "compiler/sema"),
    "plan": Box(3, "cpu", "LoopPlan", "target/cpu"),
    "ttg": Box(3, "gpu", "ttg: layouts", "passes/ttg"),
    "cpu-llvm": Box(4, "cpu", "LLVM IR", "target/cpu"),
    "gpu-llvm": Box(4, "gpu", "LLVM IR", "lowering"),
    "so": Box(5, "cpu", "shared object", "LLVM, lld"),
    "cubin": Box(5, "gpu", "PTX, cubin", "target/nvidia"),
    "artifact": Box(6, "middle", "artifact", "artifact"),
    "kernel": Box(7, "middle", "running kernel", "runtime"),
    "tensors": Box(0, "host", "your tensors", kind="host"),
    "launcher": Box(1.6, "host", "signature, key", "jit", kind="host"),
    "cache": Box(3.5, "host", "caches", "memory, disk", kind="host"),
}
FLOWS = [  # from, to, what happens between
    ("text", "ast", "parse"),
    ("ast", "tt", "sema"),
    ("tt", "plan", ""),
    ("tt", "ttg", ""),
    ("plan", "cpu-llvm", "emit"),
    ("ttg", "gpu-llvm", "lower"),
    ("cpu-llvm", "so", ""),
    ("gpu-llvm", "cubin", ""),
    ("so", "artifact", ""),
    ("cubin", "artifact", ""),
    ("artifact", "kernel", "load"),
    ("tensors", "launcher", "launch"),
    ("launcher", "cache", "look up"),
]


def text(x: float, y: float, words: str, kind: str = "") -> str:
    attribute = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}"{attribute}>{escape(words)}</text>'


def draw_box(box: Box) -> list[str]:
    kind = f' class="{box.kind}"' if box.kind else ""
    lines = [f'<rect x="{box.x:g}" y="{box.y:g}" width="{WIDTH}" height="{HEIGHT}"{kind}/>']
    lines.append(text(box.x + WIDTH / 2, box.middle + 4, box.title))
    if box.folder:
        lines.append(text(box.x + WIDTH / 2, box.y + HEIGHT + 15, box.folder, "folder"))
    return lines


def arrow(points: list[tuple[float, float]]) -> str:
    return '<path d="M' + " L".join(f"{x:g} {y:g}" for x, y in points) + '"/>'


def draw_flow(start: Box, end: Box, words: str) -> list[str]:
    begin, stop = start.x + WIDTH, end.x
    lines = [arrow([(begin, start.middle), (stop - 2, end.middle)])]
    if words:
        lines.append(text((begin + stop) / 2, start.middle - 6, words, "edge"))
    return lines


def draw_lookup() -> list[str]:
    """A miss compiles the kernel's text, a hit is an artifact."""
    cache, source, artifact = BOXES["cache"], BOXES["text"], BOXES["artifact"]
    below = ROWS["host"] - 26
    hit = [(cache.x + WIDTH, cache.middle), (artifact.x + WIDTH / 2, cache.middle)]
    hit.append((artifact.x + WIDTH / 2, artifact.y + HEIGHT + 22))
    miss = [(cache.x + WIDTH / 2, cache.y), (cache.x + WIDTH / 2, below)]
    miss += [(source.x + WIDTH / 2, below), (source.x + WIDTH / 2, source.y + HEIGHT + 2)]
    return [
        arrow(hit),
        text((hit[0][0] + hit[1][0]) / 2, cache.middle - 6, "hit", "edge"),
        arrow(miss),
        text((miss[1][0] + miss[2][0]) / 2, below - 6, "miss: compile", "edge"),
    ]


def flow() -> str:
    """The text of the figure."""
    width = LEFT + max(box.x for box in BOXES.values()) + WIDTH
    height = ROWS["host"] + HEIGHT + 28
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" role="img">',
        "<title>From the text of a kernel to the running kernel</title>",
        f"<style>{STYLE}</style>",
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<polygon points="0 0 8 4 0 8" fill="#57606a"/></marker></defs>',
        f'<path d="M0 0h{width:g}v{height}H0z" style="fill: #ffffff; stroke: none; marker-end: none"/>',
        text(BOXES["plan"].x + WIDTH / 2, ROWS["cpu"] - 10, "CPU", "edge"),
        text(BOXES["ttg"].x + WIDTH / 2, ROWS["gpu"] - 10, "NVIDIA GPU", "edge"),
    ]
    for start, end, words in FLOWS:
        lines += draw_flow(BOXES[start], BOXES[end], words)
    lines += draw_lookup()
    for box in BOXES.values():
        lines += draw_box(box)
    return "\n".join([*lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    root = pathlib.Path(__file__).resolve().parent.parent
    (root / "docs" / "figures" / "flow.svg").write_text(flow(), encoding="utf-8")
