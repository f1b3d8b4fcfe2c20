"""Shows what became of the configurations of a tuning: as text, and as a table in notebooks."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..autotuner import Autotuner
    from .config import Config
    from .search import Candidate, Search

_COLUMNS = ("", "configuration", "ms", "of best", "spread", "calls", "model ms", "limit", "outcome")
_OPTIONS = {"num_warps": 4, "num_stages": 3, "num_ctas": 1}


def config_text(config: Config) -> str:
    """Constants, and those launch options that are not the default ones."""
    options = {
        name: value
        for name, value in config.all_kwargs().items()
        if name in config.kwargs or _OPTIONS.get(name) != value
    }
    return ", ".join(f"{name}={value}" for name, value in options.items()) or "default"


def _median_of(timing: Any) -> float:
    return timing[0] if isinstance(timing, (list, tuple)) else timing


def _milliseconds(timing: Any) -> str:
    return "" if timing is None or math.isinf(_median_of(timing)) else f"{_median_of(timing):.4g}"


def _spread(timing: Any) -> str:
    """Half the width of the middle part of the samples."""
    if not isinstance(timing, (list, tuple)) or len(timing) < 3 or math.isinf(timing[0]):
        return ""
    return f"{(timing[2] - timing[1]) / 2 / max(timing[0], 1e-12):.1%}"


class TuningReport:
    """The candidates of one tuning, the best one first; prints as a table."""

    def __init__(self, name: str, key: tuple[Any, ...], search: Search, best: Config):
        self.name, self.key, self.best, self.seconds = name, key, best, search.seconds
        self.candidates = sorted(
            search.candidates, key=lambda one: (one.config != best, one.order(), one.index)
        )

    @property
    def timed(self) -> int:
        """How many were timed."""
        return sum(one.outcome in ("timed", "cut") for one in self.candidates)

    def rows(self) -> list[tuple[str, ...]]:
        first = next((one.timing for one in self.candidates if one.config == self.best), None)
        return [self._row(one, first) for one in self.candidates]

    def _row(self, candidate: Candidate, best: Any) -> tuple[str, ...]:
        timing = candidate.timing
        is_timed = _milliseconds(timing) != "" and best is not None
        ratio = f"{_median_of(best) / _median_of(timing):.2f}" if is_timed else ""
        estimate = candidate.estimate or {}
        model = f"{estimate['microseconds'] / 1e3:.4g}" if estimate.get("microseconds") else ""
        outcome = "best" if candidate.config == self.best else candidate.outcome
        return (
            str(candidate.index + 1),
            config_text(candidate.config),
            _milliseconds(timing),
            ratio,
            _spread(timing),
            str(len(candidate.samples.times) or ""),
            model,
            estimate.get("limit", ""),
            outcome + (f": {candidate.reason}" if candidate.reason else ""),
        )

    def _heading(self) -> str:
        return (
            f"{self.name}, key {self.key}: {self.timed} of {len(self.candidates)} configurations "
            f"timed in {self.seconds:.2f} s"
        )

    def __str__(self) -> str:
        table = [_COLUMNS, *self.rows()]
        widths = [max(len(row[column]) for row in table) for column in range(len(_COLUMNS))]
        lines = [self._heading()]
        for row in table:
            cells = zip(row, widths, range(len(widths)), strict=True)
            lines.append(
                "  ".join(
                    text.ljust(width) if column in (1, len(widths) - 1) else text.rjust(width)
                    for text, width, column in cells
                ).rstrip()
            )
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        def row(cells: tuple[str, ...], tag: str) -> str:
            return (
                "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
            )

        body = "".join(row(cells, "td") for cells in self.rows())
        caption = html.escape(self._heading())
        return f"<table><caption>{caption}</caption>{row(_COLUMNS, 'th')}{body}</table>"


def tuner_html(tuner: Autotuner) -> str:
    """An autotuner in a notebook: its choices by key, and the table of the latest tuning."""
    rows = "".join(
        f"<tr><td>{html.escape(str(key))}</td><td>{html.escape(config_text(config))}</td></tr>"
        for key, config in tuner.cache.items()
    )
    chosen = f"<table><tr><th>key</th><th>chosen</th></tr>{rows}</table>" if rows else ""
    report = tuner.report()
    return f"<p>{html.escape(repr(tuner))}</p>{chosen}{report._repr_html_() if report else ''}"
