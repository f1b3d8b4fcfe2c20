"""What the simulated GPU has counted in a launch."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

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

    @property
    def instructions(self) -> list[dict[str, Any]]:
        """The counts of each PTX instruction, in the order of the code."""
        return self._profile.instructions

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
