"""Timings of earlier autotuning runs, stored next to the compiled kernels."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from ... import knobs
from ..cache import failures_warn, get_cache_manager, read_own_file, triton_key
from .config import Config

if TYPE_CHECKING:
    from ..autotuner import Autotuner


def _is_timing(value: Any) -> bool:
    """A number of milliseconds, or its quantiles."""
    numbers = value if isinstance(value, list) and value else [value]
    return all(isinstance(number, (int, float)) for number in numbers)


class TuningRecord:
    """One file: the timings of these configurations for one tuning key."""

    @staticmethod
    def open(tuner: Autotuner, key: tuple[Any, ...], configs: list[Config]) -> TuningRecord | None:
        """None where a record would be invalid: configurations with hooks, interpreter mode."""
        if knobs.runtime.interpret or any(config.pre_hook for config in configs):
            return None
        return TuningRecord(tuner, key, configs)

    def __init__(self, tuner: Autotuner, key: tuple[Any, ...], configs: list[Config]):
        from ...compiler import make_backend
        from ..driver import driver
        from ..jit import JITFunction

        fn: Any = tuner.fn
        while not isinstance(fn, JITFunction):
            fn = fn.fn
        backend = make_backend(driver.active.get_current_target())
        key_parts = [triton_key(), backend.hash(), fn.cache_key, str(key), *map(str, configs)]
        if (search := tuner.search or knobs.autotuning.search) != "exhaustive":
            key_parts.append(search)  # it times other configurations
        self.configs = configs
        self.file_name = f"{fn.__name__[:150]}.autotune.json"
        self.manager = get_cache_manager(
            hashlib.sha256("-".join(key_parts).encode("utf-8")).hexdigest()
        )
        self.key = key

    def read(self) -> dict[Config, Any] | None:
        """None where there is no usable record."""
        text = None
        with failures_warn():
            path = self.manager.get_file(self.file_name)
            text = read_own_file(path) if path is not None else None
        if text is None:
            return None
        try:
            timings = json.loads(text)["configs_timings"]
            by_text = {str(config): config for config in self.configs}
            timed = {by_text[text]: timing for text, timing in timings}
        except (ValueError, LookupError, TypeError):
            return None
        return timed if timed and all(map(_is_timing, timed.values())) else None

    def write(self, timings: dict[Config, Any]) -> None:
        content = {
            "key": [str(part) for part in self.key],
            "configs_timings": [(str(config), timing) for config, timing in timings.items()],
        }
        with failures_warn():
            self.manager.put(json.dumps(content), self.file_name, binary=False)
