"""Fixtures that several files of this folder share."""
# SPDX-License-Identifier: MIT

import pytest
import triton


@pytest.fixture
def cpu_is_active():
    """Makes the CPU driver active, also on a machine with a GPU, whose driver is the default."""
    triton.runtime.driver.set_active_to_cpu()
    yield
    triton.runtime.driver.reset_active()
