"""Stable conditions for measuring GPUs: fixed clocks, and no garbage collection during graph
capture.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import gc
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def cuda_graph_without_gc(*args: Any, **kwargs: Any) -> Iterator[Any]:
    """`torch.cuda.graph` with garbage collection disabled: destroying a kernel would unload its
    module, which no capture allows.
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
    """Fixes the clocks of the first GPU, in MHz; yields the peak of an A100 at these clocks in
    TFLOP/s and GB/s. Needs the rights to do so.
    """
    from .testing import nvsmi

    try:
        _nvidia_smi("-pm", "1")
        _nvidia_smi(f"--lock-gpu-clocks={ref_sm_clock},{ref_sm_clock}")
        _nvidia_smi(f"--lock-memory-clocks={ref_mem_clock},{ref_mem_clock}")
        for name, wanted in (("sm", ref_sm_clock), ("memory", ref_mem_clock)):
            shown = nvsmi([f"clocks.current.{name}"])[0]
            assert abs(shown - wanted) < 10, f"the {name} clock is {shown} MHz, not {wanted}"
        yield 1e-6 * 2 * 108 * 4 * 256 * ref_sm_clock, 640 * 2 * ref_mem_clock * 1e-3
    finally:
        _nvidia_smi("-pm", "0")
        _nvidia_smi("-rgc")
        _nvidia_smi("-rmc")
