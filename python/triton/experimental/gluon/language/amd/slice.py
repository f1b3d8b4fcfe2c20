"""Parts of tiles in registers."""
# SPDX-License-Identifier: MIT

from ..._names import bind

__all__ = bind(globals(), "slice")
