"""Kernels on the CPU in several processes: forked and spawned workers, with and without torch, and limits of threads."""
# SPDX-License-Identifier: MIT

import os
import subprocess
import sys

import pytest

KERNEL = """
import os
import numpy as np
import triton
import triton.language as tl
from triton._C.libtriton import driver_cpu

triton.runtime.driver.set_active_to_cpu()


@triton.jit
def scale(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    for _ in range(20):
        value = value * 0.5 + 1
    tl.store(out + at, value, mask=at < n)


N = 1 << 20
X = np.arange(N, dtype=np.float32) / N
EXPECTED = (X - 2) * 0.5**20 + 2


def run_kernels():
    out = np.zeros_like(X)
    for _ in range(5):  # the first ones measure whether threads are worth waking
        scale[(N // 1024,)](X, out, N, BLOCK=1024)
    np.testing.assert_allclose(out, EXPECTED, rtol=1e-5)


def thread_count():
    return len(os.listdir("/proc/self/task"))
"""

WORKERS = """
import multiprocessing
import sys

import torch
from kernel import *


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        run_kernels()
        assert torch.utils.data.get_worker_info().num_workers == 2
        return index, driver_cpu.num_threads(), torch.get_num_threads()


def use_torch():
    assert torch.ones(1 << 22).exp().sum() > 0


def by_loader(method):
    loader = torch.utils.data.DataLoader(Rows(), batch_size=None, num_workers=2, multiprocessing_context=method)
    # Workers limit torch to one thread, and so kernels.
    assert [tuple(row) for row in loader] == [(index, 1, 1) for index in range(6)]


def by_processes(method):
    context = multiprocessing.get_context(method)
    workers = [context.Process(target=run_kernels) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]


if __name__ == "__main__":
    how, method, *before = sys.argv[1:]
    torch.set_num_threads(4)
    for step in before:
        globals()[step]()
    globals()[how](method)
    run_kernels()
    use_torch()
    globals()[how](method)
    run_kernels()
    print("well")
"""


def run(folder, script, *arguments, **environment):
    (folder / "kernel.py").write_text(KERNEL)
    (folder / "script.py").write_text(script)
    done = subprocess.run(
        [sys.executable, folder / "script.py", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"TRITON_CACHE_DIR": str(folder / "cache")} | environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("method", "before"),
    [
        ("fork", ()),
        ("fork", ("run_kernels",)),
        ("fork", ("use_torch",)),
        ("spawn", ("run_kernels",)),
    ],
    ids=["fork", "fork after kernels", "fork after torch", "spawn"],
)
@pytest.mark.parametrize("how", ["by_loader", "by_processes"])
def test_workers_and_their_parent_run_kernels(how, method, before, tmp_path):
    pytest.importorskip("torch")
    assert run(tmp_path, WORKERS, how, method, *before) == ["well"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_without_torch(method, tmp_path):
    without = WORKERS[: WORKERS.index("class Rows")] + WORKERS[WORKERS.index("def by_processes") :]
    for line in ("import torch\n", "    torch.set_num_threads(4)\n", "    use_torch()\n"):
        assert line in without
        without = without.replace(line, "")
    assert run(tmp_path, without, "by_processes", method, "run_kernels") == ["well"]


def test_the_variable_of_openmp_limits_threads_without_openmp(tmp_path):
    script = """
from kernel import *
before = thread_count()
run_kernels()
libtriton.flush_cache()
deadline = time.monotonic() + 3
while thread_count() > before and time.monotonic() < deadline:
    time.sleep(0.01)  # the thread that has stored the kernels ends
print(driver_cpu.num_threads(), thread_count() - before)
"""
    script = "import time\nfrom triton._C import libtriton\n" + script
    assert run(tmp_path, script, OMP_NUM_THREADS="1") == ["1 0"]
    assert run(tmp_path, script, OMP_NUM_THREADS="1,4") == ["1 0"]
    processors = len(os.sched_getaffinity(0))
    (line,) = run(tmp_path, script, OMP_NUM_THREADS="1000")
    assert int(line.split()[0]) <= processors


def test_the_variable_counts_until_the_first_launch(tmp_path):
    script = """
from kernel import *
os.environ["OMP_NUM_THREADS"] = "1"
run_kernels()
print(driver_cpu.num_threads())
"""
    assert run(tmp_path, script) == ["1"]


def test_the_affinity_mask_of_the_first_launch_counts_in_each_process(tmp_path):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("this process may use one processor only")
    script = """
from kernel import *
print(driver_cpu.num_threads() > 1)
run_kernels()
if (child := os.fork()) == 0:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    run_kernels()
    os._exit(0 if (driver_cpu.num_threads(), thread_count()) == (1, 1) else 1)
print(os.waitpid(child, 0)[1], driver_cpu.num_threads() > 1)
"""
    assert run(tmp_path, script, OMP_NUM_THREADS="") == ["True", "0 True"]


def test_a_number_that_the_program_sets_is_kept(tmp_path):
    script = """
from kernel import *
driver_cpu.set_num_threads(3)
if (child := os.fork()) == 0:
    run_kernels()
    os._exit(driver_cpu.num_threads())
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), driver_cpu.num_threads())
driver_cpu.set_num_threads(0)
print(driver_cpu.num_threads())
"""
    assert run(tmp_path, script, OMP_NUM_THREADS="1") == ["3 3", "1"]
