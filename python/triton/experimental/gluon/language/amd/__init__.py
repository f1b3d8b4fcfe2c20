"""Gluon on AMD's GPUs, by generation."""
# SPDX-License-Identifier: MIT

from . import cdna3, cdna4, cdna5, gfx1250, rdna3, rdna4
from ._layouts import AMDMFMALayout, AMDWMMALayout
from .warp_pipeline import warp_pipeline_stage

__all__ = [
    "AMDMFMALayout",
    "AMDWMMALayout",
    "cdna3",
    "cdna4",
    "cdna5",
    "gfx1250",
    "rdna3",
    "rdna4",
    "warp_pipeline_stage",
]
