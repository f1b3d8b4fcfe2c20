"""Ctrl-C and forks, in processes of their own: neither waits for a compilation or a launch for long."""
# SPDX-License-Identifier: MIT

import subprocess
import sys

import pytest

PRELUDE = """
import os, signal, sys, threading, time
import numpy as np
import triton
import triton.language as tl

triton.runtime.driver.set_active_to_cpu()
signal.signal(signal.SIGINT, signal.default_int_handler)  # what starts the tests may have it ignored

@triton.jit
def slow(x, n):
    v = tl.load(x)
    for i in range(n):
        v = v * 0.5 + 1.0
    tl.store(x + tl.program_id(0), v)

def interrupt(seconds):
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
"""


def run(tmp_path, text, seconds=150):
    """Runs a script, which must print `well` as its last word."""
    script = tmp_path / "script.py"
    script.write_text(PRELUDE + text)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=seconds
    )
    assert done.stdout.split()[-1:] == ["well"], done.stdout + done.stderr


def test_an_interrupt_ends_a_long_compilation(tmp_path):
    # Minutes of code generation; the process does not wait for the cancelled compilation.
    run(
        tmp_path,
        """
@triton.jit
def long(x, N: tl.constexpr):
    p = x + tl.arange(0, 1024)
    v = tl.load(p)
    for _ in tl.static_range(N):
        v = tl.sin(v) + tl.exp(v)
    tl.store(p, v)

x = np.zeros(1024, np.float32)
interrupt(6)
try:
    long[(1,)](x, 1500)
except KeyboardInterrupt:
    long[(1,)](x, 1)
    assert x[0] == 1
    print("well", flush=True)
os._exit(0)
""",
    )


def test_an_interrupt_ends_a_long_launch(tmp_path):
    run(
        tmp_path,
        """
x = np.zeros(1_000_000, np.float32)
slow[(10,)](x, 10)
for threads in (0, 1):
    triton._C.libtriton.driver_cpu.set_num_threads(threads)
    interrupt(0.5)
    try:
        slow[(1_000_000,)](x, 3_000_000)
        sys.exit("it was not interrupted")
    except KeyboardInterrupt:
        slow[(10,)](x, 10)
print("well")
""",
    )


def test_an_interrupt_ends_a_launch_on_a_team_whose_programs_wait_for_each_other(tmp_path):
    pytest.importorskip("torch")
    run(
        tmp_path,
        """
import torch
torch.set_num_threads(4)
torch.ones(1 << 20).exp()  # the team is there

@triton.jit
def chain(flags, x, n):
    pid = tl.program_id(0)
    while tl.atomic_add(flags + pid, 0) == 0:
        pass
    v = tl.load(x)
    for i in range(n):
        v = v * 0.5 + 1.0
    tl.store(x + pid, v)
    tl.atomic_add(flags + pid + 1, 1)

x = torch.zeros(401)
for interrupted in (False, True):
    flags = torch.zeros(401, dtype=torch.int32)
    flags[0] = 1
    if interrupted:
        interrupt(0.3)
    try:
        chain[(400,)](flags, x, 1_000_000)
        assert not interrupted
        assert flags.all() and x[:400].all()
    except KeyboardInterrupt:
        assert interrupted
print("well")
""",
    )


def test_an_interrupt_during_the_last_programs_is_raised(tmp_path):
    run(
        tmp_path,
        """
x = np.zeros(4, np.float32)
slow[(4,)](x, 10)
interrupt(0.15)
try:
    slow[(2,)](x, 200_000_000)
    sys.exit("it was not interrupted")
except KeyboardInterrupt:
    print("well")
""",
    )


def test_a_handler_may_launch_a_kernel_with_more_memory(tmp_path):
    run(
        tmp_path,
        """
@triton.jit
def sums(x, out, n, BLOCK: tl.constexpr):
    tile = tl.zeros((BLOCK,), tl.float32)
    for i in range(n):
        tile = tl.where(tile > 2, 0.5, tile + tl.load(x + tl.arange(0, BLOCK)))
    tl.store(out + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tile)

x = np.ones(65536, np.float32)
wide = np.zeros(65536, np.float32)
seen = []
def launch(*_):
    sums[(1,)](x, wide, 5, 65536)
    seen.append(wide.copy())

signal.signal(signal.SIGINT, launch)
launch()
for threads in (1, 0):
    triton._C.libtriton.driver_cpu.set_num_threads(threads)
    out = np.zeros((4000, 512), np.float32)
    before = len(seen)
    interrupt(0.2)
    while len(seen) == before:  # however fast the machine is, one launch meets the signal
        sums[(4000,)](x, out, 5000, 512)
        assert (out == out[0, 0]).all()
assert len(seen) == 3 and all((each == seen[0]).all() for each in seen)
print("well")
""",
    )


def test_interrupts_reach_handlers_while_a_launch_goes_on(tmp_path):
    run(
        tmp_path,
        """
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
x = np.zeros(400, np.float32)
slow[(10,)](x, 10)
interrupt(0.2)
slow[(400,)](x, 1_000_000)  # a handler that does not raise ends nothing
time.sleep(0.3)
assert seen and (x != 0).all()
print("well")
""",
    )


@pytest.mark.parametrize("where", ["hash", "compile"])
def test_a_fork_beside_a_compiling_thread(tmp_path, where):
    run(
        tmp_path,
        f"""
WHERE = {where!r}

@triton.jit
def shift(p, A: tl.constexpr):
    tl.store(p, tl.load(p) + A)

def compile_for_ever():
    own = np.zeros(1, np.float32)
    for number in range(1, 10**6):
        shift[(1,)](own, number)

def hash_for_ever():
    while True:
        shift.hash = None
        shift.cache_key

x = np.zeros(1, np.float32)
shift[(1,)](x, -1)
work = hash_for_ever if WHERE == "hash" else compile_for_ever
threading.Thread(target=work, daemon=True).start()
deadline = time.monotonic() + 12
for number in range(10**6, 10**6 + 25):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        shift.hash = None
        shift[(1,)](x, number)
        os._exit(0 if x[0] == number - 1 else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
    if time.monotonic() > deadline:
        break
print("well", flush=True)
os._exit(0)
""",
    )
