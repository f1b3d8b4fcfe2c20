"""TRITON_BACKGROUND: generic variants that serve while those of the arguments compile."""
# SPDX-License-Identifier: MIT

import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
import triton
import triton.language as tl
from _simulators import simulators
from triton import knobs
from triton.runtime import background
from triton.runtime.errors import JitForbidden, JitWarning


@triton.jit
def scale(x_ptr, n, stride, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets * stride, tl.load(x_ptr + offsets * stride, mask=mask) * 2, mask=mask)


@triton.jit
def of_one(x_ptr, n):
    tl.store(x_ptr + tl.arange(0, n), 5)


@triton.jit
def not_of_one(x_ptr, n):
    tl.static_assert(isinstance(n, tl.tensor), "not 1")
    tl.store(x_ptr, n)


@pytest.fixture(autouse=True)
def in_background(own_cache, cpu_is_active):
    for kernel in (scale, of_one, not_of_one):
        kernel.device_caches.clear()
    with knobs.runtime.scope():
        knobs.runtime.background = True
        yield
        background.wait()


@pytest.fixture
def gate(monkeypatch):
    """Compilations in the background wait until it is set."""
    opened, work = threading.Event(), background._Jobs._work

    def wait_then_work(self):
        assert opened.wait(60)
        work(self)

    monkeypatch.setattr(background._Jobs, "_work", wait_then_work)
    yield opened
    opened.set()
    background.wait()


def launch(n=16, stride=1, **options):
    x = np.ones(64, np.float32)
    kernel = scale[(1,)](x, n, stride, BLOCK=16, **options)
    expected = np.ones(64, np.float32)
    expected[: n * stride : stride] = 2
    assert (x == expected).all()
    return kernel


def classes(kernel):
    return kernel.src.signature["stride"], kernel.src.attrs


def test_the_generic_variant_serves_until_the_other_is_there(gate):
    first = launch()
    assert classes(first)[0] == "i32" and not any(classes(first)[1].values())
    assert launch() is first
    gate.set()
    background.wait()
    better = launch()
    assert better.src.signature["stride"] == "constexpr"
    assert better.src.attrs[(0,)] == [["tt.divisibility", 16]]
    assert launch() is better


simulator = simulators("sim:80", "sim:gfx942")


def test_on_simulated_gpus(simulator, gate):
    first = launch()
    assert classes(first)[0] == "i32" and launch(n=5, stride=2) is first
    gate.set()
    background.wait()
    assert launch().src.signature["stride"] == "constexpr"
    assert launch(n=5, stride=2) is not first


def test_one_generic_variant_serves_all_classes(gate):
    kernels = {launch(n, stride).hash for n in (1, 3, 16) for stride in (1, 2)}
    assert len(kernels) == 1


def test_constants_and_options_are_those_of_the_launch(gate):
    assert launch(num_warps=2).metadata.num_warps == 2
    assert launch(num_warps=2).hash != launch().hash


def test_a_variant_in_memory_or_on_disk_is_used_at_once(gate):
    knobs.runtime.background = False
    known = launch()
    knobs.runtime.background = True
    assert launch() is known
    scale.device_caches.clear()
    assert launch().hash == known.hash


def test_warmup_compiles_the_variant_itself(gate):
    kernel = scale.warmup(np.ones(64, np.float32), 16, 1, BLOCK=16, grid=(1,))
    assert kernel.src.signature["stride"] == "constexpr" and launch() is kernel


def test_a_kernel_that_needs_its_classes_is_compiled_at_once(gate):
    x = np.zeros(1, np.int32)
    for _ in range(2):
        of_one[(1,)](x, 1)
    assert x[0] == 5


def test_an_error_of_the_launch_itself_is_raised(gate):
    with pytest.raises(triton.CompilationError):
        of_one[(1,)](np.zeros(1, np.int32), 2)


def test_an_error_in_the_background_is_shown_once():
    x = np.zeros(1, np.int32)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            not_of_one[(1,)](x, 1)
            background.wait()
    assert x[0] == 1
    (warning,) = caught
    assert warning.category is JitWarning and warning.filename == __file__
    assert "`not_of_one` could not be compiled in the background" in str(warning.message)
    assert "not 1" in str(warning.message)


def test_forbid_lets_a_known_generic_variant_serve(gate):
    generic = launch(n=3)
    knobs.runtime.jit = "forbid"
    assert launch(n=16) is generic
    scale.device_caches.clear()
    assert launch(n=16).hash == generic.hash  # from disk
    assert list(scale.device_caches["cpu"][0].values()) == [launch(n=16)]


def test_forbid_names_the_variant_of_the_launch(gate):
    knobs.runtime.jit = "forbid"
    with pytest.raises(JitForbidden, match="stride: 1\n"):
        launch()


def test_tuning_times_the_variants_themselves(gate):
    seen = []

    def bench(call, quantiles):
        seen.append(call())
        return [float(len(seen))] * 3

    configs = [triton.Config({"BLOCK": block}) for block in (16, 32)]
    tuned = triton.autotune(configs, key=["n"], do_bench=bench)(scale)
    tuned[(1,)](np.ones(64, np.float32), 16, 1)
    kernels = list(scale.device_caches["cpu"][0].values())
    assert all(kernel.src.signature["stride"] == "constexpr" for kernel in kernels)


def test_launches_of_several_threads(gate):
    threads = [threading.Thread(target=launch, args=(n,)) for n in (1, 3, 16) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gate.set()
    background.wait()
    assert {launch(n).src.signature["n"] for n in (1, 3, 16)} == {"constexpr", "i32"}
    assert len({launch(n).hash for n in (1, 3, 16)}) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_a_forked_child_compiles_its_own(gate):
    launch()
    child = os.fork()
    if child == 0:
        gate.set()
        launch()
        background.wait()
        os._exit(0 if launch().src.signature["stride"] == "constexpr" else 1)
    assert os.waitpid(child, 0)[1] == 0


PROGRAM = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def fill(x_ptr, n, VALUE: tl.constexpr):
    tl.store(x_ptr, VALUE + n)

for value in range(20):
    fill[(1,)](np.zeros(1, np.int32), 1, value)
print("done")
"""


def test_a_program_ends_while_compilations_wait(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    knobs.runtime.device = "cpu"
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
