"""Mutated kernels: the jitted functions of the run-tests with changed tokens, lines, nesting, signatures and options."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import ast
import io
import keyword
import random
import re
import tokenize
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HEAD = "import triton\nimport triton.language as tl\n\n\n"
WORDS = """
( ) [ ] { } : , . ; = == != < <= > >= + - * / // % ** @ & | ^ ~ << >> += -= -> := ... * ** and or not in is if else elif
for while break continue return pass def lambda with assert del global None True False 0 1 -1 2 0.5 1e999 2**40
0x80000000 99999999999999999999 "" "text" f"{n}" x n tl tl.load tl.store tl.arange(0,16) tl.zeros((4,),tl.float32) tl.dot
tl.sum tl.float16 tl.constexpr tl.program_id(0) tl.static_range range(n,0,-n) range unknown *rest [:,None] .to(tl.int8) (1,2)
tl.float8e4nv tl.int1 tl.void tl.math tl.range(0,n,num_stages=-1) tl.static_assert(False) tl.static_print tl.device_print
tl.inline_asm_elementwise tl.map_elementwise tl.reduce tl.associative_scan tl.make_block_ptr tl.make_tensor_descriptor
tl.cast tl.full((),1,tl.int64) tl.atomic_add tl.debug_barrier() tl.where(x,x,x) yield await async match [x for x in x]
""".split()  # fmt: skip
NUMBERS = """0 1 -1 2 3 7 16 33 1024 131072 2147483647 2147483648 -2147483649 4294967296 9223372036854775807
9223372036854775808 18446744073709551616 -9223372036854775809 10**40 -10**40 1<<62 0.0 -0.0 1e308 1e999 -1e999
float("nan") float("inf") True None 0.5 1e-320 5j""".split()
UNICODE = ("é", "変数", "\u200b", "\u202e", "\ufeff", "𝐱", "💥", "\u0301", "'\ud7ff'", '"\\ud800"', "\x00", "\x0c", "ﬁ", "µ", "\u2028")  # fmt: skip
OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>", "==", "<", "and", "or", "in", "is")  # fmt: skip
CALLS = """tl.sum({},0) tl.max({},1) tl.dot({},{}) tl.trans({}) tl.expand_dims({},9) tl.reshape({},(3,)) tl.cat({},{})
tl.load({}) tl.store({},{}) tl.arange(0,{}) tl.zeros(({},),{}) tl.broadcast_to({},({},2)) {}.to({}) {}[{}] {}[None,:]
tl.sort({}) tl.exp({}) tl.cumsum({},-9) tl.join({},{}) tl.split({}) tl.permute({},(1,0)) tl.where({},{},{}) range({})
tl.static_range({}) tl.constexpr({}) tl.cast({},{}) tl.atomic_cas({},{},{}) tl.gather({},{},0) tl.histogram({},{})
tl.multiple_of({},{}) len({}) int({}) float({}) str({}) tuple({}) ({},) [{}] *{} -{} ~{} not({}) {}.shape {}.dtype {}.T
{}.__class__ lambda:{} tl.swizzle2d({},{},{},{}) tl.rand({},{}) tl.philox({},{},{},{},{}) tl.clamp({},{},{})
tl.inline_asm_elementwise({},"=r,r",[{}],{},True,1) tl.reduce({},0,{}) tl.associative_scan({},0,{}) tl.interleave({},{})
tl.dot_scaled({},{},"e4m3",{},{},"e2m1") tl.make_block_ptr({},({},),({},),(0,),(16,),(0,)) tl.device_assert({},{})
tl.make_tensor_descriptor({},[{},{}],[{},1],[16,16]) tl.flip({},0) tl.topk({},{}) tl.advance({},({},)) getattr(tl,{})""".split()  # fmt: skip
DEPTHS = (2, 30, 190, 400, 3000)

TYPES = """*fp32 *fp16 *bf16 *fp64 *i1 *i8 *i16 *i32 *i64 *u8 *u32 *u64 *fp8e4nv *fp8e5 *fp8e4b15 *fp8e4b8 *fp8e5b16 i1 i8 i16
i32 i64 u1 u8 u16 u32 u64 fp16 bf16 fp32 fp64 fp8e5 constexpr *void **fp32 *k fp33 i128 nonsense *constexpr
tensordesc<fp16[16,16]> tensordesc<> tensordesc<fp16[-1]> nvTmaDesc tensor<16xfp32> pointer None * i """.split()  # fmt: skip
CONSTANTS: tuple[Any, ...] = (
    0, 1, -1, 2, 3, 16, 17, 64, 1 << 20, 1 << 31, 1 << 63, -(1 << 63), 1 << 64, 10**40, 0.5, float("nan"), float("inf"), -0.0,
    True, False, None, "", "text", "fp32", "é\ud800", b"x", (), (1,), (16, 16), ((1, (2,)), None), [1, 2], {"a": 1}, {1}, 5j,
    len, object(), ..., slice(1), range(3), int, NotImplemented,
)  # fmt: skip
OPTIONS: dict[str, tuple[Any, ...]] = {
    "num_warps": (0, 1, 2, 3, 8, 16, 32, 64, -1, 1 << 40, 4.0, "4", None, True, [4]),
    "num_stages": (-1, 0, 1, 5, 100, 1 << 33, "2", None, 2.5),
    "num_ctas": (0, 1, 2, 3, 16, 32, -1, 1 << 33, "1", None),
    "maxnreg": (0, -1, 1, 24, 255, 256, 1 << 33, "x", None),
    "enable_fp_fusion": (False, None, 1, "no", 2),
    "sanitize_overflow": (True, 1, None, "x"),
    "sanitize": ("bounds", "", "unknown", "bounds,race,uninit,overflow,nan", 7, None),
    "debug": (True, None, 3),
    "launch_cooperative_grid": (True, 2, None),
    "launch_pdl": (True, None),
    "waves_per_eu": (0, 3, -1, 99, "1"),
    "matrix_instr_nonkdim": (0, 16, 32, 5, -1),
    "kpack": (1, 2, 3, -1),
    "extern_libs": ({}, {"x": "/nowhere.bc"}, [("x", "")], "libdevice", None, {1: 2}, {"x": "/dev/null"}),
    "allow_fp8e4nv": (True,),
    "default_dot_input_precision": ("ieee", "tf32x3", "nothing", None, 3),
    "ptx_version": (0, 80, 87, -1, 10000, "83"),
    "arch": ("sm_10", "sm90", "gfx000", 90, None, ""),
    "schedule_hint": ("none", "attention", "x", 3),
    "warp_size": (0, 32, 64, 7),
    "cluster_dims": ((1, 1, 1), (2, 1, 1), 3, ()),
    "unknown_option": (1, None),
}  # fmt: skip
ATTRIBUTES: tuple[Any, ...] = (
    [["tt.divisibility", 16]], [["tt.divisibility", 3]], [["tt.divisibility", -16]], [["tt.divisibility", 1 << 40]],
    [["tt.divisibility", "x"]], [["tt.pointer_range", 32]], [["tt.unknown", 1]], [["", 1]], [], [["tt.divisibility"]], "x",
    None, [1], [["tt.divisibility", 1 << 70]],
)  # fmt: skip


@dataclass
class Seed:
    name: str
    text: str
    parameters: list[str]
    constants: set[str]  # those with the annotation
    rest: str  # the other jitted functions of its file


def seeds_of(path: Path) -> list[Seed]:
    """The jitted functions of a file."""
    text = path.read_text()
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and any(
            "jit" in ast.dump(each) for each in node.decorator_list
        ):
            segment = "@triton.jit\n" + (ast.get_source_segment(text, node) or "") + "\n\n\n"
            found[node.name] = segment, [*node.args.args, *node.args.kwonlyargs]
    return [
        Seed(
            name,
            segment,
            [each.arg for each in arguments],
            {each.arg for each in arguments if "constexpr" in ast.dump(each)},
            "".join(each for other, (each, _) in found.items() if other != name),
        )
        for name, (segment, arguments) in found.items()
    ]


# --- signatures --------------------------------------------------------------------------------


def entry(seed: Seed, parameter: str, rng: random.Random) -> str:
    """An entry of a signature by the parameter's name."""
    if parameter in seed.constants or parameter.isupper():
        return rng.choice([*["16"] * 6, "32", "1", "True", "None", '"text"'])
    return rng.choice(
        ["*fp32", "*fp32", "*i32"]
        if re.search("ptr|out|^[xyab]$", parameter)
        else ["i32", "i32", "i32", "fp32", "4"]
    )


