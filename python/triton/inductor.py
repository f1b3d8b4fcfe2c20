"""Which code PyTorch's compiler writes for CPUs."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import time
from collections.abc import Callable


def enable_cpu_backend(enabled: bool = True) -> None:
    """Makes `torch.compile` write Triton kernels for CPUs in this process, too; with `False` C++ again.

    Functions that have been compiled keep their code until `torch.compiler.reset()`. The same as
    `torch._inductor.config.cpu_backend = "triton"`, which can also be given for one function:
    `torch.compile(f, options={"cpu_backend": "triton"})`, but for one thing: PyTorch's compiler chooses among
    a few configurations of a kernel by measuring each for 125 ms, which is most of a first call's time. Here a
    measurement ends when the figure is good enough to choose by, mostly after 12 ms.

    Raises ImportError without PyTorch, RuntimeError where this PyTorch has no choice of backends.
    """
    try:
        import torch
        from torch._inductor import config
    except ImportError as error:
        raise ImportError("triton.enable_cpu_backend needs PyTorch: pip install torch") from error
    if not hasattr(config, "cpu_backend"):
        raise RuntimeError(
            f"PyTorch {torch.__version__} writes C++ alone for CPUs; from 2.5 on it can write Triton kernels"
        )
    config.cpu_backend = "triton" if enabled else "cpp"
    _choose_measurement(_measure if enabled else None)


_SECONDS, _SAMPLES = 0.012, 5


def _measure(benchmarker: object, function: Callable, *, warmup: int, rep: int, **options) -> float:
    """A kernel's time in milliseconds: the best sample, since others' work only adds to it.

    Ends after 5 samples and 12 ms, or after `rep` ms.
    """
    function()
    samples = []
    began = now = time.perf_counter()
    while now - began < rep / 1e3 and (len(samples) < _SAMPLES or now - began < _SECONDS):
        function()
        samples.append(time.perf_counter() - now)
        now += samples[-1]
    return 1e3 * min(samples)


def _choose_measurement(measure: Callable | None) -> None:
    """How PyTorch's compiler measures kernels on CPUs; `None`: its own way."""
    try:
        from torch._inductor.runtime import benchmarking

        register = benchmarking.register_benchmarker
    except (ImportError, AttributeError):
        return  # this PyTorch measures in one way only
    register("cpu", measure or benchmarking._default_cpu_bench, override=True)
