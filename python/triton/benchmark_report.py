"""`perf_report`: runs a benchmark over a range of sizes, prints a table and draws it."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any


class Benchmark:
    """One plot: the parameter along the x axis, and the lines."""

    def __init__(
        self,
        x_names: Sequence[str],
        x_vals: Sequence[Any],
        line_arg: str,
        line_vals: Sequence[Any],
        line_names: Sequence[str],
        plot_name: str,
        args: dict[str, Any],
        xlabel: str = "",
        ylabel: str = "",
        x_log: bool = False,
        y_log: bool = False,
        styles: Sequence[tuple[str, str]] | None = None,
    ):
        self.x_names = x_names
        self.x_vals = x_vals
        self.x_log = x_log
        self.line_arg = line_arg
        self.line_vals = line_vals
        self.line_names = line_names
        self.y_log = y_log
        self.styles = styles
        self.xlabel = xlabel
        self.ylabel = ylabel
        self.plot_name = plot_name
        self.args = args


class Mark:
    """A benchmark function with its plots. The function returns a value, or (value, lower bound,
    upper bound).
    """

    def __init__(self, fn: Callable[..., Any], benchmarks: Benchmark | Sequence[Benchmark]):
        self.fn = fn
        self.benchmarks = benchmarks

    def _rows(self, bench: Benchmark, kwargs: dict[str, Any]) -> list[list[Any]]:
        """x values, then for each line its value, lower and upper bound."""
        rows = []
        for x in bench.x_vals:
            values = list(x) if isinstance(x, (list, tuple)) else [x] * len(bench.x_names)
            if len(values) != len(bench.x_names):
                raise ValueError(f"Expected {len(bench.x_names)} values, got {x}")
            row = list(values)
            for line in bench.line_vals:
                result = self.fn(
                    **dict(zip(bench.x_names, values, strict=True)),
                    **{bench.line_arg: line},
                    **bench.args,
                    **kwargs,
                )
                row += list(result) if isinstance(result, (list, tuple)) else [result, None, None]
            rows.append(row)
        return rows

    def _frame(self, bench: Benchmark, rows: list[list[Any]], bounds: bool) -> Any:
        import pandas

        columns = list(bench.x_names)
        for name in bench.line_names:
            columns += [
                f"{name} ({bench.ylabel})" if not bounds and bench.ylabel else name,
                f"{name}-min",
                f"{name}-max",
            ]
        frame = pandas.DataFrame(rows, columns=columns)
        if bounds:
            return frame
        return frame[[column for column in columns if not column.endswith(("-min", "-max"))]]

    def _draw(self, bench: Benchmark, rows: list[list[Any]], save_path: str, show: bool) -> None:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots()
        xs = [row[0] for row in rows]
        for index, name in enumerate(bench.line_names):
            first = len(bench.x_names) + 3 * index
            color, style = bench.styles[index] if bench.styles else (None, None)
            axes.plot(xs, [row[first] for row in rows], label=name, color=color, ls=style)
            low, high = [row[first + 1] for row in rows], [row[first + 2] for row in rows]
            if None not in low and None not in high:
                axes.fill_between(xs, low, high, alpha=0.15, color=color)
        axes.legend()
        axes.set_xlabel(bench.xlabel or bench.x_names[0])
        axes.set_ylabel(bench.ylabel)
        axes.set_xscale("log" if bench.x_log else "linear")
        axes.set_yscale("log" if bench.y_log else "linear")
        if save_path:
            figure.savefig(os.path.join(save_path, f"{bench.plot_name}.png"))
        if show:
            plt.show()
        plt.close(figure)

    def run(
        self,
        show_plots: bool = False,
        print_data: bool = False,
        save_path: str = "",
        return_df: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Runs all benchmarks. Tables need pandas, plots matplotlib."""
        single = isinstance(self.benchmarks, Benchmark)
        benchmarks: Any = [self.benchmarks] if single else self.benchmarks
        if save_path:
            os.makedirs(save_path, exist_ok=True)
        frames = []
        for bench in benchmarks:
            rows = self._rows(bench, kwargs)
            if bench.plot_name and (show_plots or save_path):
                self._draw(bench, rows, save_path, show_plots)
            if print_data:
                print(f"{bench.plot_name}:")
                print(self._frame(bench, rows, bounds=False).to_string())
            if save_path:
                self._frame(bench, rows, bounds=True).to_csv(
                    os.path.join(save_path, f"{bench.plot_name}.csv"), index=False
                )
            if return_df:
                frames.append(self._frame(bench, rows, bounds=True))
        if save_path:
            self._write_page(benchmarks, save_path)
        return (frames[0] if single else frames) if return_df else None

    @staticmethod
    def _write_page(benchmarks: Sequence[Benchmark], save_path: str) -> None:
        with open(os.path.join(save_path, "results.html"), "w", encoding="utf-8") as page:
            page.write("<html><body>\n")
            for bench in benchmarks:
                page.write(f'<img src="{bench.plot_name}.png"/>\n')
            page.write("</body></html>\n")


def perf_report(
    benchmarks: Benchmark | Sequence[Benchmark],
) -> Callable[[Callable[..., Any]], Mark]:
    """Decorator: makes `fn.run(...)` measure the function over the sizes of the benchmarks."""
    return lambda fn: Mark(fn, benchmarks)
