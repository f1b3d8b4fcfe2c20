"""The functions that test suites written for Triton import from `triton._internal_testing`: queries
about the device, random NumPy arrays, and conversions between NumPy and kernels.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from . import knobs
from . import language as tl
from .runtime.driver import driver
from .runtime.tensors import TensorWrapper, reinterpret

int_dtypes = ["int8", "int16", "int32", "int64"]
uint_dtypes = ["u" + name for name in int_dtypes]
integral_dtypes = int_dtypes + uint_dtypes
float_dtypes = ["float16", "float32", "float64"]
float_dtypes_with_bfloat16 = [*float_dtypes, "bfloat16"]
dtypes = integral_dtypes + float_dtypes
dtypes_with_bfloat16 = [*dtypes, "bfloat16"]
torch_float8_dtypes = ["float8_e4m3fn", "float8_e5m2"]
torch_dtypes = ["bool", *int_dtypes, "uint8", *float_dtypes_with_bfloat16]
tma_dtypes = sorted(set(dtypes_with_bfloat16) - {"int64", "uint64", "float64"})

# --- the device ------------------------------------------------------------------------------


def is_interpreter() -> bool:
    return os.environ.get("TRITON_INTERPRET", "0") == "1"


def get_current_target() -> Any:
    return None if is_interpreter() else driver.active.get_current_target()


def _backend() -> str:
    target = get_current_target()
    return target.backend if target else ""


def get_arch() -> str:
    target = get_current_target()
    return str(target.arch) if target else ""


def is_cpu() -> bool:
    return _backend() == "cpu"


def is_cuda() -> bool:
    return _backend() == "cuda"


def is_compile_warmup() -> bool:
    """Whether a suite compiles its kernels without running them: its launches always run here."""
    return False


def is_xpu() -> bool:
    return _backend() == "xpu"


def is_hip() -> bool:
    return _backend() == "hip"


def _capability() -> tuple[int, int]:
    return torch.cuda.get_device_capability() if is_cuda() else (0, 0)


def is_ampere_or_newer() -> bool:
    return _capability()[0] >= 8


def is_hopper() -> bool:
    return _capability()[0] == 9


def is_hopper_or_newer() -> bool:
    return _capability()[0] >= 9


def is_blackwell() -> bool:
    return _capability()[0] in (10, 11)


def is_blackwell_ultra() -> bool:
    return _capability() == (10, 3)


def is_rubin() -> bool:
    return _capability() == (10, 7)


def is_sm12x() -> bool:
    return _capability()[0] == 12


def _is_gfx(*names: str) -> Callable[[], bool]:
    """Whether the device is an AMD GPU whose name starts so; none is supported yet."""
    return lambda: is_hip() and get_arch().startswith(names)


is_hip_cdna2 = _is_gfx("gfx90a")
is_hip_cdna3 = _is_gfx("gfx942")
is_hip_cdna4 = _is_gfx("gfx950")
is_hip_cdna3_or_newer = _is_gfx("gfx942", "gfx950")
is_hip_cdna = _is_gfx("gfx90a", "gfx942", "gfx950")
is_hip_gfx11 = _is_gfx("gfx11")
is_hip_gfx12 = _is_gfx("gfx12")
is_hip_gfx1250 = _is_gfx("gfx1250")
is_hip_rdna3 = _is_gfx("gfx110", "gfx115")
is_hip_rdna4m = _is_gfx("gfx117")
is_hip_rdna4 = _is_gfx("gfx120")
is_hip_rdna = _is_gfx("gfx110", "gfx115", "gfx117", "gfx120")


def get_hip_lds_size() -> int:
    return 160 * 1024 if is_hip_cdna4() else 64 * 1024


def supports_tma(byval_only: bool = False) -> bool:
    return is_interpreter() or is_hopper_or_newer()


def supports_ws() -> bool:
    return is_interpreter() or is_hopper_or_newer()


def supports_clc() -> bool:
    return _capability()[0] >= 10


def tma_skip_msg(byval_only: bool = False) -> str:
    return "needs tensor maps: compute capability 9.0 or higher"


requires_tma = pytest.mark.skipif(not supports_tma(), reason=tma_skip_msg())

# --- arrays ----------------------------------------------------------------------------------


def random_int(low: int, high: int, *, warmup_value: int | None = None, **kwargs: Any) -> int:
    """An int from `low` up to, not including, `high`, from torch's generator; `kwargs` are those of torch.randint."""
    return int(torch.randint(low, high, (), **kwargs).item())


def random_float(*, warmup_value: float = 0.5, **kwargs: Any) -> float:
    """A float in [0, 1) from torch's generator; `kwargs` are those of torch.rand."""
    return float(torch.rand((), **kwargs).item())


def numpy_random(
    shape: Any,
    dtype_str: str,
    rs: np.random.RandomState | None = None,
    low: int | None = None,
    high: int | None = None,
) -> np.ndarray:
    """Equal arrays on each call without `rs`. Integers are never 0, fp8 values are given as bits,
    bfloat16 is float32 with the low bits cleared.
    """
    rs = np.random.RandomState(seed=17) if rs is None else rs
    shape = (shape,) if isinstance(shape, int) else shape
    if dtype_str in integral_dtypes:
        limits = np.iinfo(dtype_str)
        low = limits.min if low is None else max(low, limits.min)
        high = limits.max if high is None else min(high, limits.max)
        values = rs.randint(low, high, shape, dtype=dtype_str)
        values[values == 0] = 1
        return values
    if dtype_str.startswith("float8"):
        return rs.randint(20, 40, shape, dtype=np.int8)
    if dtype_str in float_dtypes:
        return rs.normal(0, 1, shape).astype(dtype_str)
    if dtype_str == "bfloat16":
        bits = rs.normal(0, 1, shape).astype("float32").view("uint32")
        return (bits & np.uint32(0xFFFF0000)).view("float32")
    if dtype_str in ("bool", "bool_", "int1"):
        return rs.normal(0, 1, shape) > 0.0
    raise RuntimeError(f"Unknown dtype {dtype_str}")


