"""examples/several_gpus.py on two and four simulated GPUs, against NumPy; faults that are planted in it."""
# SPDX-License-Identifier: MIT

import importlib.util
import os
import re

import numpy as np
import pytest
import triton
from _simulators import four_gpus  # noqa: F401 (a fixture)
from triton import knobs
from triton._C import libtriton
from triton.tools import simulator

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLE = os.path.join(ROOT, "examples", "several_gpus.py")
WORLDS = pytest.mark.parametrize("world", [2, 4])


def load(path):
    spec = importlib.util.spec_from_file_location("several_gpus", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


several = load(EXAMPLE)


pytestmark = pytest.mark.usefixtures("four_gpus")


def addresses(arrays):
    return np.array([libtriton.address_of(array) for array in arrays], np.int64)


def aligned(shape, dtype):
    """Zeros at a multiple of 16 bytes."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    begin = -libtriton.address_of(raw) % 64
    return raw[begin : begin + size].view(dtype).reshape(shape)


class Ranks:
    """The buffers and signals of some GPUs."""

    def __init__(self, world, shape, programs, dtype=np.float32):
        self.world = world
        random = np.random.default_rng(world)
        self.buffers = [aligned(shape, dtype) for _ in range(world)]
        for buffer in self.buffers:
            buffer[:] = random.integers(-8, 8, shape)
        self.signals = [aligned((programs, world), np.int32) for _ in range(world)]
        self.tables = addresses(self.buffers), addresses(self.signals)

    def launch(self, kernel, grid, arguments, **options):
        with simulator.together():
            for rank in range(self.world):
                with simulator.device(rank):
                    kernel[grid](*arguments(rank), RANK=rank, WORLD=self.world, **options)


@WORLDS
@pytest.mark.parametrize("sanitize", ["", "race,sync"])
def test_one_shot_all_reduce(world, sanitize):
    ranks = Ranks(world, 1000, programs=3)
    out = [aligned(1000, np.float32) for _ in range(world)]
    for epoch in (1, 2):
        want = sum(ranks.buffers)
        ranks.launch(
            several.one_shot_all_reduce, (3,), lambda rank: (*ranks.tables, out[rank], 1000, epoch),
            BLOCK=256, sanitize=sanitize,
        )  # fmt: skip
        for rank in range(world):
            assert np.array_equal(out[rank], want)
            ranks.buffers[rank] += rank


@WORLDS
@pytest.mark.parametrize("sanitize", ["", "race,sync"])
@pytest.mark.parametrize("n", [1000, 4096])
def test_two_shot_all_reduce(world, sanitize, n):
    ranks = Ranks(world, n, programs=2)
    for epoch in (1, 2):
        want = sum(ranks.buffers)
        ranks.launch(
            several.two_shot_all_reduce, (2,), lambda rank: (*ranks.tables, n, epoch),
            BLOCK=128, dtype=triton.language.float32, sanitize=sanitize,
        )  # fmt: skip
        for buffer in ranks.buffers:
            assert np.array_equal(buffer, want)


@WORLDS
@pytest.mark.parametrize("sanitize", ["", "race"])
def test_multimem_all_reduce(world, sanitize):
    ranks = Ranks(world, 1000, programs=2)
    want = sum(ranks.buffers)
    multicast = simulator.Multicast(ranks.buffers)
    ranks.launch(
        several.multimem_all_reduce, (2,), lambda rank: (multicast.address, ranks.tables[1], 1000, 1),
        BLOCK=128, sanitize=sanitize,
    )  # fmt: skip
    for buffer in ranks.buffers:
        assert np.array_equal(buffer, want)


@WORLDS
def test_peers_are_read(world):
    ranks = Ranks(world, 500, programs=1)
    out = aligned(500, np.float32)
    for rank in range(world):
        with simulator.device(rank):
            several.read_peer[(4,)](ranks.tables[0], out, 500, PEER=world - 1 - rank, BLOCK=128)
        assert np.array_equal(out, ranks.buffers[world - 1 - rank])


@WORLDS
@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("sanitize", ["", "race,sync"])
def test_all_gather_matmul(world, seed, sanitize):
    knobs.runtime.sim_seed = seed
    m, n, k = 64 * world, 64, 64
    ranks = Ranks(world, (m, k), programs=2, dtype=np.float16)
    whole = np.concatenate(
        [buffer[rank * 64 : rank * 64 + 64] for rank, buffer in enumerate(ranks.buffers)]
    )
    b = [aligned((k, n), np.float16) for _ in range(world)]
    c = [aligned((m, n), np.float16) for _ in range(world)]
    flags = [aligned(m // 32, np.int32) for _ in range(world)]
    for rank in range(world):
        b[rank][:] = np.random.default_rng(rank).integers(-2, 3, (k, n))
    ranks.launch(
        several.all_gather_matmul, (2 + m // 32 * (n // 32),),
        lambda rank: (*ranks.tables, flags[rank], ranks.buffers[rank], b[rank], c[rank], m, n, k, 1),
        COPIES=2, ROWS=32, M=32, N=32, K=32, GROUP=2, BLOCK=1024, sanitize=sanitize,
    )  # fmt: skip
    for rank in range(world):
        want = whole.astype(np.float32) @ b[rank].astype(np.float32)
        assert np.array_equal(c[rank], want.astype(np.float16))


def run_twice(module, world, shots):
    """Launches before and after: kernels write the buffers, all-reduce runs, kernels write them again, it runs again."""
    ranks = Ranks(world, 512, programs=1)
    values = [aligned(512, np.float32) + 2 * rank + 1 for rank in range(world)]
    out = [aligned(512, np.float32) for _ in range(world)]
    options = {"WORLD": world, "BLOCK": 512, "sanitize": "race"}
    with simulator.together():
        for rank in range(world):
            with simulator.device(rank):
                for epoch in (1, 2):
                    module.read_peer[(1,)](
                        addresses([values[rank]]), ranks.buffers[rank], 512,
                        PEER=0, BLOCK=512, sanitize="race",
                    )  # fmt: skip
                    if shots == 1:
                        module.one_shot_all_reduce[(1,)](
                            *ranks.tables, out[rank], 512, epoch, RANK=rank, **options
                        )
                    else:
                        module.two_shot_all_reduce[(1,)](
                            *ranks.tables, 512, epoch, RANK=rank, dtype=triton.language.float32, **options
                        )  # fmt: skip
    for result in out if shots == 1 else ranks.buffers:
        assert np.array_equal(result, sum(values))


@WORLDS
@pytest.mark.parametrize("shots", [1, 2])
def test_buffers_are_written_by_launches_before_and_after(world, shots):
    run_twice(several, world, shots)


MEETINGS = {
    1: ("    meet(signals, program, 2 * epoch, RANK, WORLD)  # buffers may change now\n", ""),
    2: (
        "    part = tl.cdiv(tl.cdiv(n, WORLD), BLOCK) * BLOCK\n",
        "    meet(signals, program, 2 * epoch - 1, RANK, WORLD)\n",
    ),
}


@WORLDS
@pytest.mark.parametrize("shots", MEETINGS)
def test_a_meeting_that_is_left_out_is_found(tmp_path, world, shots):
    """Of one-shot the last, of two-shot the first."""
    source = open(EXAMPLE).read()
    line, before = MEETINGS[shots]
    assert source.count(before + line) == 1
    path = tmp_path / "planted.py"
    path.write_text(source.replace(before + line, line if before else ""))
    with pytest.raises(RuntimeError, match=r"error: race in "):
        run_twice(load(path), world, shots)


# --- Planted faults -------------------------------------------------------------------------------


def run_planted(tmp_path, text, instead, world):
    """The error of one-shot all-reduce whose text is changed, and the number of the changed line."""
    source = open(EXAMPLE).read()
    assert source.count(text) == 1
    path = tmp_path / "planted.py"
    path.write_text(source.replace(text, instead))
    line = source[: source.index(text)].count("\n") + 1
    kernel = load(path).one_shot_all_reduce
    ranks = Ranks(world, 256, programs=1)
    out = [aligned(256, np.float32) for _ in range(world)]

    def arguments(rank):
        return (*ranks.tables, out[rank], 256, 1)

    for rank, buffer in enumerate(ranks.buffers):
        buffer[:] = rank
    with pytest.raises(RuntimeError) as caught:
        fill = load(path).read_peer
        with simulator.together():
            for rank in range(world):
                with simulator.device(rank):  # writes the buffer that others read
                    fill[(1,)](
                        addresses([np.ones(256, np.float32)]), ranks.buffers[rank], 256,
                        PEER=0, BLOCK=256, sanitize="race",
                    )  # fmt: skip
                    kernel[(1,)](
                        *arguments(rank), RANK=rank, WORLD=world, BLOCK=256, sanitize="race"
                    )
    return str(caught.value), line


@WORLDS
def test_a_missing_acquire_in_a_collective_is_found(tmp_path, world):
    text, _ = run_planted(
        tmp_path, 'tl.atomic_add(own, 0, sem="acquire", scope="sys")',
        'tl.atomic_add(own, 0, sem="relaxed", scope="sys")', world,
    )  # fmt: skip
    assert re.search(r"planted\.py:\d+:\d+: error: race in .*this read", text)
    assert re.search(r"planted\.py:\d+:\d+: note: the write by warp .* on device \d", text)


@WORLDS
def test_a_missing_system_scope_in_a_collective_is_found(tmp_path, world):
    text, line = run_planted(
        tmp_path, 'tl.atomic_xchg(theirs, value, sem="release", scope="sys")',
        'tl.atomic_xchg(theirs, value, sem="release", scope="gpu")', world,
    )  # fmt: skip
    assert "have scopes that do not include each other" in text
    assert f"planted.py:{line}:" in text
