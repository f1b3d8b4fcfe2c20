"""The default device of kernels, and the driver of each kind of device."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from .. import knobs
from .._C import libtriton
from ..backends import DriverBase, backends

# Device names, as tensors report them, and their backends.
_BACKEND_OF_DEVICE = {"cpu": "cpu", "cuda": "nvidia", "hip": "amd", "xpu": "intel"}


def _create_simulator(device: str) -> DriverBase:
    from ..backends.sim.driver import SimDriver

    return SimDriver(device)


def _default_backend() -> str | None:
    """The backend that the user chose; None where there is no choice."""
    device = knobs.runtime.device
    if not device:
        return knobs.runtime.default_backend
    if device not in ("cpu", "cuda", "hip"):
        raise RuntimeError(
            f"TRITON_DEVICE is {device!r}; it may be cpu, cuda, hip, sim, sim:80 or sim:gfx942"
        )
    return _BACKEND_OF_DEVICE[device]


def _create_driver_for(device_type: str) -> DriverBase:
    if device_type.startswith("sim:"):
        return _create_simulator(device_type)
    name = _BACKEND_OF_DEVICE.get(device_type, device_type)
    if name not in backends:
        raise ValueError(
            f"tensors are on a {device_type} device, and this build has no backend for "
            f"it; available: {', '.join(backends)}"
        )
    return backends[name].driver()


def _create_driver() -> DriverBase:
    if (knobs.runtime.device or "").startswith("sim"):
        return _create_simulator(knobs.runtime.device)
    chosen = _default_backend()
    if chosen:
        if chosen not in backends:
            raise RuntimeError(f"Unknown backend '{chosen}'; available: {', '.join(backends)}")
        return backends[chosen].driver()
    active = [backend.driver for backend in backends.values() if backend.driver.is_active()]
    # The CPU is always present: it is the default only if there is no other device.
    active = [cls for cls in active if getattr(cls, "device_type", "") != "cpu"] or active
    if len(active) != 1:
        raise RuntimeError(f"{len(active)} active drivers ({active}). There should only be one.")
    return active[0]()


class DriverConfig:
    """`triton.runtime.driver`: created at import, searches for devices at first use."""

    def __init__(self) -> None:
        self._default: DriverBase | None = None
        self._active: DriverBase | None = None
        self._by_device: dict[str, DriverBase] = {}

    @property
    def default(self) -> DriverBase:
        if self._default is None:
            self._default = _create_driver()
            if self._active is None:
                self._tell()
        return self._default

    @property
    def active(self) -> DriverBase:
        return self._active if self._active is not None else self.default

    def set_active(self, driver: DriverBase) -> None:
        self._active = driver
        self._tell()
        libtriton.bump_epoch()

    def reset_active(self) -> None:
        self._active = None
        self._tell()
        libtriton.bump_epoch()

    def _tell(self) -> None:
        """The launcher learns which GPUs other libraries' arrays are on: all of them say "cuda"."""
        driver = self._active or self._default
        libtriton.set_active_device(getattr(driver, "device_type", ""))

    def set_active_to_cpu(self) -> None:
        self.set_active(self.for_device("cpu"))

    def for_device(self, device_type: str) -> DriverBase:
        """The driver for tensors of one device type: the active one if it matches, or if it names
        no type, as those of other packages.
        """
        if getattr(self.active, "device_type", device_type) == device_type:
            return self.active
        if device_type not in self._by_device:
            self._by_device[device_type] = _create_driver_for(device_type)
        return self._by_device[device_type]


driver = DriverConfig()
