"""Launches whose programs wait for what never comes: they end with a message, and by Ctrl-C."""
# SPDX-License-Identifier: MIT

import inspect

import numpy as np
import pytest
import triton
import triton.language as tl
from _simulators import simulators
from test_interrupts import run
from triton import knobs
from triton.runtime.interpreter import InterpreterError


@triton.jit
def waits_for_nobody(flag_ptr, out_ptr):
    program = tl.program_id(0)
    if program != 1:
        while tl.atomic_add(flag_ptr + program, 0) == 0:  # here
            pass
    tl.store(out_ptr + program, 1)


def fault(launch, *words):
    with pytest.raises((RuntimeError, InterpreterError)) as caught:
        launch()
    lines, first = inspect.getsourcelines(waits_for_nobody.fn)
    (line,) = [first + at for at, text in enumerate(lines) if "# here" in text]
    for word in (f"test_waiting_programs.py:{line}:", *words):
        assert word in str(caught.value), str(caught.value)


@pytest.fixture
def short_wait(monkeypatch):
    monkeypatch.setattr(knobs.runtime, "cpu_wait_limit", 1)
    knobs.apply_to_launches()
    yield
    monkeypatch.undo()
    knobs.apply_to_launches()


def test_a_launch_that_cannot_go_on_says_who_waits_where(short_wait):
    out = np.zeros(4, np.int32)
    fault(
        lambda: waits_for_nobody[(4,)](np.zeros(4, np.int32), out),
        "`waits_for_nobody` cannot go on", "program (0, 0, 0) waits here, 2 more wait",
        "all programs have started", "[launch-deadlock]",
    )  # fmt: skip
    assert out.tolist() == [0, 1, 0, 0]
    waits_for_nobody[(4,)](np.ones(4, np.int32), out)  # the next launch runs
    assert out.tolist() == [1, 1, 1, 1]


def test_more_programs_than_can_run_at_a_time(short_wait):
    programs = 5000
    fault(
        lambda: waits_for_nobody[(programs,)](
            np.zeros(programs, np.int32), np.zeros(programs, np.int32)
        ),
        "programs have not started, as at most 4096 run at a time",
    )


