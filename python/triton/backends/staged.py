"""A kernel that the stages of another package's backend have made."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
from typing import Any


class StagedCode:
    """The results of all stages, with the members of a native compilation that a kernel uses."""

    abi = "plain"
    resources = None  # no tool has reported them before the code is loaded

    def __init__(
        self,
        key: str,
        files: dict[str, Any],
        metadata: dict[str, Any],
        binary_ext: str,
        device_type: str,
        times: dict[str, float],
        cache_hit: bool,
    ):
        self.hash = key
        self.name: str = metadata["name"]
        self.metadata = metadata
        self.times = times  # stage -> microseconds
        self.cache_hit = cache_hit
        self.loaded_resources = (0, 0, 0)
        self._files = files
        self._binary_ext = binary_ext
        self._device_type = device_type

    def stages(self) -> list[str]:
        return list(self._files)

    def stage(self, name: str) -> Any:
        return self._files[name]

    def write_view(self, root: str) -> str:
        """Writes each stage as `<root>/<base32 of hash>/<name>.<stage>`; returns the folder."""
        from ..runtime.cache import _base32

        folder = os.path.join(root, _base32(self.hash))
        os.makedirs(folder, exist_ok=True)
        for stage, content in self._files.items():
            data = content if isinstance(content, bytes) else str(content).encode()
            with open(os.path.join(folder, f"{self.name}.{stage}"), "wb") as file:
                file.write(data)
        return folder

    def load(self, device: Any) -> tuple[Any, Any]:
        """Module and function, as the driver loads them."""
        from ..runtime.driver import driver

        utils = driver.for_device(self._device_type).utils
        module, function, *resources = utils.load_binary(
            self.name, self._files[self._binary_ext], self.metadata["shared"], device
        )
        registers, spills, threads = [*resources, 0, 0, 0][:3]
        self.loaded_resources = (registers, spills, threads)
        return module, function