def signature_of(seed: Seed, compiles: Callable[[str, list[str]], bool]) -> list[str] | None:
    """A signature with which the text as it stands compiles; None where a few guesses find none."""
    rng = random.Random(seed.name)
    for _ in range(24):
        signature = [entry(seed, parameter, rng) for parameter in seed.parameters]
        if compiles(HEAD + seed.rest + seed.text, signature):
            return signature
    return None


def typed(seed: Seed, signature: list[str]) -> tuple[dict[str, str], dict[str, Any]]:
    """The types and the constants that an entry of a command line's signature stands for."""
    types, constants = {}, {}
    for parameter, entry in zip(seed.parameters, signature, strict=True):
        try:
            constants[parameter] = ast.literal_eval(entry)
            types[parameter] = "constexpr"
        except (ValueError, SyntaxError):
            types[parameter] = entry
    return types, constants


def mutate_signature(
    types: dict[str, str], constants: dict[str, Any], rng: random.Random
) -> dict[str, Any]:
    """Changes entries in place; returns attributes of parameters."""
    attributes: dict[str, Any] = {}
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2)) if types else 0):
        name = rng.choice(list(types))
        kind = rng.randrange(4)
        if kind == 0:
            types[name] = rng.choice(TYPES)
        elif kind == 1:
            types[name], constants[name] = "constexpr", rng.choice(CONSTANTS)
        elif kind == 2:
            constants.pop(name, None)
        else:
            attributes[name] = rng.choice(ATTRIBUTES)
    return attributes


