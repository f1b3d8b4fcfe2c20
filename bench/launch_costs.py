"""The host's cost of launches by kind of call and number of arguments, beside torch's smallest operation.

Usage: bench/launch_costs.py [--rounds N] [--driver-ns N] [--case TEXT] [--instructions]

Runs on the GPU that torch has; without one on the stub driver of test/stub, where `--driver-ns` makes a launch in the
driver take that long. `--case` selects rows whose names contain the text. `--instructions` also counts the user-space
instructions of a call with `perf stat`. Exit status 1: a ratio is above what the project asks for.
"""
# SPDX-License-Identifier: MIT

import argparse
import contextlib
import functools
import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
import time

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "test", "python"))
os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="nereid-bench-"))

import triton  # noqa: E402
from _stub_cuda import compile_by_hand, exchange_array_class, use_stub  # noqa: E402
from triton._C import libtriton  # noqa: E402

COUNTS = (3, 8, 19, 58)
UNBOUND_LIMIT, BOUND_LIMIT, WARMUP_LIMIT_US = 1.3, 1.1, 5.0
QUEUED = 200  # launches that fit in a stream's queue
ON_GPU = torch.cuda.is_available()

SOURCE = """import triton
import triton.language as tl


@triton.jit
def kernel({parameters}, BLOCK: tl.constexpr):
    pass


tuned = triton.autotune([triton.Config({{"BLOCK": b}}) for b in (64, 128)], key=["a2"])(kernel)
computed = triton.heuristics({{"BLOCK": lambda args: 64}})(kernel)
"""


class PlainSubclass(torch.Tensor):
    pass


