"""Planted bugs: edits of the kernels in this folder, and what must be reported.

An edit names a line by its mark, a comment `// !mark`, and replaces `old` in it by `new`; all of the instruction if
`old` is empty. `lines` are the marks of lines that the report must name: both accesses of a race.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Edit:
    mark: str
    old: str = ""
    new: str = ""


@dataclasses.dataclass(frozen=True)
class Bug:
    name: str
    kernel: str
    edits: tuple[Edit, ...]
    words: str  # of the sanitizer; "" for what is reported always
    code: str
    lines: tuple[str, ...]  # marks; "a|b" is one of several lines
    or_deadlock: bool = False  # where the order of threads has it so


def bug(
    name: str,
    kernel: str,
    edits: Edit | tuple[Edit, ...],
    words: str,
    lines: str,
    code: str = "",
    or_deadlock: bool = False,
) -> Bug:
    each = (edits,) if isinstance(edits, Edit) else edits
    return Bug(
        name, kernel, each, words, code or f"sanitize-{words}", tuple(lines.split()), or_deadlock
    )


def without(mark: str) -> Edit:
    return Edit(mark)


BOUNDS = [
    bug(
        "the comparison of the tail is off by one",
        "reduce",
        Edit("bound", ".lt", ".le"),
        "bounds",
        "load",
    ),
    bug("the predicate of the tail is missing", "reduce", Edit("load", "@%p1 "), "bounds", "load"),
    bug(
        "stores begin 4 bytes late",
        "reduce",
        Edit("fill", "[%r6]", "[%r6+4]"),
        "",
        "fill",
        "sim-fault",
    ),
    bug(
        "the result of every block, not of one thread",
        "reduce",
        Edit("out", "[%d4]", "[%d4+12]"),
        "bounds",
        "out",
    ),
    bug(
        "the guard against the end is off by one",
        "copy",
        Edit("bound", ".ge", ".gt"),
        "bounds",
        "load",
    ),
    bug("no thread leaves at the end", "copy", without("leave"), "bounds", "load"),
    bug("a store before the array", "copy", Edit("store", "[%d4]", "[%d4+-16]"), "bounds", "store"),
    bug(
        "a load of one vector too far", "copy", Edit("load", "[%d3]", "[%d3+16]"), "bounds", "load"
    ),
    bug("a bulk copy of one tile too many", "bulk", Edit("more", ".lt", ".le"), "bounds", "copy"),
    bug(
        "the loop copies one tile too many",
        "pipeline",
        Edit("more", ".ge", ".gt"),
        "bounds",
        "copy",
    ),
]
MISALIGNED = [
    bug(
        "a vector load off its alignment",
        "copy",
        Edit("load", "[%d3]", "[%d3+4]"),
        "",
        "load",
        "sim-misaligned",
    ),
    bug(
        "the stride of a vector is that of a half",
        "copy",
        Edit("to", "16", "8"),
        "",
        "store",
        "sim-misaligned",
    ),
    bug(
        "an mbarrier at a multiple of 4",
        "bulk",
        Edit("address", "full", "full+4"),
        "",
        "init",
        "sim-misaligned",
    ),
    bug(
        "cp.async of 16 bytes at a multiple of 8",
        "pipeline",
        Edit("first", "[%d4]", "[%d4+8]"),
        "",
        "first",
        "sim-misaligned",
    ),
    bug("a bulk copy of 1000 bytes", "bulk", Edit("copy", "1024", "1000"), "", "copy", "sim-fault"),
]
UNINIT = [
    bug(
        "threads beyond the end write no zero",
        "reduce",
        Edit("fill", "st", "@%p1 st"),
        "uninit",
        "out",
    ),
    bug(
        "only half of the bins are cleared", "histogram", Edit("few", "16", "8"), "uninit", "count"
    ),
    bug("no bin is cleared", "histogram", without("zero"), "uninit", "count"),
    bug(
        "a value that only some lanes load",
        "histogram",
        Edit("load", "ld", "@%p1 ld"),
        "uninit",
        "mask",
    ),
    bug("a buffer is read that no copy filled", "pipeline", without("first"), "uninit", "read"),
    bug("accumulators without a value", "wgmma", without("start"), "uninit", "multiply"),
    bug(
        "the descriptor's stride skips rows",
        "wgmma",
        Edit("layout", "0x00000008", "0x00000010"),
        "uninit",
        "multiply",
    ),
    bug(
        "a descriptor with a swizzle that the data has not",
        "wgmma",
        Edit("layout", "0x00000008", "0x40000040"),
        "uninit",
        "multiply",
    ),
]
RACE = [
    bug("no barrier in a tree reduction", "reduce", without("meet"), "race", "other"),
    bug("every thread stores what one should", "pipeline", Edit("index", ", 1;", ", 0;"), "race", "copy"),
    bug("wait_group waits for too few", "pipeline", Edit("wait", "1", "2"), "race", "read"),
    bug("no wait for cp.async", "pipeline", without("wait"), "race", "read"),
    bug("no group is committed", "pipeline", without("commit"), "race", "read"),
    bug("no barrier after the wait for cp.async", "pipeline", without("arrived"), "race", "first read"),
    bug("no barrier before a buffer is used again", "pipeline", without("free"), "race", "copy read"),
    bug("the wait is for the other parity", "bulk", Edit("parity", " 0;", " 1;"), "race", "copy read"),
    bug("the parity does not change", "bulk", without("flip"), "race", "copy read"),
    bug("no wait for a bulk copy", "bulk", (without("wait"), without("again")), "race", "copy read"),
    bug("no barrier before a tile is copied again", "bulk", without("free"), "race", "copy read", or_deadlock=True),
    bug("no barrier before a bulk store", "bulk_store", without("filled"), "race", "fill store"),
    bug("no wait before the buffer of a bulk store is written", "bulk_store", without("wait"), "race", "fill store"),
    bug("a bulk store without a group", "bulk_store", without("commit"), "race", "fill store"),
    bug("no barrier after a bulk store's wait", "bulk_store", without("free"), "race", "fill store"),
    bug("no barrier before wgmma", "wgmma", without("filled"), "race", "multiply"),
    bug("lock by a relaxed operation", "lock", Edit("lock", "acquire", "relaxed"), "race", "read write"),
    bug("unlock by a relaxed operation", "lock", Edit("unlock", "release", "relaxed"), "race", "read write"),
    bug("a lock of the block's scope", "lock", Edit("lock", "gpu", "cta"), "race", "lock"),
    bug("unlock by a plain store", "lock", Edit("unlock", "atom.release.gpu.global.exch.b32 %r4, [%d1], 0", "st.global.u32 [%d1], 0"), "race", "unlock"),
    bug("no fence before a flag", "flag", without("fence"), "race", "write read"),
    bug("a fence of the block's scope", "flag", Edit("fence", "gpu", "cta"), "race", "write read"),
    bug("a flag is read by a relaxed load", "flag", Edit("poll", "acquire", "relaxed"), "race", "write read"),
    bug("the producer waits for no buffer", "producer", (without("waitempty"), without("againempty")), "race", "write read", or_deadlock=True),
    bug("the consumer waits for no buffer", "producer", (without("waitfull"), without("againfull")), "race", "write read", or_deadlock=True),
    bug("the consumer waits for the other parity", "producer", Edit("fullparity", "%r10, 1;", "%r10, 1; xor.b32 %r10, %r10, 1;"), "race", "write read", or_deadlock=True),
    bug("no barrier of the cluster before a remote read", "cluster", (without("arrive"), without("wait")), "race", "write read"),
    bug("a relaxed arrival at the cluster's barrier", "cluster", Edit("arrive", "release", "relaxed"), "race", "write read"),
    bug("counts by loads and stores", "histogram", Edit("count", "red.shared.add.u32 [%r8], 1;", "ld.shared.u32 %r10, [%r8]; add.u32 %r10, %r10, 1; st.shared.u32 [%r8], %r10;"), "race", "count"),
    bug("no barrier after the bins are cleared", "histogram", without("cleared"), "race", "zero count"),
    bug("no barrier before the bins are read", "histogram", without("counted"), "race", "count total"),
    bug("an addition of the block's scope", "histogram", Edit("add", "gpu", "cta"), "race", "add"),
    bug("diverged lanes do not meet", "warp", without("meet"), "race", "writelow read"),
]  # fmt: skip
SYNC = [
    bug(
        "threads beyond the end leave before a barrier",
        "reduce",
        Edit("early", "", "@!%p1 ret;"),
        "sync",
        "meet",
    ),
    bug(
        "a barrier that some threads pass by",
        "reduce",
        Edit("meet", "bar", "@%p1 bar"),
        "sync",
        "meet",
        or_deadlock=True,
    ),
    bug("no proxy fence before a bulk store", "bulk_store", without("fence"), "sync", "fill store"),
    bug("no proxy fence before wgmma", "wgmma", without("proxy"), "sync", "multiply"),
    bug("no wgmma.fence", "wgmma", without("fence"), "sync", "multiply"),
    bug("no wait for wgmma", "wgmma", without("wait"), "sync", "result"),
    bug("wgmma without a group", "wgmma", without("commit"), "sync", "result"),
    bug("no fence after an mbarrier's init", "bulk", without("initfence"), "sync", "copy"),
    bug(
        "shfl names lanes that are elsewhere",
        "warp",
        Edit("skip", "bra MET", "ret"),
        "sync",
        "meet",
    ),
    bug(
        "a CTA ends while the other reads its memory",
        "cluster",
        (without("end"), without("endwait")),
        "sync",
        "read",
    ),
]
DEADLOCK = [
    bug("expect_tx expects too few bytes", "bulk", Edit("expect", "1024", "512"), "", "wait", "sim-deadlock"),
    bug("half of the arrivals fill a buffer", "producer", Edit("fullcount", "32", "16"), "", "waitempty waitfull", "sim-deadlock"),
    bug("expect_tx expects too many bytes", "bulk", Edit("expect", "1024", "2048"), "", "wait", "sim-deadlock"),
    bug("an mbarrier counts two arrivals", "bulk", Edit("init", "], 1", "], 2"), "", "wait", "sim-deadlock"),
    bug("the producer waits for the other parity", "producer", without("emptyparity"), "", "waitempty waitfull", "sim-deadlock"),
    bug("the producer does not arrive", "producer", without("arrivefull"), "", "waitempty waitfull", "sim-deadlock"),
    bug("the consumer does not arrive", "producer", without("arriveempty"), "", "waitempty waitfull", "sim-deadlock"),
    bug("an mbarrier counts more threads than arrive", "producer", Edit("fullcount", "32", "64"), "", "waitempty waitfull", "sim-deadlock"),
    bug("a lock that nobody releases", "lock", without("unlock"), "", "lock|test|spin", "sim-limit"),
    bug("only one CTA arrives at the cluster's barrier", "cluster", Edit("arrive", "barrier", "setp.eq.u32 %p2, %r2, 0; @%p2 barrier"), "", "wait", "sim-deadlock"),
]  # fmt: skip
# What no check finds yet, and why.
UNREPORTED = {
    "accumulators without a value": "uninit does not follow accumulators of wgmma",
    "shfl names lanes that are elsewhere": "lanes that have ended may be named",
}
BUGS = [*BOUNDS, *MISALIGNED, *UNINIT, *RACE, *SYNC, *DEADLOCK]
