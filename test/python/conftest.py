"""Fixtures that several files of this folder share."""
# SPDX-License-Identifier: MIT

import pytest
import triton
from triton import knobs


@pytest.fixture
def cpu_is_active():
    """Makes the CPU driver active, also on a machine with a GPU, whose driver is the default."""
    triton.runtime.driver.set_active_to_cpu()
    yield
    triton.runtime.driver.reset_active()


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """The folder of a kernel cache that is empty: a kernel found in a cache is not compiled, and runs no Python code."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def nvidia(own_cache):
    """`knobs.nvidia`, which a test may change."""
    with knobs.nvidia.scope():
        yield knobs.nvidia
