"""Many processes with one cache folder: each kernel is compiled once, on slow and odd file systems too, and is stored
however a process ends.
"""
# SPDX-License-Identifier: MIT

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SLOW_FILES = os.path.join(ROOT, "build", "dev", "test", "stub", "libslowfiles.so")
KERNELS = 3

SCRIPT = """
import json
import os
import signal
import sys
import time

import numpy as np
import triton
import triton.language as tl
from triton import knobs

triton.runtime.driver.set_active_to_cpu()
folder, count, how = sys.argv[1], int(sys.argv[2]), sys.argv[3]


@triton.jit
def add(x, n, BY: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) + BY, mask=at < n)


hits = []
knobs.compilation.listener = lambda **info: hits.append(info["cache_hit"])


def meet():
    open(os.path.join(folder, f"{os.getpid()}.here"), "w").close()
    while sum(name.endswith(".here") for name in os.listdir(folder)) < count:
        time.sleep(0.002)


def run():
    for by in range(KERNELS):
        x = np.zeros(1000, np.float32)
        add[(8,)](x, 1000, BY=by, BLOCK=128)
        assert (x == by).all()


def tell():
    os.write(1, json.dumps(hits).encode() + b"\\n")


if how == "threads":
    import threading
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tell()
elif how == "forked":
    if (child := os.fork()) == 0:
        run()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    run()
    tell()
elif how == "multiprocessing":
    import multiprocessing
    child = multiprocessing.get_context("fork").Process(target=run)
    child.start()
    child.join()
    assert child.exitcode == 0
    run()
    tell()
else:
    meet()
    run()
    tell()
    if how == "exit":
        os._exit(0)
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
""".replace("KERNELS", str(KERNELS))


def run_processes(folder, count=1, how="plain", command=(), statuses=(0,), **variables):
    """For each process whether it found each kernel in the cache, and the texts on stderr."""
    meeting = folder / f"meeting{time.monotonic_ns()}"
    meeting.mkdir()
    (folder / "script.py").write_text(SCRIPT)
    processes = [
        subprocess.Popen(
            [*command, sys.executable, str(folder / "script.py"), str(meeting), str(count), how],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "TRITON_CACHE_DIR": str(folder / "cache"),
                "OMP_NUM_THREADS": "1",
                **variables,
            },
        )
        for _ in range(count)
    ]
    ends = [process.communicate(timeout=240) for process in processes]
    for process, (_, errors) in zip(processes, ends, strict=True):
        assert process.returncode in statuses, errors
    return [json.loads(output) for output, _ in ends], [errors for _, errors in ends]


def compilations(hits):
    return sum(not hit for each in hits for hit in each)


def test_sixteen_cold_processes_compile_each_kernel_once(tmp_path):
    hits, errors = run_processes(tmp_path, 16)
    assert [len(each) for each in hits] == [KERNELS] * 16
    assert compilations(hits) == KERNELS
    assert set(errors) == {""}
    left = [name for _, _, names in os.walk(tmp_path / "cache") for name in names]
    assert len(left) == KERNELS and all(name.endswith(".nereid") for name in left)


OWN_CACHE = """
import os
from triton.runtime.cache import FileCacheManager


class OwnCache(FileCacheManager):
    def __init__(self, key, override=False, dump=False):
        super().__init__(key, override, dump)
        self.cache_dir = os.path.join(os.environ["OWN_CACHE"], key)
"""


def run_with_own_cache(folder, count, **variables):
    (folder / "own_cache.py").write_text(OWN_CACHE)
    own = {"TRITON_CACHE_MANAGER": "own_cache:OwnCache", "OWN_CACHE": str(folder / "own")}
    return run_processes(folder, count, **own, **variables)


def test_processes_with_a_cache_of_their_own_compile_each_kernel_once(tmp_path):
    hits, errors = run_with_own_cache(tmp_path, 8)
    assert [len(each) for each in hits] == [KERNELS] * 8
    assert compilations(hits) == KERNELS
    assert set(errors) == {""}
    locks = [
        name for _, _, names in os.walk(tmp_path / "cache") for name in names if "lock" in name
    ]
    assert locks == []


def test_a_cache_of_their_own_warns_of_each_compilation_once(tmp_path):
    hits, (errors,) = run_with_own_cache(tmp_path, 1, TRITON_JIT="warn")
    assert compilations(hits) == KERNELS
    assert errors.count("TRITON_JIT=warn") == KERNELS, errors


def test_without_a_folder_for_locks_each_process_compiles(tmp_path):
    hits, _ = run_with_own_cache(tmp_path, 2, TRITON_CACHE_DIR="/proc/absent")
    assert [len(each) for each in hits] == [KERNELS] * 2
    assert compilations(hits) >= KERNELS


def test_threads_compile_each_kernel_once(tmp_path):
    (hits,), _ = run_processes(tmp_path, how="threads")
    assert sum(not hit for hit in hits) == KERNELS


@pytest.mark.parametrize("how", ["exit", "kill"])
def test_kernels_of_a_process_that_just_ends_are_stored(tmp_path, how):
    first, _ = run_processes(tmp_path, how=how, statuses=(0, -signal.SIGKILL))
    assert compilations(first) == KERNELS
    again, _ = run_processes(tmp_path)
    assert compilations(again) == 0


