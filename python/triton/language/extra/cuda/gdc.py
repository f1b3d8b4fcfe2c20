"""Programmatic dependent launch, in a module of its own."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from ... import core
from . import gdc_launch_dependents, gdc_wait

__all__ = ["core", "gdc_launch_dependents", "gdc_wait"]
