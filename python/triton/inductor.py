"""Which code PyTorch's compiler writes for CPUs, and what it expects of the compiler of kernels."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import importlib.util
import os
import sys
import time
from collections.abc import Callable

from .after_import import after_import


def enable_cpu_backend(enabled: bool = True) -> None:
    """Makes `torch.compile` write Triton kernels for CPUs in this process, too; with `False` C++ again.

    Functions that have been compiled keep their code until `torch.compiler.reset()`. The same as
    `torch._inductor.config.cpu_backend = "triton"`, which can also be given for one function:
    `torch.compile(f, options={"cpu_backend": "triton"})`, but for two things. PyTorch's compiler chooses among
    a few configurations of a kernel by measuring each for 125 ms, which is most of a first call's time. Here a
    measurement ends when the figure is good enough to choose by, mostly after 12 ms. And `torch.cat` of a few
    tensors becomes one kernel, with the operations before and after it; PyTorch's compiler writes one kernel for
    each tensor on CPUs. Code that it has cached on disk before, under either setting, is used as it is.

    Takes no time: what is not imported yet, as PyTorch's compiler before its first use, is changed when it is.

    Raises ImportError without PyTorch, RuntimeError where this PyTorch has no choice of backends.
    """
    folders = _folders_of_torch()
    if not _has_choice(folders):
        raise RuntimeError(
            f"PyTorch {_version()} writes C++ alone for CPUs; from 2.5 on it can write Triton kernels"
        )
    after_import("torch._inductor.config", functools.partial(_choose_backend, enabled))
    measure = _measure if enabled else None
    after_import("torch._inductor.runtime.benchmarking", lambda _: _choose_measurement(measure))
    after_import("torch._inductor.lowering", lambda _: _choose_concatenation(enabled))


def _choose_backend(enabled: bool, config: object) -> None:
    config.cpu_backend = "triton" if enabled else "cpp"


def _version() -> str:
    from importlib.metadata import version

    return version("torch")


def _folders_of_torch() -> list[str]:
    torch = sys.modules.get("torch")
    if torch is not None:
        return list(torch.__path__)
    found = None if "torch" in sys.modules else importlib.util.find_spec("torch")
    if found is None:
        raise ImportError("triton.enable_cpu_backend needs PyTorch: pip install torch")
    return list(found.submodule_search_locations or ())


def _has_choice(folders: list[str]) -> bool:
    """Whether PyTorch's settings have one for the backend. To import them takes a second, so they are looked for in
    their file.
    """
    config = sys.modules.get("torch._inductor.config")
    if config is not None:
        return hasattr(config, "cpu_backend")
    for folder in folders:
        path = os.path.join(folder, "_inductor", "config.py")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return "cpu_backend" in file.read()
    return False


def share_defaults(constants: dict, defaults: dict[str, object]) -> None:
    """Adds constants that `ASTSource` has filled in to the dict that its caller passed, if that is PyTorch's compiler:
    it makes its launcher from the dict, which is a copy of its own. Any other caller's may serve for the next kernel
    and stays as it is.
    """
    if str(sys._getframe(2).f_globals.get("__name__")).startswith("torch."):
        constants.update(defaults)


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
    except ImportError:
        return  # this PyTorch measures in one way only
    if hasattr(benchmarking, "register_benchmarker"):
        default = benchmarking._default_cpu_bench
        benchmarking.register_benchmarker("cpu", measure or default, override=True)
    elif hasattr(benchmarking, "Benchmarker"):
        _replace_method(benchmarking.Benchmarker, measure)


def _replace_method(benchmarker: type, measure: Callable | None) -> None:
    """The same for releases in which the way is a method; may be called again."""
    own_way = getattr(benchmarker.benchmark_cpu, "replaced", benchmarker.benchmark_cpu)

    @functools.wraps(own_way)
    def benchmark_cpu(self: object, _callable: Callable, warmup: int = 20, rep: int = 100) -> float:
        return measure(self, _callable, warmup=warmup, rep=rep)

    benchmark_cpu.replaced = own_way
    benchmarker.benchmark_cpu = benchmark_cpu if measure else own_way


_MOST_TENSORS, _LEAST_RUN = 4, 16  # of a concatenation in one kernel; a run is counted in elements


def _comes_in_whole_vectors(tensor: object, dim: int) -> bool:
    """Whether the tensor's adjacent elements, of a concatenation along `dim`, come in multiples of 16."""
    run = 1
    for extent in tensor.get_size()[dim:]:
        if not (isinstance(extent, int) or extent.is_Integer):
            return False  # known when the kernel runs
        run *= int(extent)
    return run > 0 and run % _LEAST_RUN == 0


def _is_of_reduction(tensor: object) -> bool:
    """Whether the tensor is the result of a reduction, or is computed from one."""
    from torch._inductor import ir
    from torch._inductor.virtualized import V

    def is_reduction(buffer: object) -> bool:
        return isinstance(buffer, ir.ComputedBuffer) and isinstance(buffer.data, ir.Reduction)

    while isinstance(tensor, (ir.TensorBox, ir.StorageBox, ir.BaseView)):
        tensor = tensor.data
    if isinstance(tensor, ir.Pointwise):
        return any(is_reduction(V.graph.get_buffer(name)) for name in tensor.get_read_names())
    return is_reduction(tensor)


def _has_other_uses() -> bool:
    """Whether a tensor of the concatenation that is being lowered is computed for another use, too."""
    from torch._inductor.virtualized import V

    nodes = V.current_node.all_input_nodes
    return any(node.op == "call_function" and len(node.users) > 1 for node in nodes)


def _is_one_kernel(tensors: list, dim: int) -> bool:
    """Whether a concatenation is a kernel whose vectors are each read from one tensor, and no result of a reduction
    is written and read again, nor anything computed twice."""
    return (
        1 < len(tensors) <= _MOST_TENSORS
        and tensors[0].get_device().type == "cpu"
        and all(_comes_in_whole_vectors(tensor, dim) for tensor in tensors)
        and not any(_is_of_reduction(tensor) for tensor in tensors)
        and not _has_other_uses()
    )


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
