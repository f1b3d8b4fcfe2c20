"""Mutated IR: tokens, lines and bytes of valid modules are removed, repeated, exchanged."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import random
import re

from token_edits import KINDS, edit

TOKEN = re.compile(r'"[^"\n]*"|[%@#!^]?[\w.$-]+|->|\s+|.', re.DOTALL)
OTHERS = """i1 i8 i32 i64 f16 f32 f64 bf16 index 0 1 -1 2 7 64 1048577 4294967296 tensor<8xf32> tensor<?xf32>
tensor<0xi32> tensor<1x1x1x1x1xi1> !tt.ptr<f32> !tt.ptr<tensor<4xf32>> tensor<4x!tt.ptr<i8>> memref<4xf32> none
tuple<i32> vector<4xf32> %0 %arg0 ^bb1 ( ) { } [ ] < > : , = dense<0> dense<1.0> true loc(unknown) x tt.return
tt.load tt.store tt.dot arith.addi arith.addf math.exp scf.yield cf.br arith.constant tt.splat tt.reshape tt.trans
array<index:0> #blocked ttg.convert_layout ttg.local_alloc ttg.local_load scf.for scf.if tt.reduce""".split()


def mutate(text: str, rng: random.Random) -> str:
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        kind = rng.randrange(KINDS + 1)
        if kind < KINDS:
            tokens = edit(tokens, kind, TOKEN, OTHERS, rng)
        else:
            byte = rng.randrange(len(text))
            tokens = TOKEN.findall(text[:byte] + chr(rng.randrange(1, 256)) + text[byte + 1 :])
        if not tokens:
            return ""
    return "".join(tokens)
