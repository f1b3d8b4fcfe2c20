"""Kernels as nodes of PyTorch/XLA's graphs: `triton_call` makes a payload, `custom_call` the node."""

# SPDX-License-Identifier: MIT
#
# docs/xla.md has a guide; docs/why/xla.md explains which parts of PyTorch/XLA this relies on, and why.
from __future__ import annotations

import ctypes
import functools
import hashlib
import re
from collections.abc import Callable, Sequence
from typing import Any

import _XLAC
import torch
import torch_xla
import torch_xla.runtime

from ..backends import GPUTarget
from ..runtime.driver import driver
from . import handlers
from .compile import make_call
from .contract import Contract

_BACKENDS = {"CPU": "cpu", "CUDA": "cuda"}
_API_FUNCTION = "_ZN3xla3ffi12GetXlaFfiApiEv"  # xla::ffi::GetXlaFfiApi()
_TYPED = 4  # among the API versions of custom calls
_CUDA_TARGET = "triton_kernel_call"  # the name that PyTorch/XLA's own binding calls

_own_binding: Callable[..., Any] | None = getattr(_XLAC, "_xla_gpu_custom_call", None)
_has_cuda_handler = False


def current_target() -> GPUTarget | str:
    """The target of payloads: the processor, or the GPU's generation."""
    kind = torch_xla.runtime.device_type()
    if kind == "CPU":
        return "cpu"
    if kind == "CUDA":
        return driver.for_device("cuda").target_of(0)
    raise RuntimeError(
        f"PyTorch/XLA runs on {kind} devices here; kernels run on its CPU and CUDA devices: "
        "set PJRT_DEVICE=CPU or PJRT_DEVICE=CUDA before torch_xla is imported"
    )


@torch.compiler.disable  # a graph break for torch.compile: neither part can be traced
def triton_call(
    *args: Any,
    kernel: Any,
    grid: Any,
    debug: bool = False,
    target: GPUTarget | str | None = None,
    may_write_operands: bool = False,
    **metaparams: Any,
) -> bytes:
    """The payload of a call of `kernel` with these arguments: XLA tensors, whose elements are not
    read, and numbers. Constants and launch options are keywords.

    `target` is "cpu" or a GPUTarget; without it the payload is for the device that PyTorch/XLA
    uses. `may_write_operands` allows the kernel to write to tensors that are inputs of the node,
    which XLA assumes not to change.
    """
    for position, value in enumerate(args):
        if isinstance(value, torch.Tensor) and value.device.type != "xla":
            names = getattr(kernel, "arg_names", [])
            name = names[position] if position < len(names) else str(position)
            raise ValueError(
                f"argument `{name}` is a tensor on {value.device}; a node of an XLA graph takes XLA "
                'tensors: write `.to("xla")`'
            )
    if debug:
        metaparams["debug"] = True
    call = make_call(
        kernel,
        args,
        grid,
        current_target() if target is None else target,
        metaparams,
        may_write_operands=may_write_operands,
    )
    if may_write_operands and call.is_autotuned:
        raise ValueError(
            "an autotuned kernel runs many times while its configurations are compared, each time on "
            "what the last one wrote: `may_write_operands` is for kernels of one configuration"
        )
    return call.data


@torch.compiler.disable
def custom_call(
    inputs: Sequence[torch.Tensor],
    payload: bytes,
    output_shapes: Sequence[Sequence[int]],
    output_dtypes: Sequence[torch.dtype],
) -> list[torch.Tensor]:
    """Adds a node that runs the payload's kernel: its arrays are the inputs and then the outputs,
    in the order of the kernel's parameters. Takes the arguments of PyTorch/XLA's
    `_xla_gpu_custom_call`.
    """
    shapes = [[int(extent) for extent in shape] for shape in output_shapes]
    if len(shapes) != len(output_dtypes):
        raise ValueError(f"{len(shapes)} output shapes, but {len(output_dtypes)} output dtypes")
    contract = Contract.of(bytes(payload))
    _check_device(contract)
    for position, tensor in enumerate(inputs):
        if not isinstance(tensor, torch.Tensor) or tensor.device.type != "xla":
            where = getattr(tensor, "device", type(tensor).__name__)
            raise TypeError(f"input {position} of {contract.kernel} is no XLA tensor, but {where}")
    contract.check(
        [(tensor.dtype, tuple(tensor.shape)) for tensor in inputs],
        [(dtype, tuple(shape)) for dtype, shape in zip(output_dtypes, shapes, strict=True)],
    )
    if contract.backend == "cuda":
        return _cuda_call(inputs, payload, shapes, output_dtypes)
    config = '{opaque = "' + "".join(f"\\{byte:02X}" for byte in bytes(payload)) + '"}'
    target = _cpu_target(hashlib.sha256(payload).hexdigest()[:32])
    return _XLAC._xla_custom_call(
        list(inputs), target, shapes, list(output_dtypes), False, config, _TYPED, {}
    )


