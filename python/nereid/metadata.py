"""What `importlib.metadata` says of `triton` where Nereid provides it and no other is installed."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
from importlib.metadata import Distribution, DistributionFinder, MetadataPathFinder

from nereid_triton import FOLDER

from ._version import __version__

TRITON_VERSION = "3.9.0"  # what `triton.__version__` says
_TEXTS = {
    "METADATA": (
        f"Metadata-Version: 2.1\nName: triton\nVersion: {TRITON_VERSION}\n"
        f"Summary: The Triton language and compiler, provided by nereid-triton {__version__}\n"
    ),
    "INSTALLER": "nereid-triton\n",
    "top_level.txt": "triton\n",
}


class TritonDistribution(Distribution):
    """A distribution without files of its own: pip neither lists nor removes it."""

    def read_text(self, filename: str) -> str | None:
        return _TEXTS.get(filename)

    def locate_file(self, path: str | os.PathLike[str]) -> os.PathLike[str]:  # type: ignore[override]
        from pathlib import Path

        return Path(FOLDER, path)


def of_triton() -> list[Distribution]:
    """Empty where another triton is installed, whose metadata then holds: others rely on its version."""
    installed = MetadataPathFinder.find_distributions(DistributionFinder.Context(name="triton"))
    return [] if any(installed) else [TritonDistribution()]