class InterceptingSubclass(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return super().__torch_function__(function, types, args, kwargs or {})


# --- Kernels and arguments ------------------------------------------------------------------------


def module_of(count, folder):
    """A module with a kernel of so many run-time arguments, two fifths of them pointers."""
    path = os.path.join(folder, f"kernel_of_{count}.py")
    with open(path, "w") as file:
        file.write(SOURCE.format(parameters=", ".join(f"a{i}" for i in range(count))))
    spec = importlib.util.spec_from_file_location(f"kernel_of_{count}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def stub_class():
    return exchange_array_class()


def array(index):
    if ON_GPU:
        return torch.zeros(64, device="cuda")
    return stub_class()(0x7F0000000000 + (index << 20))


def arguments(count):
    pointers = max(2, count * 2 // 5)
    return [array(i) if i < pointers else 48 + i for i in range(count)]


def no_timing(call, quantiles):
    call()
    return [1.0] * len(quantiles)


# --- Rows -----------------------------------------------------------------------------------------


def rows_of_count(count, folder):
    """(name, call) of the forms of a launch with so many arguments."""
    module, args, grid = module_of(count, folder), arguments(count), (1,)
    kernel = module.kernel
    handle = kernel.bind(*args, BLOCK=64)
    yield f"kernel[grid], {count} arguments", lambda: kernel[grid](*args, BLOCK=64)
    yield f"bound, {count} arguments", lambda: handle(grid, *args)
    if count == COUNTS[0]:
        yield from rows_of_kinds(module, args, grid)


def rows_of_kinds(module, args, grid):
    kernel, tuned, computed = module.kernel, module.tuned, module.computed
    tuned._do_bench = no_timing
    yield "autotuned", lambda: tuned[grid](*args)
    yield "heuristics", lambda: computed[grid](*args)
    yield "warmup of a known kernel", lambda: kernel.warmup(*args, BLOCK=64, grid=grid)
    dtypes = [torch.float32] * 2 + args[2:]
    yield "warmup by dtypes", lambda: kernel.warmup(*dtypes, BLOCK=64, grid=grid)
    for name, subclass in (
        ("Tensor subclass", PlainSubclass),
        ("Tensor subclass that intercepts calls", InterceptingSubclass),
    ):
        # Without a GPU the arguments are read, and no kernel is launched.
        own = [torch.zeros(64, device="cuda" if ON_GPU else "cpu").as_subclass(subclass)] * 2
        own += args[2:]
        if ON_GPU:
            yield name, lambda own=own: kernel[grid](*own, BLOCK=64)
        else:
            yield f"{name}, warmup", lambda own=own: kernel.warmup(*own, BLOCK=64, grid=grid)


def smallest_operations():
    x = torch.zeros(1, device="cuda" if ON_GPU else "cpu")
    yield lambda: x.zero_()
    yield lambda: x.add_(1)
    yield lambda: x.neg_()


# --- Clocks ---------------------------------------------------------------------------------------


def synchronize():
    if ON_GPU:
        torch.cuda.synchronize()


def in_turns(calls, rounds):
    """For each the best mean of `QUEUED` calls, in microseconds. All take turns, since a machine is slower at times."""
    best = [float("inf")] * len(calls)
    for turn in range(rounds * 10):
        for index, call in enumerate(calls):
            if turn == 0:
                call()
            synchronize()
            began = time.perf_counter()
            for _ in range(QUEUED):
                call()
            best[index] = min(best[index], time.perf_counter() - began)
    return [1e6 * each / QUEUED for each in best]


def in_threads(make_call, count, rounds, prepare=None):
    """Microseconds of a call, where as many threads make calls at once: all calls over the time of all."""
    best, chunks = float("inf"), 20
    for _ in range(rounds):
        barrier, spans = threading.Barrier(count), []

        def work(index, barrier=barrier, spans=spans):
            call = make_call(index)
            if prepare:
                prepare()
            call()
            barrier.wait()
            began = time.perf_counter()
            for _ in range(chunks):
                for _ in range(QUEUED // 2):
                    call()
                synchronize()
            spans.append((began, time.perf_counter()))

        threads = [threading.Thread(target=work, args=(index,)) for index in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = max(end for _, end in spans) - min(begin for begin, _ in spans)
        best = min(best, took / (chunks * QUEUED // 2 * count))
    return 1e6 * best


def stream_of(index):
    return torch.cuda.Stream() if ON_GPU else 0x50 + index


def print_threads(folder, rounds):
    kernel, args = module_of(4, folder).kernel, arguments(4)
    x = torch.zeros(1, device="cuda" if ON_GPU else "cpu")

    def launch(index):
        stream = stream_of(index)
        return lambda: kernel[(1,)](*args, BLOCK=64, stream=stream)

    def operation(index):
        stream = stream_of(index)

        def call():
            with torch.cuda.stream(stream) if ON_GPU else contextlib.nullcontext():
                x.zero_()

        return call

    def make_current():
        libtriton.driver_cuda.make_current(0)

    for name, call, prepare in (
        ("launches", launch, None),
        ("launches, context current before", launch, make_current),
        ("torch's x.zero_()", operation, None),
    ):
        times = [in_threads(call, count, rounds, prepare) for count in (1, 2)]
        print(
            f"threads with streams of their own: {name}: one {times[0]:.2f}, two {times[1]:.2f} us per call"
        )


# --- Instructions ---------------------------------------------------------------------------------


def instructions(name):
    """User-space instructions of one call: the difference of two runs of this program; None where they are not counted."""
    counts = []
    for repeats in (1000, 21000):
        command = ["perf", "stat", "-x,", "-e", "instructions:u", sys.executable, __file__]
        command += ["--case", name, "--repeat", str(repeats)]
        done = subprocess.run(command, capture_output=True, text=True)
        line = [each for each in done.stderr.splitlines() if "instructions" in each]
        if done.returncode or not line or not line[0].split(",")[0].isdigit():
            return None
        counts.append(int(line[0].split(",")[0]))
    return (counts[1] - counts[0]) / 20000


# --- The whole ------------------------------------------------------------------------------------


def limit_of(name):
    if name.startswith("bound"):
        return BOUND_LIMIT
    return None if "warmup" in name else UNBOUND_LIMIT


def print_rows(options, folder):
    """Prints all rows; the names of those above their limits."""
    rows = [row for count in COUNTS for row in rows_of_count(count, folder)]
    rows = [(name, call) for name, call in rows if options.case in name]
    operations = list(smallest_operations())
    times = in_turns([*operations, *(call for _, call in rows)], options.rounds)
    smallest = min(times[: len(operations)])
    where = torch.cuda.get_device_name() if ON_GPU else "the CPU"
    print(f"torch's smallest operation on {where}: {smallest:.3f} us")
    failed = []
    for (name, _), time_us in zip(rows, times[len(operations) :], strict=True):
        limit = limit_of(name)
        above = (
            time_us > WARMUP_LIMIT_US if "warmup" in name else limit and time_us / smallest > limit
        )
        failed += [name] * bool(above)
        text = f"{name:44} {time_us:8.3f} us {time_us / smallest:6.2f} of torch's"
        if options.instructions:
            found = instructions(name)
            text += "" if found is None else f" {found:8.0f} instructions"
        print(text + (" ABOVE THE LIMIT" if above else ""), flush=True)
    if not options.case:
        print_threads(folder, options.rounds)
    return failed


def repeat(options, folder):
    """The calls of one row alone, for a profiler."""
    for count in COUNTS:
        for name, call in rows_of_count(count, folder):
            if name == options.case:
                for done in range(options.repeat):
                    call()
                    if done % QUEUED == 0:
                        synchronize()
                return
    raise SystemExit(f"no row is called {options.case!r}")


@contextlib.contextmanager
def device(options):
    if ON_GPU:
        yield
        return
    for stub in use_stub():
        compile_for_cpu, by_hand = triton.compiler.compile, compile_by_hand(stub, reads=())
        triton.compiler.compile = lambda source, target, **more: (
            by_hand if target.backend == "cuda" else compile_for_cpu
        )(source, target=target, **more)
        libtriton.driver_cuda.make_current(0)  # the state that torch leaves
        stub.configure(f"log=0 delay_ns={options.driver_ns}")
        yield


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--driver-ns", type=int, default=0)
    parser.add_argument("--case", default="")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--repeat", type=int, default=0, help="only call the row named by --case")
    options = parser.parse_args()
    with device(options), tempfile.TemporaryDirectory() as folder:
        if options.repeat:
            return repeat(options, folder)
        failed = print_rows(options, folder)
    return int(bool(failed) and ON_GPU)


if __name__ == "__main__":
    sys.exit(main())
