"""Conditions under which GPUs are measured: clocks that stay, and no collection of garbage in a graph."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import gc
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def cuda_graph_without_gc(*args: Any, **kwargs: Any) -> Iterator[Any]:
    """`torch.cuda.graph` while no garbage is collected: a kernel's end would unload its module, which no
    capture allows.
    """
    import torch

    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with torch.cuda.graph(*args, **kwargs) as graph:
            yield graph
    finally:
        if was_enabled:
            gc.enable()


def _nvidia_smi(*arguments: str) -> None:
    subprocess.check_output(["nvidia-smi", "-i", "0", *arguments])


@contextmanager
def set_gpu_clock(
    ref_sm_clock: int = 1350, ref_mem_clock: int = 1215
) -> Iterator[tuple[float, float]]:
    """Holds the clocks of the first GPU, in MHz; gives what an A100 has at these in TFLOP/s and GB/s. Needs
    the rights to do so.
    """
    from .testing import nvsmi

    try:
        _nvidia_smi("-pm", "1")
        _nvidia_smi(f"--lock-gpu-clocks={ref_sm_clock},{ref_sm_clock}")
        _nvidia_smi(f"--lock-memory-clocks={ref_mem_clock},{ref_mem_clock}")
        for name, wanted in (("sm", ref_sm_clock), ("memory", ref_mem_clock)):
            found = nvsmi([f"clocks.current.{name}"])[0]
            assert abs(found - wanted) < 10, f"the {name} clock is {found} MHz, not {wanted}"
        yield 1e-6 * 2 * 108 * 4 * 256 * ref_sm_clock, 640 * 2 * ref_mem_clock * 1e-3
    finally:
        _nvidia_smi("-pm", "0")
        _nvidia_smi("-rgc")
        _nvidia_smi("-rmc")
