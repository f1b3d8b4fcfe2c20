"""PTX that Triton made of the kernels in kernels.py gives numpy's results (test/scripts/make_triton_ptx.py makes it)."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
import math
import os
import sys
import tarfile
from typing import Any

import numpy as np
import pytest
from triton.runtime.errors import SanitizerError
from triton.tools.ptx import run_ptx

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import cases  # noqa: E402

ARCHIVE = os.path.join(HERE, "triton-3.6.0.tar.xz")
SEEDS = (0, 1, 2)
WORDS = "bounds,uninit,race,sync"
# All warps load the counter of rows that one thread exchanges, without a barrier between.
RACES = ("layer_norm_backward",)


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    with tarfile.open(ARCHIVE) as archive:
        return {member.name: archive.extractfile(member).read().decode() for member in archive}


def values_of(array: np.ndarray) -> np.ndarray:
    return cases.from_bf16(array) if array.dtype == np.uint16 else array.astype(np.float64)


def run(ptx: str, metadata: dict[str, Any], launch: cases.Launch, seed: int, words: str) -> int:
    scratch = [size * math.prod(launch.grid) for size in metadata["scratch"]]
    return run_ptx(
        ptx,
        launch.grid,
        launch.args,
        shared=metadata["shared"],
        scratch=scratch,
        sanitize=words,
        seed=seed,
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "name,gpu", [(name, gpu) for name, case in cases.CASES.items() for gpu in case.gpus]
)
def test_results(texts: dict[str, str], name: str, gpu: int, seed: int) -> None:
    launch = cases.CASES[name].launch()
    words = WORDS.replace(",race", "") if name in RACES else WORDS
    ptx, metadata = texts[f"{name}.sm{gpu}.ptx"], json.loads(texts[f"{name}.sm{gpu}.json"])
    assert run(ptx, metadata, launch, seed, words) > 0
    for got, expected, tolerance in launch.expected:
        bound = tolerance * (1 + np.abs(expected))
        assert np.all(np.abs(values_of(got) - expected) <= bound), (
            name,
            np.abs(values_of(got) - expected).max(),
        )


@pytest.mark.parametrize("gpu", (80, 90))
@pytest.mark.parametrize("name", RACES)
def test_races(texts: dict[str, str], name: str, gpu: int) -> None:
    ptx, metadata = texts[f"{name}.sm{gpu}.ptx"], json.loads(texts[f"{name}.sm{gpu}.json"])
    with pytest.raises(SanitizerError, match="atomic update .* are in no order .sanitize-race."):
        run(ptx, metadata, cases.CASES[name].launch(), 0, WORDS)


def test_the_archive_has_each_case(texts: dict[str, str]) -> None:
    wanted = {f"{name}.sm{gpu}" for name, case in cases.CASES.items() for gpu in case.gpus}
    assert {name.removesuffix(".ptx") for name in texts if name.endswith(".ptx")} == wanted
