"""Kernels with TMA, wgmma and producer warps from which one fence, wait, barrier or arrival is removed.

Each is missed, and the report names a line of the kernel.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.tools.ptx import run_ptx

WORDS = "bounds,uninit,race,sync"
LIMIT = 300_000  # instructions of a program; the kernels need fewer than a tenth


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, depth, N: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [N, depth], [depth, 1], [N, N])
    b = tl.make_tensor_descriptor(b_ptr, [N, depth], [depth, 1], [N, N])
    c = tl.make_tensor_descriptor(c_ptr, [N, N], [N, 1], [N, N])
    total = tl.zeros((N, N), tl.float32)
    for at in range(0, depth, N):
        total = tl.dot(a.load([0, at]), b.load([0, at]).T, total)
    c.store([0, 0], total)


@triton.jit
def products(q_ptr, k_ptr, v_ptr, o_ptr, rows, M: tl.constexpr, N: tl.constexpr):
    q = tl.make_tensor_descriptor(q_ptr, [M, N], [N, 1], [M, N])
    k = tl.make_tensor_descriptor(k_ptr, [rows, N], [N, 1], [N, N])
    v = tl.make_tensor_descriptor(v_ptr, [rows, N], [N, 1], [N, N])
    o = tl.make_tensor_descriptor(o_ptr, [M, N], [N, 1], [M, N])
    x = q.load([0, 0])
    total = tl.zeros((M, N), tl.float32)
    for at in tl.range(0, rows, N, num_stages=2):
        scores = tl.dot(x, k.load([at, 0]).T)
        total = tl.dot(scores.to(tl.float16), v.load([at, 0]), total)
    o.store([0, 0], total)


@dataclasses.dataclass
class Case:
    kernel: Any
    constants: dict[str, int]
    num_warps: int
    warps: int  # with those that only load
    depth: int
    unneeded: dict[str, int]  # instructions that others make unnecessary, at most
    shapes: list[tuple[int, int]]  # of the operands; the result's is the last one
    expected: Callable[..., np.ndarray]


RACE, SYNC, DEADLOCK = "sanitize-race", "sanitize-sync", "sim-deadlock"
# What is removed, what replaces it, and the codes of which one is reported.
REMOVED = {
    "fence.proxy.async": ("", {SYNC}),
    "wgmma.fence": ("", {SYNC}),
    "wgmma.wait_group": ("", {RACE, SYNC}),
    "wgmma.commit_group": ("", {RACE, SYNC}),
    "cp.async.bulk.commit_group": ("", {SYNC}),
    "cp.async.bulk.wait_group.read": ("", {SYNC}),
    "mbarrier.try_wait": (
        "setp.eq.u32 done, 0, 0;",
        {RACE, "sanitize-uninit", DEADLOCK, "sim-fault"},
    ),
    "mbarrier.arrive": ("", {DEADLOCK}),
    "cp.async.bulk.tensor.2d.shared": ("", {DEADLOCK}),
    "bar.sync": ("", {RACE, "sanitize-uninit", DEADLOCK, "sim-fault"}),
}
CASES = {
    "matmul": Case(
        matmul, {"N": 64}, 4, 4, 256, {},
        [(64, 256), (64, 256), (64, 64)], lambda a, b: a @ b.T,
    ),
    "products": Case(
        products, {"M": 128, "N": 64}, 8, 12, 256,
        # Fences after each pair of initialisations, and where a wait for another buffer comes later.
        {"fence.proxy.async": 6, "wgmma.fence": 1, "wgmma.wait_group": 1, "wgmma.commit_group": 1,
         "mbarrier.try_wait": 1, "mbarrier.arrive": 1, "bar.sync": 1},
        [(128, 64), (256, 64), (256, 64), (128, 64)], lambda q, k, v: q @ k.T @ v,
    ),
}  # fmt: skip


@functools.cache
def compiled(name: str) -> Any:
    case = CASES[name]
    names = [each for each in case.kernel.arg_names if each not in case.constants]
    types = dict(zip(names, ["*fp16"] * (len(names) - 2) + ["*fp32", "i32"], strict=True))
    source = ASTSource(
        case.kernel,
        types | dict.fromkeys(case.constants, "constexpr"),
        case.constants,
        {(at,): [["tt.divisibility", 16]] for at in range(len(names))},
    )
    options = {"num_warps": case.num_warps, "num_stages": 3}
    kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
    assert kernel.metadata.num_warps == case.warps
    return kernel


def run(name: str, lines: list[str], seed: int) -> None:
    case, metadata = CASES[name], compiled(name).metadata
    generator = np.random.default_rng(0)
    operands = [generator.integers(-1, 2, shape).astype(np.float16) for shape in case.shapes[:-1]]
    result = np.zeros(case.shapes[-1], np.float32)
    run_ptx(
        "\n".join(lines),
        (1,),
        [*operands, result, case.depth],
        num_warps=metadata.num_warps,
        shared=metadata.shared,
        scratch=[metadata.global_scratch_size, metadata.profile_scratch_size],
        sanitize=WORDS,
        seed=seed,
    )
    np.testing.assert_array_equal(result, case.expected(*map(np.float32, operands)))


def lines_of(name: str) -> list[str]:
    return compiled(name).asm["ptx"].splitlines()


@pytest.mark.parametrize("name", CASES)
def test_without_a_mistake(name: str) -> None:
    for seed in range(8):
        run(name, lines_of(name), seed)


def report_of(name: str, lines: list[str], seed: int) -> str:
    try:
        run(name, lines, seed)
    except RuntimeError as failure:
        return str(failure)
    return ""


@pytest.mark.parametrize(
    ("name", "instruction"), [(name, each) for name in CASES for each in REMOVED]
)
def test_removed(name: str, instruction: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each instruction is missed; of the larger kernel some are not needed, as others of its kind do their work."""
    monkeypatch.setattr(knobs.runtime, "sim_limit", LIMIT)
    other, codes = REMOVED[instruction]
    text, first = inspect.getsourcelines(CASES[name].kernel.fn)
    lines = lines_of(name)
    begin = next(at for at, line in enumerate(lines) if "mbarrier.init" in line)  # after the maps
    places = [at for at, line in enumerate(lines) if instruction in line and at >= begin]
    missed = 0
    for at in places:
        reports = [report_of(name, [*lines[:at], other, *lines[at + 1 :]], seed) for seed in (0, 1)]
        missed += all(reports)
        for report in filter(None, reports):
            assert any(f"[{code}]" in report for code in codes), (lines[at], report)
            named = re.search(r"test_removed_waits\.py:(\d+):", report)
            assert named and first <= int(named[1]) < first + len(text), report
    assert places and len(places) - missed <= CASES[name].unneeded.get(instruction, 0)
