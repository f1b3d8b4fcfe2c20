"""Kernels whose warps have different tasks give the same numbers in every order that the ISA allows."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable

import numpy as np
import pytest
from triton import knobs
from triton.backends.sim.driver import SimDriver
from triton.runtime import driver

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "others"))

import cases  # noqa: E402
import kernels  # noqa: E402

SEEDS = range(20)


@pytest.fixture(autouse=True)
def _simulated():
    driver.set_active(SimDriver("sim:90"))
    yield
    del knobs.runtime.sim_seed
    driver.reset_active()


@dataclasses.dataclass
class Variant:
    case: str
    launch: Callable[[], cases.Launch]
    constants: dict[str, object]
    num_warps: int
    warps: int  # with those that only load
    rows: int = 64  # of a program


WIDE = {"D": 128, "BM": 128, "SPECIALIZE": True}
VARIANTS = [
    Variant("attention", cases.attention, {}, 4, 4),
    Variant("attention", lambda: cases.attention_of(False, 384, 128), WIDE, 8, 12, 128),
    Variant("attention_causal", lambda: cases.attention_of(True, 384, 128), WIDE, 8, 12, 128),
    Variant("matmul_persistent", cases.matmul_persistent, {}, 4, 4),
    Variant("matmul_persistent", cases.matmul_persistent, {}, 8, 8),
    Variant("matmul_grouped", cases.matmul_grouped, {}, 4, 4),
]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: f"{variant.case}-{variant.warps}")
def test_every_seed(variant: Variant) -> None:
    case = cases.CASES[variant.case]
    kernel = getattr(kernels, case.kernel)
    for seed in SEEDS:
        knobs.runtime.sim_seed = seed
        launch = variant.launch()
        grid = (launch.grid[0] * 64 // variant.rows, *launch.grid[1:])
        compiled = kernel[grid](
            *launch.args, **(case.constants | variant.constants), num_warps=variant.num_warps
        )
        assert compiled.metadata.num_warps == variant.warps
        for got, wanted, tolerance in launch.expected:
            assert np.all(np.abs(got - wanted) <= tolerance * (1 + np.abs(wanted))), f"seed {seed}"