def mutated_options(rng: random.Random) -> dict[str, Any]:
    names = rng.choices(list(OPTIONS), k=rng.choice((0, 0, 1, 1, 2)))
    return {name: rng.choice(OPTIONS[name]) for name in names}


# --- texts -------------------------------------------------------------------------------------


class Pieces:
    """A function as its tokens and what is between them: layout is kept."""

    def __init__(self, text: str, rng: random.Random):
        lines = text.splitlines(keepends=True)
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        spans = []
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.string.strip() and token.type != tokenize.COMMENT:
                begin = starts[token.start[0] - 1] + token.start[1]
                spans.append((begin, starts[token.end[0] - 1] + token.end[1]))
        self.rng = rng
        self.tokens = [text[begin:end] for begin, end in spans]
        self.gaps = [text[a[1] : b[0]] for a, b in zip(spans, spans[1:], strict=False)]
        self.gaps.append(text[spans[-1][1] :])
        self.body = self.tokens.index(")")  # of the parameters, at the least

    def text(self) -> str:
        return "".join(piece + gap for piece, gap in zip(self.tokens, self.gaps, strict=True))

    def place(self, kind: Callable[[str], bool] = bool) -> int:
        """The index of a token of that kind, or of any where there is none."""
        places = [at for at in range(self.body, len(self.tokens)) if kind(self.tokens[at])]
        return self.rng.choice(places or [len(self.tokens) - 1])

    def edit(self) -> None:
        rng, tokens, at, other = self.rng, self.tokens, self.place(), self.place()
        kind = rng.randrange(12)
        if kind == 0:
            tokens[at] = ""
        elif kind == 1:
            tokens[at] += " " + tokens[at]
        elif kind == 2:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 3:
            tokens[at] = tokens[other]
        elif kind == 4:
            tokens[at] = rng.choice(WORDS)
        elif kind == 5:
            tokens[at] += " " + rng.choice([*WORDS, *keyword.kwlist])
        elif kind == 6:
            tokens[self.place(lambda token: token[:1].isdigit())] = rng.choice(NUMBERS)
        elif kind == 7:
            tokens[self.place(lambda token: token in OPERATORS)] = rng.choice(OPERATORS)
        elif kind == 8:
            self.rename()
        elif kind == 9:
            tokens[at] = rng.choice(UNICODE) + rng.choice(("", tokens[at]))
        elif kind == 10:
            self.nest()
        else:
            name = self.place(str.isidentifier)
            tokens[name] = rng.choice(CALLS).replace("{}", tokens[name])

    def rename(self) -> None:
        """A name, at one place or everywhere, becomes another."""
        old = self.tokens[self.place(lambda token: token.isidentifier() and token != "tl")]
        new = rng_word(self)
        places = [at for at in range(self.body, len(self.tokens)) if self.tokens[at] == old]
        for at in places if self.rng.random() < 0.5 else self.rng.choices(places, k=1):
            self.tokens[at] = new

    def nest(self) -> None:
        """An operand within many of the same."""
        name = self.place(lambda token: token.isidentifier() and not keyword.iskeyword(token))
        depth, token = self.rng.choice(DEPTHS), self.tokens[name]
        begin, end = self.rng.choice(
            (("(", ")"), ("-", ""), ("~", ""), ("not ", ""), ("[", "]"), ("(", ",)"), ("", "[0]"), ("", ".x"), ("", "()"),
             (f"({token} + ", ")"), ("tl.abs(", ")"), ("", f" + {token}"), ("lambda: ", ""), ("{", "}"),
             (f"{token} if {token} else (", ")"), (f"{token} < ", ""), ("tl.exp(tl.constexpr(", "))"))
        )  # fmt: skip
        self.tokens[name] = begin * depth + token + end * depth


