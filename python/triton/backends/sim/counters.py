"""What the simulated GPU has counted in a launch."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..._C import libtriton


class Counters(Mapping):  # type: ignore[type-arg]
    """Name of a figure -> number; docs/guide/simulator.md lists them. `str` is a table."""

    def __init__(self, profile: Any):
        self._profile = profile
        self._figures: dict[str, float] = {
            name: int(value) if value == int(value) else value
            for name, value in profile.figures.items()
        }

    def table(self, gpu: str = "") -> str:
        """Totals, occupancy of a GPU, an estimate of the time on it, and a row per line of the
        source. `gpu` is "H200", "H100" or "A100"; the default fits the compute capability.
        """
        return self._profile.table(gpu)

    @functools.cached_property
    def lines(self) -> list[dict[str, Any]]:
        """The counts of each line of the source."""
        return self._described("")["lines"]

    def occupancy(self, gpu: str = "") -> dict[str, Any]:
        """CTAs and warps that an SM runs at once, and what limits them."""
        return self._described(gpu)["occupancy"]

    def estimate(self, gpu: str = "") -> dict[str, Any]:
        """Seconds on a GPU, and the seconds that each resource alone would take."""
        return self._described(gpu)["estimate"]

    def _described(self, gpu: str) -> dict[str, Any]:
        return json.loads(self._profile.json(gpu))

    def __getitem__(self, name: str) -> float:
        if name not in self._figures:
            near = libtriton.suggest_name(name, list(self._figures))
            raise KeyError(f"there is no counter {name!r}{near}")
        return self._figures[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._figures)

    def __len__(self) -> int:
        return len(self._figures)

    def __repr__(self) -> str:
        return f"Counters({self._figures})"

    def __str__(self) -> str:
        return self.table()


def counters_of(kernel: Any, name: str) -> Counters:
    """Those of the last counted launch of a loaded kernel."""
    profile = None if kernel is None else libtriton.driver_sim.profile(kernel)
    if profile is None:
        raise RuntimeError(
            f"no launch of `{name}` was counted: counters need a simulated GPU (TRITON_DEVICE=sim) "
            "and TRITON_SIM_COUNTERS=1, or triton.knobs.runtime.sim_counters = True, before a "
            "launch"
        )
    return Counters(profile)
