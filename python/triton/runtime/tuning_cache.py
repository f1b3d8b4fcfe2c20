"""Timings of earlier autotuning runs, stored next to the compiled kernels."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from .. import knobs
from .cache import get_cache_manager, triton_key
from .config import Config

if TYPE_CHECKING:
    from .autotuner import Autotuner


class TuningRecord:
    """One file: the timings of these configurations for one tuning key."""

    @staticmethod
    def open(tuner: Autotuner, key: tuple[Any, ...], configs: list[Config]) -> TuningRecord | None:
        """None where a record would be invalid: configurations with hooks, interpreter mode."""
        if knobs.runtime.interpret or any(config.pre_hook for config in configs):
            return None
        return TuningRecord(tuner, key, configs)

    def __init__(self, tuner: Autotuner, key: tuple[Any, ...], configs: list[Config]):
        from ..compiler import make_backend
        from .driver import driver
        from .jit import JITFunction

        fn: Any = tuner.fn
        while not isinstance(fn, JITFunction):
            fn = fn.fn
        backend = make_backend(driver.active.get_current_target())
        key_parts = [triton_key(), backend.hash(), fn.cache_key, str(key), *map(str, configs)]
        self.configs = configs
        self.file_name = f"{fn.__name__[:150]}.autotune.json"
        self.manager = get_cache_manager(
            hashlib.sha256("-".join(key_parts).encode("utf-8")).hexdigest()
        )
        self.key = key

    def read(self) -> dict[Config, Any] | None:
        """None where there is no usable record."""
        path = self.manager.get_file(self.file_name)
        if path is None:
            return None
        try:
            with open(path, encoding="utf-8") as file:
                timings = json.load(file)["configs_timings"]
            by_text = {str(config): config for config in self.configs}
            return {by_text[text]: timing for text, timing in timings} or None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, timings: dict[Config, Any]) -> None:
        content = {"key": [str(part) for part in self.key]}
        self.manager.put(
            json.dumps(
                {
                    **content,
                    "configs_timings": [
                        (str(config), timing) for config, timing in timings.items()
                    ],
                }
            ),
            self.file_name,
            binary=False,
        )
