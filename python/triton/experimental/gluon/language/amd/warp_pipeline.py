"""Stages of a loop that warps run out of step."""
# SPDX-License-Identifier: MIT

from ..._names import bind

__all__ = bind(globals(), "warp_pipeline_stage")
