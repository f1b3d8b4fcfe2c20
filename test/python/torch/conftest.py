"""All tests here need torch; each run compiles into its own folders."""
# SPDX-License-Identifier: MIT

import pytest


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "inductor"))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    monkeypatch.setenv("TORCHINDUCTOR_COMPILE_THREADS", "1")
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()
