"""The table of a section, and its plot as SVG."""
# SPDX-License-Identifier: MIT

import math
import os

from tabulate import tabulate

COLOURS = ("#1f5fa8", "#d9822b", "#5f9e54", "#8b5fa8", "#a85f5f", "#6b6b6b")


def unit_of(results) -> tuple[str, float]:
    """One unit for a section, so that its lines are comparable."""
    return ("ms", 1e3) if results[0]["section"] == "compile" else ("us", 1e6)


def rate_of(results) -> tuple[str, str, str, float] | None:
    """What a section counts per second, if anything: the key, the unit, its meaning, the factor."""
    if any(result["flops"] for result in results):
        return "flops", "GFLOP/s", "GFLOP/s", 1e-9
    if any(result["bytes"] for result in results):
        return "bytes", "GB/s", "GB/s of input and output", 1e-9
    return None


def digits(value: float | None) -> str:
    """At least three significant digits."""
    if value is None:
        return "-"
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def names_in(results) -> list[str]:
    """Every contestant of the results, this package first."""
    return list(dict.fromkeys(who for result in results for who in result["seconds"]))


def table(results, ours: str) -> str:
    """A line per case: this package's time, the peers', its rate, the best peer's time over
    its own, the spread of its samples.
    """
    unit, factor = unit_of(results)
    names, rate = names_in(results), rate_of(results)
    lines = []
    for result in results:
        seconds = result["seconds"]
        line = [result["title"]]
        line += [digits(factor * seconds[who] if who in seconds else None) for who in names]
        if rate:
            line.append(digits(rate[3] * result[rate[0]] / seconds[ours]))
        ratio = f"{result['ratio']:.2f}" if result["ratio"] else "-"
        lines.append([*line, ratio, f"{100 * result['spread'][ours]:.0f}%"])
    headers = [results[0]["section"], *(f"{who}, {unit}" for who in names)]
    headers += [f"{ours}, {rate[1]}"] if rate else []
    headers += ["ratio", "spread"]
    align = ["left", *["right"] * (len(headers) - 1)]
    return tabulate(lines, headers, colalign=align, disable_numparse=True)


def mean_ratio(results) -> float | None:
    """The geometric mean."""
    ratios = [result["ratio"] for result in results if result["ratio"]]
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios)) if ratios else None


def can_plot() -> bool:
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("svg")
    # Equal figures give equal files.
    matplotlib.rcParams.update({"svg.hashsalt": "nereid", "svg.fonttype": "none", "font.size": 9})
    return True


def plot(results, folder: str, device: str, machine: str, roofline: dict | None = None) -> str:
    """Draws a section into `folder`, with the machine's roofline where one is given, and returns the
    file's name.
    """
    import matplotlib.pyplot as plt

    section = results[0]["section"]
    groups = list(dict.fromkeys(result["group"] for result in results))
    figure, panels = plt.subplots(
        1, len(groups), figsize=(1 + 5.5 * len(groups), 3.8), squeeze=False, layout="constrained"
    )
    for group, panel in zip(groups, panels[0], strict=True):
        members = [result for result in results if result["group"] == group]
        if rate_of(members):
            lines(panel, members, roofline)
        else:
            bars(panel, members)
        panel.set_title(" ".join(filter(None, (section, group))))
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(axis="y" if rate_of(members) else "x", alpha=0.3)
    panels[0][0].legend(frameon=False)
    figure.suptitle(machine, fontsize=8, color="#555555")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{device}-{section}.svg")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    return path


def seconds_at_least(result: dict, roofline: dict[str, float]) -> float:
    """What a case takes that reaches the roofline: its bytes or its operations, whichever takes
    longer.
    """
    return max(result["bytes"] / roofline["bytes"], result["flops"] / roofline["flops"])


def lines(panel, results, roofline: dict | None) -> None:
    """Rates over sizes, which are evenly spaced: adjacent lengths would coincide on an axis to
    scale.
    """
    amount, _, meaning, factor = rate_of(results)
    for who, colour in zip(names_in(results), COLOURS, strict=False):
        indices = [i for i, result in enumerate(results) if who in result["seconds"]]
        rates = [factor * results[i][amount] / results[i]["seconds"][who] for i in indices]
        panel.plot(indices, rates, marker="o", markersize=4, label=who, color=colour)
    if roofline:
        at_most = [factor * r[amount] / seconds_at_least(r, roofline) for r in results]
        label = f"roofline: {1e-9 * roofline['bytes']:.0f} GB/s of memory"
        if amount == "flops":
            label += f", {1e-9 * roofline['flops']:.0f} GFLOP/s"
        panel.plot(at_most, linestyle="--", linewidth=1, color="#333333", label=label)
    panel.set_xticks(range(len(results)), [r["name"] for r in results], rotation=35, ha="right")
    panel.set_ylim(bottom=0)
    panel.set_ylabel(meaning)


def bars(panel, results) -> None:
    unit, factor = unit_of(results)
    names = names_in(results)
    height = 0.8 / len(names)
    for k, (who, colour) in enumerate(zip(names, COLOURS, strict=False)):
        indices = [i for i, result in enumerate(results) if who in result["seconds"]]
        values = [factor * results[i]["seconds"][who] for i in indices]
        at = [i + height * (k - (len(names) - 1) / 2) for i in indices]
        drawn = panel.barh(at, values, height, label=who, color=colour)
        panel.bar_label(drawn, fmt="%.3g", padding=3, fontsize=8)
    panel.set_yticks(range(len(results)), [result["name"] for result in results])
    panel.invert_yaxis()
    panel.margins(x=0.12)
    panel.set_xlabel(f"{unit}, less is better")
