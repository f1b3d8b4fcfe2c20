"""Functions for timing and for comparing results."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import math
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

from ._C import libtriton
from ._lazy import lazy_names
from .benchmark_report import Benchmark, Mark, perf_report
from .runtime.driver import driver

__all__ = [
    "Benchmark",
    "Mark",
    "assert_close",
    "do_bench",
    "do_bench_cudagraph",
    "get_dram_gbps",
    "get_max_simd_tflops",
    "get_max_tensorcore_tflops",
    "nvsmi",
    "perf_report",
]


def _quantile(times: list[float], fraction: float) -> float:
    """Linear interpolation between the ordered times."""
    ordered = sorted(times)
    point = fraction * (len(ordered) - 1)
    low, high = math.floor(point), math.ceil(point)
    return ordered[low] + (ordered[high] - ordered[low]) * (point - low)


def _summarize(times: list[float], quantiles: Sequence[float] | None, return_mode: str) -> Any:
    if quantiles is not None:
        values = [_quantile(times, fraction) for fraction in quantiles]
        return values[0] if len(values) == 1 else values
    if return_mode == "all":
        return times
    if return_mode == "mean":
        return math.fsum(times) / len(times)
    return _quantile(times, {"min": 0.0, "median": 0.5, "max": 1.0}[return_mode])


def _time_once(fn: Callable[[], Any], synchronize: Callable[[], None]) -> float:
    synchronize()
    start = time.perf_counter_ns()
    fn()
    synchronize()
    return (time.perf_counter_ns() - start) * 1e-6


def do_bench(
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Any = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Milliseconds that `fn` takes with cold caches: about `warmup` ms of warming up, then about
    `rep` ms of measuring. The clock is that of the device of its kernels.
    """
    if return_mode not in ("min", "max", "mean", "median", "all"):
        raise ValueError(
            f"return_mode must be one of min, max, mean, median, all; got {return_mode!r}"
        )
    device: Any = _device_of(fn)
    cache = device.get_empty_cache_for_benchmark()

    def prepare() -> None:
        for tensor in grad_to_none or ():
            tensor.grad = None
        device.clear_cache(cache)

    run = _times_by_events if hasattr(device, "record_event") else _times_by_clock
    start = time.perf_counter()
    run(device, fn, prepare, 5)
    # Includes clearing the caches, so that the total stays near `rep`.
    estimate = max((time.perf_counter() - start) * 1e3 / 5, 1e-3)
    run(device, fn, prepare, max(1, int(warmup / estimate)))
    return _summarize(run(device, fn, prepare, max(1, int(rep / estimate))), quantiles, return_mode)


def _device_of(fn: Callable[[], Any]) -> Any:
    """The driver of the device of a call's last kernel; the active one where there is none."""
    libtriton.take_last_launch()
    fn()
    kind = libtriton.take_last_launch()
    return driver.for_device(kind) if kind else driver.active


def _times_by_clock(
    device: Any, fn: Callable[[], Any], prepare: Callable[[], None], count: int
) -> list[float]:
    """For a device whose launches are finished when a call returns."""
    times = []
    for _ in range(count):
        prepare()
        times.append(_time_once(fn, device.synchronize))
    return times


def _times_by_events(
    device: Any, fn: Callable[[], Any], prepare: Callable[[], None], count: int
) -> list[float]:
    """For an asynchronous device: its own events measure each call."""
    pairs = []
    for _ in range(count):
        prepare()
        before = device.record_event()
        fn()
        pairs.append((before, device.record_event()))
    device.synchronize()
    return [after.milliseconds_since(before) for before, after in pairs]


