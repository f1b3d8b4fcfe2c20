"""Simulated GPUs for tests that launch on each of several."""
# SPDX-License-Identifier: MIT

import pytest
from triton import knobs
from triton.backends.sim.driver import SimDriver
from triton.runtime import driver


def simulators(*devices):
    """A fixture: the active driver, of each of these devices in turn."""

    @pytest.fixture(params=devices)
    def simulator(request):
        driver.set_active(SimDriver(request.param))
        yield driver.active
        driver.reset_active()

    return simulator


@pytest.fixture
def four_gpus():
    """The active driver has four simulated GPUs."""
    with knobs.runtime.scope():
        knobs.runtime.sim_devices = 4
        driver.set_active(SimDriver("sim"))
        yield
        driver.reset_active()
    knobs.apply_to_launches()
