"""The CTAs of a cluster."""
# SPDX-License-Identifier: MIT

from ...._names import bind

__all__ = bind(globals(), "arrive wait barrier")
