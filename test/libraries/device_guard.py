"""Runs libraries that require a CUDA device on the CPU: replaces device guards, and leaves their kernels alone."""
# SPDX-License-Identifier: MIT

import contextlib
import os
import types

import torch
from torch.overrides import TorchFunctionMode


class CpuForCuda(TorchFunctionMode):
    """`device="cuda"` in a call of torch means the CPU."""

    def __torch_function__(self, function, kinds, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        device = kwargs.get("device")
        if device is not None and torch.device(device).type == "cuda":
            kwargs["device"] = "cpu"
        if function in (torch.Tensor.to, torch.Tensor.cuda):
            args = tuple(
                "cpu" if isinstance(x, (str, torch.device)) and "cuda" in str(x) else x
                for x in args
            )
            if function is torch.Tensor.cuda:
                return args[0]
        return function(*args, **kwargs)


@contextlib.contextmanager
def nothing(*_args, **_kwargs):
    yield


class Device(contextlib.nullcontext):
    """torch.cuda.device and torch.cuda.device_of."""

    def __init__(self, *_args, **_kwargs):
        super().__init__()


def properties(_device=None):
    return types.SimpleNamespace(
        name="NVIDIA H100", major=9, minor=0, multi_processor_count=8, total_memory=1 << 34,
        shared_memory_per_block_optin=232448, shared_memory_per_block=49152, L2_cache_size=1 << 25,
        regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, warp_size=32,
    )  # fmt: skip


def pretend():
    """Makes the queries of torch.cuda return the values of one GPU of compute capability 9.0."""
    os.environ["TORCHDYNAMO_DISABLE"] = "1"  # Dynamo looks for a GPU by itself
    cuda = torch.cuda
    answers = {
        "is_available": True, "is_initialized": True, "current_device": 0, "device_count": 1,
        "get_device_capability": (9, 0), "get_device_name": "NVIDIA H100", "synchronize": None, "init": None,
        "set_device": None, "empty_cache": None, "is_bf16_supported": True, "_lazy_init": None,
        "mem_get_info": (1 << 33, 1 << 34), "is_current_stream_capturing": False,
    }  # fmt: skip
    for name, answer in answers.items():
        setattr(cuda, name, lambda *_args, _answer=answer, **_kwargs: _answer)
    cuda.get_device_properties = properties
    cuda.device = Device
    cuda.device_of = Device
    cuda.stream = nothing
    torch.accelerator.current_accelerator = lambda *_args, **_kwargs: torch.device("cuda")
    torch._C._cuda_getCurrentRawStream = lambda _device=0: 0
    torch.Tensor.is_cuda = property(lambda _self: True)
    CpuForCuda().__enter__()