def test_interpreted_programs(short_wait, monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    interpreted = triton.jit(waits_for_nobody.fn)
    out = np.zeros(3, np.int32)
    fault(
        lambda: interpreted[(3,)](np.zeros(3, np.int32), out),
        "cannot go on", "[launch-deadlock]",
    )  # fmt: skip
    assert out.tolist() == [0, 1, 0]


@triton.jit
def waits_for_a_sum(f, h, out):
    while tl.load(f) + tl.load(f + 1) < 2:
        pass


@triton.jit
def waits_and_stores(f, h, out):
    while tl.load(f) < 1:
        tl.store(h + tl.arange(0, 4), 1)


@triton.jit
def waits_and_adds_nothing(f, h, out):
    while True:
        tl.atomic_add(h, 0)
        if tl.load(f) == 1:
            break


@triton.jit
def waits_and_counts(f, h, out):
    state, spins = tl.load(f), 0
    while state == 0:
        state = tl.load(f)
        spins += 1
    tl.store(out, spins)


@triton.jit
def waits_around_loops(f, h, out):
    while tl.load(f) == 0:
        for _ in range(70):
            tl.load(h)
        i = 0
        while i < 3:
            i += 1 + tl.load(h)


@triton.jit
def waits_and_stores_blocks(f, h, out):
    block = tl.make_block_ptr(h, (3,), (1,), (0,), (4,), (0,))
    rows = tl.make_tensor_descriptor(out, (1, 4), (4, 1), (1, 4))
    while tl.load(f) == 0:
        tl.store(block, tl.load(block, boundary_check=(0,)), boundary_check=(0,))
        rows.store([0, 0], rows.load([0, 0]))


@triton.jit
def rereads(f, h, out):
    total = 0
    for _ in range(150):
        total += tl.load(f + 1) + 1
    i = 0
    while i < 150:
        total += tl.load(f) + 1
        i += 1
    while total < 450:
        tl.atomic_add(h, 1)
        total += 1 + tl.load(f)
    tl.store(out + tl.program_id(0), total)


@pytest.fixture
def interpreted(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    return lambda kernel: triton.jit(kernel.fn)


@pytest.mark.parametrize("programs", [1, 3])
@pytest.mark.parametrize(
    "kernel",
    [
        waits_for_a_sum,
        waits_around_loops,
        waits_and_stores_blocks,
        waits_and_stores,
        waits_and_adds_nothing,
        waits_and_counts,
    ],
    ids=lambda kernel: kernel.__name__,
)
def test_interpreted_programs_without_progress(kernel, programs, monkeypatch, interpreted):
    monkeypatch.setattr(knobs.runtime, "cpu_wait_limit", 0.1)
    with pytest.raises(InterpreterError, match=r"cannot go on.*\[launch-deadlock\]"):
        interpreted(kernel)[(programs,)](*(np.zeros(4, np.int32) for _ in range(3)))


def test_interpreted_counted_loops_are_no_deadlock(monkeypatch, interpreted):
    monkeypatch.setattr(knobs.runtime, "cpu_wait_limit", 1e-6)
    out, h = np.zeros(3, np.int32), np.zeros(4, np.int32)
    interpreted(rereads)[(3,)](np.zeros(4, np.int32), h, out)
    assert out.tolist() == [450] * 3 and h[0] == 450


INTERRUPTED = """
import os, threading
os.environ["TRITON_INTERPRET"] = "1"
calls = []

def seen():
    calls.append(0)
    return 1

@triton.jit
def works(flag, out):
    if tl.program_id(0) == 0:
        while tl.load(flag) == 0:
            pass
    else:
        for i in range(100000):
            seen()
            tl.store(out, i)

interrupt(1)
try:
    works[(5,)](np.zeros(1, np.int32), np.zeros(1, np.int32))
except KeyboardInterrupt:
    count = len(calls)
    time.sleep(0.3)
    assert count == len(calls) and threading.active_count() < 3, (count, len(calls), threading.enumerate())
    print("well", flush=True)
"""


def test_an_interrupt_ends_interpreted_programs(tmp_path):
    run(tmp_path, INTERRUPTED, seconds=60)


SPIN = """
@triton.jit
def spin(flag):
    while tl.{read} == 0:
        pass

interrupt(1)
try:
    spin[({programs},)](np.zeros(1, np.int32))
except KeyboardInterrupt:
    spin[(3,)](np.ones(1, np.int32))
    print("well", flush=True)
"""


@pytest.mark.parametrize(
    "read", ["atomic_add(flag, 0)", "load(flag, volatile=True)", "atomic_cas(flag, 1, 1)"]
)
@pytest.mark.parametrize("programs", [1, 5])
def test_an_interrupt_ends_a_wait(programs, read, tmp_path):
    run(tmp_path, SPIN.format(read=read, programs=programs), seconds=60)


@pytest.mark.parametrize("body", ["tl.store(flag + 1, 0)", "tries += 1"])
def test_an_interrupt_ends_a_wait_with_work(body, tmp_path):
    text = SPIN.format(read="atomic_add(flag, 0)", programs=5).replace("pass", body)
    text = text.replace("== 0:", "== 0 and tries < 9e18:").replace(
        "    while", "    tries = tl.cast(0, tl.int64)\n    while"
    )
    run(tmp_path, text.replace("(1, np.int32)", "(2, np.int32)"), seconds=60)


def test_a_failure_ends_what_waits(short_wait):
    @triton.jit
    def fails(flag, KIND: tl.constexpr):
        if tl.program_id(0) == 1:
            tl.device_assert(tl.program_id(0) != 1, "program 1 fails")
        tries = tl.cast(0, tl.int64)
        if KIND == "polls":
            while tl.atomic_add(flag, 0) == 0:
                pass
        elif KIND == "works":
            while tl.atomic_add(flag, 0) == 0:
                tl.store(flag + 1, 1)
        else:
            while tl.atomic_add(flag, 0) == 0 and tries < 9e18:
                tries += 1

    for kind in ("polls", "works", "counts"):
        with pytest.raises(RuntimeError, match="program 1 fails"):
            fails[(6,)](np.zeros(2, np.int32), kind, debug=True)


def test_an_interrupt_ends_a_wait_of_simulated_programs(tmp_path):
    sim = "from triton.backends.sim.driver import SimDriver\ntriton.runtime.driver.set_active(SimDriver('sim:90'))\n"
    text = SPIN.format(read="atomic_add(flag, 0)", programs=3).replace("[(3,)]", "[(1,)]")
    # A program that changes memory while it waits is no deadlock, however fast the processor is.
    text = text.replace("pass", "tl.atomic_add(flag + 1, 1)").replace(
        "(1, np.int32)", "(2, np.int32)"
    )
    run(tmp_path, sim + text, seconds=60)


# --- Simulated GPUs --------------------------------------------------------------------------------


simulator = simulators("sim:90", "sim:gfx942")


def test_simulated_programs_that_cannot_go_on(simulator):
    flags = np.zeros(3, np.int32)
    with pytest.raises(
        RuntimeError, match=r"deadlock: every program waits .*; program [02], 0, 0.*sim-deadlock"
    ):
        waits_for_nobody[(3,)](flags, flags.copy())


def test_a_cooperative_grid_is_resident_or_refused(simulator):
    most = simulator.utils.get_device_properties(0)["multiprocessor_count"]
    flags, out = np.ones(most * 33, np.int32), np.zeros(most * 33, np.int32)
    with pytest.raises(
        RuntimeError, match=r"needs all of its \d+ programs on the GPU at once, which runs \d+"
    ):
        waits_for_nobody[(most * 33,)](flags, out, launch_cooperative_grid=True)
    waits_for_nobody[(most,)](flags, out, launch_cooperative_grid=True)
    assert out.sum() == most


# --- Loops that go on by themselves ----------------------------------------------------------------


@triton.jit
def counts(n, x):
    i = 0
    while i < tl.load(n):
        i += 1
    tl.store(x, i)


@triton.jit
def takes_work(n, x):
    item = tl.atomic_add(n, 1)
    while item < 100:
        tl.store(x + item, item)
        item = tl.atomic_add(n, 1)


@triton.jit
def awaits(n, x):
    while tl.atomic_add(n, 0) == 0:
        pass
    tl.store(x, 1)


@triton.jit
def goes_along(n, x):
    """It counts what others set."""
    i = 0
    while i < 100:
        i += tl.load(n + i, volatile=True)
    tl.store(x, i)


@pytest.mark.parametrize(
    "kernel, waits", [(counts, False), (takes_work, False), (awaits, True), (goes_along, True)]
)
def test_only_loops_that_need_others_ask_whether_to_wait(kernel, waits):
    compiled = kernel.warmup(np.ones(1, np.int32), np.ones(100, np.int32), grid=(1,))
    assert ("nereid_waits" in compiled.asm["llir"]) == waits