def do_bench_cudagraph(
    fn: Callable[[], Any],
    rep: float = 20,
    grad_to_none: Any = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """As `do_bench`, but `fn` is recorded into a CUDA graph, several times over, and the graph is
    timed: launch overhead is excluded. Caches stay warm.
    """
    if getattr(driver.active, "device_type", "") != "cuda":
        raise RuntimeError("do_bench_cudagraph needs a CUDA device; use do_bench")
    import torch

    with torch.cuda.stream(torch.cuda.Stream()):
        fn()
        for tensor in grad_to_none or ():
            tensor.detach_()
            tensor.requires_grad_(True)
            tensor.grad = None
        estimate = max(_graph_times(torch, fn, grad_to_none, calls=5, rounds=2)[-1], 1e-3)
        calls = min(max(1, int(rep / estimate)), 1000)
        times = _graph_times(torch, fn, grad_to_none, calls, rounds=10)
    return _summarize(times, quantiles, return_mode)


def _graph_times(
    torch: Any, fn: Callable[[], Any], grad_to_none: Any, calls: int, rounds: int
) -> list[float]:
    """Milliseconds per call, for each run of a graph with that many calls."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            for tensor in grad_to_none or ():
                tensor.grad = None
            fn()
    torch.cuda.synchronize()
    times = []
    for _ in range(rounds):
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        before.record()
        graph.replay()
        after.record()
        torch.cuda.synchronize()
        times.append(before.elapsed_time(after) / calls)
    return times


def assert_close(x: Any, y: Any, atol: Any = None, rtol: Any = None, err_msg: str = "") -> None:
    """Raises AssertionError unless the values agree; NaNs agree with each other. A tolerance may
    be a function of the dtype.
    """
    import numpy

    def to_numpy(value: Any) -> Any:
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            if str(value.dtype) == "torch.bfloat16":
                value = value.float()
            return value.numpy()
        return numpy.asarray(value)

    def tolerance(given: Any, default: float) -> float:
        return (
            given(getattr(x, "dtype", None))
            if callable(given)
            else default
            if given is None
            else given
        )

    atol, rtol = tolerance(atol, 1e-2), tolerance(rtol, 0.0)
    left, right = to_numpy(x), to_numpy(y)
    if left.size > 1 or right.size > 1:
        numpy.testing.assert_allclose(
            left, right, atol=atol, rtol=rtol, equal_nan=True, err_msg=err_msg
        )
    elif not numpy.allclose(left, right, atol=atol, rtol=rtol, equal_nan=True):
        raise AssertionError(f"{err_msg} {x} is not close to {y} (atol={atol}, rtol={rtol})")


def _need_gpu(device: Any) -> dict[str, Any]:
    properties = driver.active.utils.get_device_properties(device)
    if driver.active.get_current_target().backend == "cpu":
        raise RuntimeError("peak rates are known for GPUs only")
    return properties


def get_dram_gbps(device: int | None = None) -> float:
    """Peak memory bandwidth in GB/s."""
    properties = _need_gpu(device)
    return properties["mem_clock_rate"] * properties["mem_bus_width"] * 2 / 1e6 / 8


def _rates(device: int | None) -> tuple[dict[str, Any], dict[str, Any]]:
    properties = _need_gpu(device)
    capability = properties.get("compute_capability", 0)
    rates = libtriton.nvidia_arch(capability)
    if not rates["tensor_products"]:
        raise RuntimeError(f"peak rates of this GPU (sm_{capability}) are not known")
    return rates, properties


def _bits(dtype: Any) -> int:
    digits = "".join(filter(str.isdigit, str(dtype).split(".")[-1].split("_")[0].split("e")[0]))
    return int(digits)


def get_max_tensorcore_tflops(dtype: Any, clock_rate: float, device: int | None = None) -> float:
    """Peak rate of the tensor cores in TFLOP/s, at `clock_rate` kHz."""
    rates, properties = _rates(device)
    flops = 2 * rates["tensor_products"]
    per_clock = {32: flops / 2, 16: flops, 8: flops * 2}[_bits(dtype)]
    return properties["multiprocessor_count"] * per_clock * clock_rate * 1e-9


def get_max_simd_tflops(dtype: Any, clock_rate: float, device: int | None = None) -> float:
    """Peak rate of the vector units in TFLOP/s, at `clock_rate` kHz."""
    rates, properties = _rates(device)
    per_clock = {32: 2 * rates["fma"], 16: 4 * rates["packed_fma"]}[_bits(dtype)]
    return properties["multiprocessor_count"] * per_clock * clock_rate * 1e-9


def nvsmi(attrs: Sequence[str]) -> list[int]:
    """Values that nvidia-smi reports."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        raise RuntimeError("nvidia-smi was not found")
    command = [tool, "-i", "0", "--query-gpu=" + ",".join(attrs), "--format=csv,noheader,nounits"]
    return [int(text) for text in subprocess.check_output(command, text=True).split(",")]


__getattr__ = lazy_names(
    __name__,
    {
        "triton": "runtime",
        "triton.language": "tl=",
        "triton.gpu_clocks": "cuda_graph_without_gc set_gpu_clock",
        "triton.testing": "_summarize_statistics=_summarize",
    },
)