def _check_device(contract: Contract) -> None:
    kind = torch_xla.runtime.device_type()
    is_for = f"the payload of {contract.kernel} is for {contract.backend}:{contract.arch}"
    if _BACKENDS.get(kind) != contract.backend:
        raise RuntimeError(
            f"{is_for}, and PyTorch/XLA runs on {kind} devices here; make it with triton_call in a "
            "process whose PJRT_DEVICE is the same"
        )
    # Failures of the handler on CUDA devices are reported late; jaxlib's payloads are PTX, which it compiles.
    if contract.backend == "cuda" and contract.is_ours:
        here = current_target().arch
        if re.sub(r"\D", "", contract.arch) != str(here):
            raise RuntimeError(
                f"{is_for}, and the GPU here is cuda:{here}; make it with triton_call here"
            )


@functools.cache
def _api() -> int:
    """XLA's table of functions, through which its typed handlers are registered."""
    try:
        function = handlers.find_function(_XLAC.__file__, _API_FUNCTION)
    except RuntimeError as error:
        raise RuntimeError(
            f"kernels cannot be reached from PyTorch/XLA {torch_xla.__version__} on its CPU device: "
            f"{error}; its wheels 2.8 and 2.9 from PyPI have what is needed"
        ) from None
    return ctypes.CFUNCTYPE(ctypes.c_void_p)(function)() or 0


@functools.cache
def _cpu_target(digest: str) -> str:
    """One name for each payload: PyTorch/XLA distinguishes graphs only by the names of their
    targets.
    """
    name = f"triton.{digest}"
    handlers.register(_api(), name, "Host", handlers.CPU)
    return name


def use_cuda_handler(handler: Any = None) -> None:
    """Registers the handler of payloads on CUDA devices: this package's, or a capsule such as
    jaxlib's. Only the first registration of a process takes effect.
    """
    global _has_cuda_handler
    if _has_cuda_handler:
        return
    chosen = handlers.capsule(handlers.CUDA_UNTYPED) if handler is None else handler
    _XLAC._xla_register_custom_call_target(_CUDA_TARGET, chosen, "CUDA")
    _has_cuda_handler = True


def _in_rows(tensor: torch.Tensor) -> torch.Tensor:
    """The same elements in row-major order. PyTorch/XLA's binding requires each input in the layout
    of the operation that made it, which is column-major for a transposition; a reshape's is always
    row-major.
    """
    return tensor if tensor.dim() < 2 else tensor.reshape(tensor.numel()).reshape(tensor.shape)


def _cuda_call(
    inputs: Sequence[torch.Tensor],
    payload: bytes,
    shapes: list[list[int]],
    dtypes: Sequence[torch.dtype],
) -> list[torch.Tensor]:
    if _own_binding is None:
        raise RuntimeError(
            f"PyTorch/XLA {torch_xla.__version__} has no custom calls for GPUs; 2.8.1 is its last "
            "release that has"
        )
    use_cuda_handler()
    rows = [_in_rows(tensor) for tensor in inputs]
    return _own_binding(rows, bytes(payload), shapes, list(dtypes))


def complete(native: Any) -> None:
    """Replaces the binding `_xla_gpu_custom_call` of PyTorch/XLA's native module by `custom_call`.
    """
    global _own_binding
    own = getattr(native, "_xla_gpu_custom_call", None)
    if own is not custom_call:
        _own_binding = own
        native._xla_gpu_custom_call = custom_call
