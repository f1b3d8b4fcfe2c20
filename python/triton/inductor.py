"""Which code PyTorch's compiler writes for CPUs."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import time
from collections.abc import Callable


def enable_cpu_backend(enabled: bool = True) -> None:
    """Makes `torch.compile` write Triton kernels for CPUs in this process, too; with `False` C++ again.

    Functions that have been compiled keep their code until `torch.compiler.reset()`. The same as
    `torch._inductor.config.cpu_backend = "triton"`, which can also be given for one function:
    `torch.compile(f, options={"cpu_backend": "triton"})`, but for two things. PyTorch's compiler chooses among
    a few configurations of a kernel by measuring each for 125 ms, which is most of a first call's time. Here a
    measurement ends when the figure is good enough to choose by, mostly after 12 ms. And `torch.cat` of a few
    tensors becomes one kernel, with the operations before and after it, as on GPUs; PyTorch's compiler writes one
    kernel for each tensor on CPUs.

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
    _choose_concatenation(enabled)


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


_MOST_TENSORS, _LEAST_RUN = 4, 16  # of a concatenation in one kernel; a run is counted in elements


def _is_one_kernel(tensors: list, dim: int) -> bool:
    """Whether a concatenation is a kernel whose vectors are each read from one tensor: the adjacent elements of each
    tensor come in multiples of 16."""
    if not 1 < len(tensors) <= _MOST_TENSORS or tensors[0].get_device().type != "cpu":
        return False
    for tensor in tensors:
        run = 1
        for extent in tensor.get_size()[dim:]:
            if not (isinstance(extent, int) or extent.is_Integer):
                return False  # known when the kernel runs
            run *= int(extent)
        if run == 0 or run % _LEAST_RUN:
            return False
    return True


def _choose_concatenation(in_one_kernel: bool) -> None:
    """How PyTorch's compiler lowers `torch.cat` of CPU tensors where it writes Triton kernels."""
    try:
        import torch
        from torch._inductor import config
        from torch._inductor.lowering import lowerings

        original = lowerings[torch.ops.aten.cat.default]
    except (ImportError, KeyError):
        return
    if not hasattr(config, "force_pointwise_cat"):
        return  # this PyTorch lowers it in one way only
    original = getattr(original, "_of_pytorch", original)
    chosen = original
    if in_one_kernel:

        @functools.wraps(original)
        def chosen(tensors: list, dim: int = 0) -> object:
            if config.cpu_backend != "triton" or not _is_one_kernel(tensors, dim):
                return original(tensors, dim)
            with config.patch(force_pointwise_cat=True):
                return original(tensors, dim)

        chosen._of_pytorch = original
    for operator in (torch.ops.aten.cat, torch.ops.aten.cat.default):
        if operator in lowerings:
            lowerings[operator] = chosen