@pytest.mark.parametrize("how", ["forked", "multiprocessing"])
def test_kernels_of_a_forked_child_are_stored(tmp_path, how):
    (hits,), _ = run_processes(tmp_path, how=how)
    assert hits == [True] * KERNELS


ONE = """
import numpy as np
import triton
import triton.language as tl

triton.runtime.driver.set_active_to_cpu()


@triton.jit
def one(x):
    tl.store(x, 1.0)


print("begins", flush=True)
x = np.zeros(1, np.float32)
one[(1,)](x)
assert x[0] == 1
"""


@pytest.fixture
def held(tmp_path):
    """A process that waits for a compilation, and the descriptor that holds the lock."""
    script, cache = tmp_path / "one.py", tmp_path / "cache"
    script.write_text(ONE)
    settings = {**os.environ, "TRITON_CACHE_DIR": str(cache)}
    subprocess.run([sys.executable, script], env=settings, check=True, capture_output=True)
    (kernel,) = cache.rglob("*.nereid")
    kernel.unlink()
    lock = open(kernel.parent / f".aside-lock-{kernel.stem}", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    process = subprocess.Popen(
        [sys.executable, script],
        env=settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "begins\n"
    time.sleep(0.5)
    assert process.poll() is None
    yield process, lock
    lock.close()
    process.kill()
    process.communicate()


def test_a_process_that_waits_for_a_compilation_can_be_interrupted(held):
    process, _ = held
    deadline = time.monotonic() + 10
    while process.poll() is None and time.monotonic() < deadline:
        process.send_signal(
            signal.SIGINT
        )  # on a busy machine it may still be on its way to the wait
        time.sleep(0.5)
    assert "KeyboardInterrupt" in process.communicate(timeout=1)[1]


def test_a_process_compiles_where_the_owner_has_left_nothing(held):
    process, lock = held
    os.unlink(lock.name)
    assert process.wait(10) == 0


# --- File systems --------------------------------------------------------------------------------


def odd_files(folder, **settings):
    if not os.path.exists(SLOW_FILES):
        pytest.skip("the library that delays calls is not built")
    return {"LD_PRELOAD": SLOW_FILES, "SLOW_FILES": str(folder / "cache"), **settings}


def test_a_slow_folder(tmp_path):
    hits, errors = run_processes(tmp_path, 4, **odd_files(tmp_path, SLOW_FILES_US="20000"))
    assert compilations(hits) == KERNELS and set(errors) == {""}


@pytest.mark.parametrize("period", ["5", "7"])
def test_a_folder_that_other_machines_change(tmp_path, period):
    settings = odd_files(tmp_path, SLOW_FILES_US="1000", SLOW_FILES_STALE=period)
    hits, errors = run_processes(tmp_path, 4, **settings)
    assert KERNELS <= compilations(hits) <= 4 * KERNELS
    assert set(errors) == {""}
    again, _ = run_processes(tmp_path)
    assert compilations(again) == 0


def test_a_folder_without_file_locks(tmp_path):
    hits, errors = run_processes(tmp_path, 4, **odd_files(tmp_path, SLOW_FILES_LOCKS="0"))
    assert KERNELS <= compilations(hits) <= 4 * KERNELS
    assert set(errors) == {""}
    assert compilations(run_processes(tmp_path)[0]) == 0


def test_a_read_only_folder_is_named_as_such(tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir()
    mount = f'mount --bind "{cache}" "{cache}" && mount -o remount,bind,ro "{cache}"'
    command = ("unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh")
    if not shutil.which("unshare") or subprocess.run([*command, "true"], capture_output=True).returncode:  # fmt: skip
        pytest.skip("no folder can be mounted here")
    hits, (errors,) = run_processes(tmp_path, command=command)
    assert compilations(hits) == KERNELS
    text = f"RuntimeWarning: the kernel cache is off: folder `{cache}` is read-only for this user (Read-only file system)"  # fmt: skip
    assert errors.count(text) == 1
    run_processes(tmp_path)
    hits, (errors,) = run_processes(tmp_path, command=command)
    assert compilations(hits) == 0 and errors == ""


# --- Kills ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["lock", "cache"])
def test_writers_that_are_killed(kind):
    script = os.path.join(ROOT, "test", "scripts", "kill_writers.py")
    if not os.path.exists(script):
        pytest.skip("only in the source tree")
    command = [sys.executable, script, "--only", kind, "--count", "20"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "20 kills" in done.stdout and "nothing lost, nothing wrong" in done.stdout


# --- Packs ---------------------------------------------------------------------------------------


def test_processes_with_a_pack_need_no_folder():
    """The script also fails where one of them writes to the cache's folder."""
    script = os.path.join(ROOT, "test", "scripts", "many_processes.py")
    if not os.path.exists(script):
        pytest.skip("only in the source tree")
    command = [sys.executable, script, "--count", "3", "--kernels", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(re.findall(r"^(.*?)  +\d+ processes, +(\d+) compilations", done.stdout, re.M))
    assert counts == {
        "cold": "2",
        "warm": "0",
        "warm, alone": "0",
        "a pack, no folder": "0",
        "a pack, no folder, alone": "0",
        "without triton": "0",
        "without triton, alone": "0",
    }
