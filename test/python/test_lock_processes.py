"""Processes that tune the same kernel with one lock: they choose alike, and nobody waits for the dead."""
# SPDX-License-Identifier: MIT

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SLOW_FILES = os.path.join(ROOT, "build", "dev", "test", "stub", "libslowfiles.so")

SCRIPT = """
import errno
import fcntl
import os
import sys
import time

import numpy as np
import triton
import triton.language as tl
from triton.runtime.locks import claims, decisions

triton.runtime.driver.set_active_to_cpu()
best, pause, *settings = sys.argv[1:]
if "no-file-locks" in settings:
    def flock(descriptor, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    fcntl.flock = flock
if "other-machine" in settings:
    claims._machine = lambda: f"machine{os.getpid()}"
    claims.EXPIRES_SECONDS = 1.0
if "impatient" in settings:
    decisions._RANK_0_SECONDS = 0.5


def bench(call, quantiles):
    call()
    sys.stdout.write("timed\\n")
    sys.stdout.flush()
    if "fork" in settings and os.fork() == 0:
        os.close(1)
        os.close(2)
        time.sleep(100)
    time.sleep(float(pause))
    return [1.0 if tuner.running == int(best) else 2.0] * 3


def note(kwargs, reset_only=False):
    tuner.running = kwargs.get("BLOCK")


configs = [triton.Config({"BLOCK": block}) for block in (16, 32, 64)]


@triton.autotune(configs, key=["n"], do_bench=bench, pre_hook=note)
@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, 1.0, mask=at < n)


tuner = kernel
x = np.zeros(100, np.float32)
kernel[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, 100)
assert (x == 1).all()
sys.stdout.write(f"chose {kernel.best_config.kwargs['BLOCK']}\\n")  # one write: others have the same pipe
sys.stdout.flush()
"""


class Job:
    """Processes of one script and one lock."""

    def __init__(self, folder, lock):
        (folder / "script.py").write_text(SCRIPT)
        self.folder, self.lock, self.processes = folder, lock, []

    def start(self, best, *settings, pause=0.02, **variables):
        process = subprocess.Popen(
            [sys.executable, self.folder / "script.py", str(best), str(pause), *settings],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "TRITON_LOCK": str(self.lock),
                "TRITON_CACHE_DIR": str(self.folder / "cache"),
                "TRITON_PROGRESS": "off",
                **variables,
            },
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def is_tuning(self, process):
        assert process.stdout.readline() == "timed\n", process.stderr.read()

    def end(self):
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


@pytest.fixture
def job(tmp_path):
    made = Job(tmp_path, tmp_path / "triton.lock")
    yield made
    made.end()


def result(process, seconds=60):
    """(the choice, how often it timed, stderr)"""
    output, errors = process.communicate(timeout=seconds)
    assert process.returncode == 0, errors
    *timed, choice = output.splitlines()
    return int(choice.split()[1]), len(timed), errors


WAYS = pytest.mark.parametrize("way", [(), ("no-file-locks",), ("no-file-locks", "other-machine")])


@WAYS
def test_two_that_tune_at_one_moment_choose_alike(job, way):
    one, two = job.start(16, *way), job.start(64, *way)
    first, second = result(one), result(two)
    assert first[0] == second[0] in (16, 64)
    assert sorted((first[1], second[1])) == [0, 3]
    (line,) = job.lock.read_text().splitlines()
    assert json.loads(line)["config"]["BLOCK"] == first[0]
    assert sorted(os.listdir(job.folder)) == ["cache", "script.py", "triton.lock"]


@pytest.mark.parametrize("locks", ["0", "1"])
def test_a_lock_on_a_slow_file_system_that_other_machines_change(tmp_path, locks):
    if not os.path.exists(SLOW_FILES):
        pytest.skip("the library that delays calls is not built")
    shared = tmp_path / "shared"
    shared.mkdir()
    job = Job(tmp_path, shared / "triton.lock")
    settings = {"SLOW_FILES": str(shared), "SLOW_FILES_US": "5000", "SLOW_FILES_STALE": "4"}
    settings |= {"LD_PRELOAD": SLOW_FILES, "SLOW_FILES_LOCKS": locks}
    ends = [result(each) for each in [job.start(best, **settings) for best in (16, 32, 64)]]
    assert len({choice for choice, _, _ in ends}) == 1
    assert sorted(timed for _, timed, _ in ends) == [0, 0, 3]
    assert {errors for _, _, errors in ends} == {""}
    assert os.listdir(shared) == ["triton.lock"]


@WAYS
def test_one_that_is_killed_while_it_tunes_hurts_nobody(job, way):
    dying = job.start(16, *way, pause=60)
    job.is_tuning(dying)
    waiting = job.start(64, *way)
    time.sleep(1)
    assert waiting.poll() is None
    dying.kill()
    dying.wait()
    assert result(waiting, 20)[:2] == (64, 3)
    assert result(job.start(16, *way), 20)[:2] == (64, 0)


def test_a_forked_child_keeps_no_claim_of_its_dead_parent(job):
    dying = job.start(16, "fork", pause=60)
    job.is_tuning(dying)
    time.sleep(0.3)
    dying.kill()
    dying.wait()
    assert result(job.start(64), 20)[:2] == (64, 3)


def test_nobody_waits_for_ever(job):
    hanging = job.start(16, pause=60)
    job.is_tuning(hanging)
    hanging.send_signal(signal.SIGSTOP)
    choice, timed, errors = result(job.start(64, TRITON_LOCK_WAIT="1"), 20)
    assert (choice, timed) == (64, 3)
    assert "has not decided on `script:kernel` within 1 seconds (TRITON_LOCK_WAIT)" in errors


