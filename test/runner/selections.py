"""The run-tests of levels that do not have all of them, as files and folders of test/run."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import os
import sys

from programs import ROOT

sys.path.append(os.path.join(ROOT, "test"))

import _lists  # noqa: E402

# For compute-sanitizer: every kind of access, exchange between threads and loop.
SANITIZED = (
    "vector_add.py",
    "fused_softmax.py",
    "builtins/memory.py",
    "builtins/reductions.py",
    "builtins/shapes.py",
    "language/control_flow.py",
    "language/functions.py",
)
# In interpreter mode: each way in which a program's values, calls and loops use operations.
INTERPRETED = (
    "vector_add.py",
    "fused_softmax.py",
    "builtins/block_pointers.py",
    "builtins/host_descriptors.py",
    "builtins/loop_iterators.py",
    "builtins/program.py",
    "builtins/reductions.py",
    "kernels",
    "language",
)
# On simulated GPUs: every way in which threads share work.
SHARING = (
    "vector_add.py",
    "fused_softmax.py",
    "builtins/atomics.py",
    "builtins/atomic_loads.py",
    "builtins/debug.py",
    "builtins/descriptors.py",
    "builtins/dot.py",
    "builtins/gathers.py",
    "builtins/host_descriptors.py",
    "builtins/joins.py",
    "builtins/memory.py",
    "builtins/reductions.py",
    "builtins/scans.py",
    "builtins/shapes.py",
    "kernels",
    "language",
    "regressions",
    "stdlib/sorting.py",
)
# Instructions that only compute capability 9.0 has.
OF_HOPPER = ("builtins/producer_warps.py", "builtins/warp_group_dots.py")
# On simulated GPUs of AMD's: what a vendor's lowering has of its own.
OF_AMD = (
    "vector_add.py",
    "fused_softmax.py",
    "builtins/atomics.py",
    "builtins/dot.py",
    "builtins/fp8.py",
    "builtins/gathers.py",
    "builtins/libdevice.py",
    "builtins/mathematics.py",
    "builtins/memory.py",
    "builtins/reductions.py",
    "builtins/scans.py",
    "kernels",
    "language/functions.py",
    "language/wrapping.py",
    "random_tiles.py",
)
ON_SIMULATED_GPUS = {
    "sim:80": SHARING,
    "sim:90": (*SHARING, *OF_HOPPER),
    "sim:gfx942": OF_AMD,
    "sim:gfx1100": OF_AMD,
}


def files_of_cpus() -> set[str]:
    """Files that test the CPU's plan, below test/run."""
    return {name for name in _lists.listed("cpus_only.txt") if "::" not in name}
