"""Mutated PTX, and its run on the simulated GPU with one buffer as every pointer."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import ctypes
import random
import re

from token_edits import KINDS, edit
from triton._C import libtriton

TOKEN = re.compile(r"[%$]?[\w.$]+|\s+|.", re.DOTALL)
OTHERS = """0 1 -1 64 4294967295 99999999999999999999 0x7fffffffffffffff 0f7F800000 0d7FF0000000000000 %r1 %rd1 %p1 %f1 %tid.x
%nosuch .b32 .b8 .u64 .f32 .pred .shared .global .local .param .v4 .align { } [ ] ( ) , ; : @ ! ret bra mov.b32 ld.global.b32
st.shared.b64 bar.sync cp.async.wait_group mbarrier.init.shared.b64 ldmatrix.sync.aligned.m8n8.x4.shared.b16
shfl.sync.bfly.b32 atom.global.add.u32 wgmma.wait_group.sync.aligned div.s32 .reg .visible .entry .func // /* */""".split()
BUFFER_BYTES = 1 << 16
MOST_INSTRUCTIONS = 200_000
CHECKS = ("bounds", "bounds,uninit", "bounds,race", "bounds,sync")


def mutate(text: str, rng: random.Random) -> str:
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 2, 4))):
        tokens = edit(tokens, rng.randrange(KINDS), TOKEN, OTHERS, rng)
        if not tokens:
            return ""
    return "".join(tokens)


def run(text: str, rng: random.Random) -> str:
    """Parses the text and runs its entries; the message of the error, or nothing."""
    try:
        module = libtriton.driver_sim.Ptx(text)
        for name, parameters, block, cluster in module.entries():
            buffer = ctypes.create_string_buffer(BUFFER_BYTES)
            address = ctypes.addressof(buffer)
            packed, arrays = bytearray(), []
            for parameter, _, size, alignment in parameters:
                packed += bytes(-len(packed) % max(alignment, 1))
                if size == 8:
                    arrays.append((parameter, len(packed), address, BUFFER_BYTES, 1, 0, 0))
                packed += (
                    address.to_bytes(8, "little")
                    if size == 8
                    else (16).to_bytes(max(size, 1), "little")
                )
            module.run(
                name, (2, 1, 1), block or (32, 1, 1), cluster or (1, 1, 1), 49152, bytes(packed), arrays,
                rng.choice(CHECKS), rng.randrange(4), MOST_INSTRUCTIONS,
            )  # fmt: skip
    except (RuntimeError, ValueError) as error:
        return str(error)
    return ""
