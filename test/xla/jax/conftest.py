"""Two CPU devices, and the device that JAX computes on."""
# SPDX-License-Identifier: MIT

import os

import pytest


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--device") == "cpu":  # before JAX reads it
        os.environ["JAX_PLATFORMS"] = "cpu"
        os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2 " + os.environ.get(
            "XLA_FLAGS", ""
        )


@pytest.fixture
def on_cpu(device):
    if device != "cpu":
        pytest.skip("looks at the CPU")
