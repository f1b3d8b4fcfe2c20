"""The workgroups of a cluster."""
# SPDX-License-Identifier: MIT

from ...._names import CDNA5, bind

__all__ = bind(globals(), "arrive wait", CDNA5)