def test_one_that_fails_leaves_the_decision_to_the_next(job):
    assert job.start("no number").wait(60) != 0
    assert result(job.start(64))[:2] == (64, 3)


# --- Where tuning is forbidden -------------------------------------------------------------------


def test_a_decision_of_a_lock_is_used_where_tuning_is_forbidden(job):
    assert result(job.start(32))[:2] == (32, 3)
    assert result(job.start(16, TRITON_JIT="forbid"))[:2] == (32, 0)


def test_a_rank_that_may_not_tune_does_not_wait(job):
    begin = time.monotonic()
    process = job.start(16, TRITON_JIT="forbid", **rank(1))
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and "TRITON_JIT=forbid" in errors
    assert time.monotonic() - begin < 15


# --- Ranks of torchrun ---------------------------------------------------------------------------


def rank(number, size=3):
    return {"RANK": str(number), "WORLD_SIZE": str(size)}


def test_rank_0_decides_for_those_that_ask_before_it(job):
    others = [job.start(64, **rank(number)) for number in (1, 2)]
    time.sleep(1.5)
    assert [other.poll() for other in others] == [None, None]
    assert result(job.start(16, **rank(0)))[:2] == (16, 3)
    assert [result(other)[:2] for other in others] == [(16, 0), (16, 0)]


def test_ranks_choose_alike_without_rank_0(job):
    others = [job.start(best, "impatient", **rank(number)) for number, best in ((1, 16), (2, 64))]
    (one, timed_one, errors), (two, timed_two, _) = map(result, others)
    assert one == two and sorted((timed_one, timed_two)) == [0, 3]
    assert (
        "rank 0 has not begun to tune `script:kernel` within 0 seconds" in errors or timed_one == 0
    )


def test_a_rank_waits_for_rank_0_as_long_as_it_tunes(job):
    zero = job.start(16, pause=0.6, **rank(0))
    job.is_tuning(zero)
    choice, timed, errors = result(job.start(64, "impatient", **rank(1)))
    assert (choice, timed) == (16, 0) and "rank 0 has not" not in errors
    zero.wait()


def test_a_rank_0_that_is_killed_hurts_nobody(job):
    zero = job.start(16, pause=60, **rank(0))
    job.is_tuning(zero)
    other = job.start(64, "impatient", **rank(1))
    time.sleep(1)
    zero.kill()
    assert result(other, 20)[:2] == (64, 3)


def test_ranks_that_torchrun_starts_choose_alike(job):
    pytest.importorskip("torch")
    command = ["-m", "torch.distributed.run", "--nproc-per-node", "3", job.folder / "script.py"]
    done = subprocess.run(
        [sys.executable, *command, "16", "0.02"],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "TRITON_LOCK": str(job.lock)},
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n")) == ["", *["chose 16"] * 3, *["timed"] * 3]


# --- Redis ---------------------------------------------------------------------------------------


@pytest.fixture
def redis_job(tmp_path):
    """Processes whose lock is on a server of this test."""
    pytest.importorskip("redis")
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path), "--port", str(port)]
    server = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    made = Job(tmp_path, "redis:team")
    made.server, made.settings = server, {"TRITON_REDIS_HOST": "127.0.0.1", "TRITON_REDIS_PORT": str(port)}  # fmt: skip
    deadline = time.monotonic() + 20
    with socket.socket() as probe:
        while probe.connect_ex(("127.0.0.1", port)) != 0:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    yield made
    made.end()
    server.kill()
    server.wait()


def test_two_choose_alike_through_redis(redis_job):
    one, two = (redis_job.start(best, **redis_job.settings) for best in (16, 64))
    first, second = result(one), result(two)
    assert first[0] == second[0] and sorted((first[1], second[1])) == [0, 3]


def test_one_that_is_killed_frees_the_claim_on_redis(redis_job):
    dying = redis_job.start(16, "other-machine", pause=60, **redis_job.settings)
    redis_job.is_tuning(dying)
    waiting = redis_job.start(64, **redis_job.settings)
    dying.kill()
    assert result(waiting, 30)[:2] == (64, 3)


def test_a_server_that_is_gone_costs_a_warning(redis_job):
    redis_job.server.kill()
    redis_job.server.wait()
    choice, timed, errors = result(redis_job.start(64, **redis_job.settings))
    assert (choice, timed) == (64, 3)
    assert "the lock redis:team cannot be used: ConnectionError" in errors


def test_signed_decisions_of_others_are_ignored(redis_job):
    signed = {**redis_job.settings, "TRITON_REMOTE_CACHE_KEY": "secret"}
    assert result(redis_job.start(16, **redis_job.settings))[:2] == (16, 3)
    choice, timed, errors = result(redis_job.start(64, **signed))
    assert (choice, timed) == (64, 3) and "without a valid signature" in errors
    assert result(redis_job.start(16, **signed))[:2] == (64, 0)


def test_the_command_reads_redis(redis_job):
    result(redis_job.start(16, **redis_job.settings))
    done = subprocess.run(
        [sys.executable, "-m", "triton.tools.lock", "merge", "redis:team", "-o", "-"],
        capture_output=True,
        text=True,
        env={**os.environ, **redis_job.settings},
    )
    assert json.loads(done.stdout)["config"]["BLOCK"] == 16, done.stderr