def rng_word(pieces: Pieces) -> str:
    other = pieces.tokens[pieces.place(str.isidentifier)]
    return pieces.rng.choice(
        (other, "tl", "triton", "print", "self", "__debug__", "unknown", "len", "é", "_")
    )


def edit_lines(text: str, rng: random.Random) -> str:
    """The text with lines of its body removed, repeated, exchanged, moved to the side, or within statements."""
    lines = text.rstrip("\n").split("\n")
    first = min(2, len(lines) - 1)
    at, other = rng.randrange(first, len(lines)), rng.randrange(first, len(lines))
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    kind = rng.randrange(7)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(other, lines[at])
    elif kind == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 3:
        lines[at] = rng.choice((" ", "\t", "    ", "  ")) + lines[at]
    elif kind == 4:
        lines[at] = lines[at].removeprefix(rng.choice((" ", "    ")))
    elif kind == 5:
        head = rng.choice(("if True:", "if n:", "for i in range(3):", "while x:", "with x:", "def f():", "try:", "for _ in tl.static_range(2):"))  # fmt: skip
        depth = rng.choice((1, 2, 8, 19, 98))
        lines[at : at + 1] = [
            *(indent + " " * level + head for level in range(depth)),
            indent + " " * depth + lines[at].lstrip(),
        ]
    else:
        lines.insert(at, indent + rng.choice(WORDS) + " " + rng.choice(WORDS))
    return "\n".join(lines) + "\n"


def mutated(text: str, rng: random.Random) -> str:
    """The text after a few edits."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if rng.random() < 0.2:
            text = edit_lines(text, rng)
            continue
        try:
            pieces = Pieces(text, rng)
        except (tokenize.TokenError, SyntaxError, ValueError, SystemError):
            return text  # no tokens any more; Python 3.12's tokenizer has a SystemError for null bytes
        pieces.edit()
        text = pieces.text()
    return text