def to_triton(x: np.ndarray, device: str, dst_type: str | None = None) -> Any:
    """A tensor of an array's values, or of its bits where `dst_type` is an fp8 type."""
    name = x.dtype.name
    if name in uint_dtypes:
        return reinterpret(torch.tensor(x.view(name[1:]), device=device), getattr(tl, name))
    tensor = torch.tensor(x, device=device)
    if dst_type and "float8" in dst_type:
        return reinterpret(tensor, getattr(tl, dst_type))
    return tensor.bfloat16() if name == "float32" and dst_type == "bfloat16" else tensor


def to_numpy(x: Any) -> np.ndarray:
    if isinstance(x, TensorWrapper):
        return x.base.cpu().numpy().astype(torch_dtype_name(x.dtype))
    if not isinstance(x, torch.Tensor):
        raise ValueError(f"Not a triton-compatible tensor: {x}")
    return (x.float() if x.dtype is torch.bfloat16 else x).cpu().numpy()


_LANGUAGE_NAMES = {
    "bool": "int1",
    "float8_e4m3fn": "float8e4nv",
    "float8_e5m2": "float8e5",
    "float8_e4m3fnuz": "float8e4b8",
    "float8_e5m2fnuz": "float8e5b16",
}


def str_to_triton_dtype(x: str) -> tl.dtype:
    """`tl.float32` for "float32"; torch's names of fp8 types are accepted, too."""
    return getattr(tl, _LANGUAGE_NAMES.get(x, x))


def torch_dtype_name(dtype: Any) -> str:
    if isinstance(dtype, tl.dtype):
        return dtype.name
    if isinstance(dtype, torch.dtype):
        return str(dtype).removeprefix("torch.")
    raise TypeError(f"not a triton or torch dtype: {type(dtype)}")


def unwrap_tensor(t: Any) -> torch.Tensor:
    return t.base if isinstance(t, TensorWrapper) else t


def default_alloc_fn(size: int, align: int, _stream: int | None) -> torch.Tensor:
    return torch.empty(size, dtype=torch.int8, device="cpu" if is_cpu() else "cuda")


# --- settings, processes ---------------------------------------------------------------------


def _fresh_knobs_impl(
    skipped_attr: set[str] | None = None,
) -> tuple[Callable[[], Any], Callable[[], None]]:
    """Two functions: the first returns settings without assignments or environment variables, the
    second restores the previous state.
    """
    groups = {
        name: group
        for name, group in vars(knobs).items()
        if isinstance(group, knobs.base_knobs) and name not in (skipped_attr or ())
    }
    environment: dict[str, str] = {}
    propagated = knobs.propagate_env

    def keys() -> list[str]:
        found = (group.knob_descriptors.values() for group in groups.values())
        return [knob.key for descriptors in found for knob in descriptors]

    def fresh() -> Any:
        environment.update({key: os.environ.pop(key) for key in keys() if key in os.environ})
        for name, group in groups.items():
            setattr(knobs, name, group.copy().reset())
        knobs.propagate_env = True
        return knobs

    def restore() -> None:
        for name, group in groups.items():
            setattr(knobs, name, group)
        for key in keys():
            os.environ.pop(key, None)
        os.environ.update(environment)
        knobs.propagate_env = propagated

    return fresh, restore


@dataclass
class ProcessResult:
    exc: BaseException | None
    driver_stderr_output: str


def _call_in_process(
    function: Callable[..., Any], results: Any, args: tuple, kwargs: dict, stderr_path: str
) -> None:
    with open(stderr_path, "w+b") as stderr:
        os.dup2(stderr.fileno(), 2)
        raised = None
        try:
            function(*args, **kwargs)
            if is_cuda():
                torch.cuda.synchronize()
        except Exception as error:
            raised = error
        sys.stderr.flush()
        results.put(raised)


@contextlib.contextmanager
def use_process_pool(preload_module: str) -> Iterator[None]:
    """Within it, upstream's `run_in_process` takes processes that have imported `preload_module`. Here each call starts
    one of its own, which imports what it needs.
    """
    yield


def run_in_process(
    client_fn: Callable[..., Any],
    args: tuple = (),
    kwargs: dict | None = None,
    env: dict[str, str] | None = None,
) -> ProcessResult:
    """Calls a function in a separate process: its exception, and its output on stderr."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for name, text in (env or {}).items():
            patch.setenv(name, text)
        path = os.path.join(folder, "stderr")
        process = context.Process(
            target=_call_in_process, args=(client_fn, results, args, kwargs or {}, path)
        )
        process.start()
        process.join()
        with open(path) as stderr:
            text = stderr.read()
    if process.exitcode:
        raise RuntimeError(f"the process ended with {process.exitcode}: {text}")
    return ProcessResult(results.get(), text)
