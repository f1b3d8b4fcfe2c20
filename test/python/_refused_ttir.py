"""Texts of TTIR that the compiler refuses."""
# SPDX-License-Identifier: MIT

import pytest
import triton
from triton.runtime import driver


def refusal(tmp_path, text):
    """The diagnostics of a text that is refused."""
    path = tmp_path / "kernel.ttir"
    path.write_text(text)
    with pytest.raises(triton.CompilationError) as raised:
        triton.compile(str(path), target=driver.active.get_current_target())
    return raised.value.diagnostics
