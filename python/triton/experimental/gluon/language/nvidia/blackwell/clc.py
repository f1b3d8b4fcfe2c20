"""Work that a running cluster takes over from ones that have not started."""
# SPDX-License-Identifier: MIT

from ...._names import BLACKWELL, bind

__all__ = bind(globals(), "try_cancel load_result clc_result clc_result_type", BLACKWELL)
