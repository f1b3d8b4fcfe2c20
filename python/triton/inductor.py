"""Which code PyTorch's compiler writes for CPUs."""

# SPDX-License-Identifier: MIT
from __future__ import annotations


def enable_cpu_backend(enabled: bool = True) -> None:
    """Makes `torch.compile` write Triton kernels for CPUs in this process, too; with `False` C++ again.

    Functions that have been compiled keep their code until `torch.compiler.reset()`. The same as
    `torch._inductor.config.cpu_backend = "triton"`, which can also be given for one function:
    `torch.compile(f, options={"cpu_backend": "triton"})`.

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
