"""A run's learning curve and test results as a picture. The only module that imports matplotlib."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from mcprl.runs.proof import Report

BLUE, GREEN, ORANGE, GREY = "#0072b2", "#009e73", "#d55e00", "#767676"
"""Colour-blind readers can distinguish them (Okabe & Ito)."""


def draw(report: Report, path: str | Path) -> None:
    """Draw validation success by step, and the test results beside it."""
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    learning, proof = figure.subplots(1, 2, sharey=True, width_ratios=(3.4, 1))
    _draw_learning(learning, report)
    _draw_proof(proof, report)
    for axes in (learning, proof):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.25)
        axes.set_axisbelow(True)
    figure.savefig(str(path), dpi=150)


def _draw_learning(axes: Axes, report: Report) -> None:
    """The steps of RL stand behind those of the warm start."""
    curve = report.curve
    start = max((step for step, *_ in curve.warm), default=0)
    for points, before, color, label in ((curve.warm, 0, GREEN, "supervised steps"), (curve.val, start, BLUE, "RL")):
        if points:
            steps, success, low, high = zip(*points, strict=True)
            steps = [before + step for step in steps]
            axes.fill_between(steps, low, high, color=color, alpha=0.15, linewidth=0)
            for edge in (low, high):
                axes.plot(steps, edge, color=color, alpha=0.5, linewidth=0.8)
            axes.plot(steps, success, color=color, marker="o", markersize=4, label=f"{label}, 95 % band")
    _draw_base(axes, report)
    if report.best_step:
        axes.axvline(start + report.best_step, color=ORANGE, linestyle=":", label="the tested adapter")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="best", frameon=False, fontsize="small")
    axes.set(xlabel="optimizer step", ylabel="success on the validation tasks", ylim=(0, 1.08))
    axes.set_title(f"{report.server}: learning", parse_math=False)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _draw_base(axes: Axes, report: Report) -> None:
    """The base model's validation, which is the first of a run that took no step before it."""
    first = next(iter(report.curve.warm or report.curve.val), None)
    if first and first[0] == 0:
        _, success, low, high = first
        bars = [[max(0.0, success - low)], [max(0.0, high - success)]]
        axes.errorbar([0], [success], yerr=bars, color=GREY, fmt="D", capsize=4, zorder=5, label="base model")


def _draw_proof(axes: Axes, report: Report) -> None:
    rates = {"base": report.test.base, "warm\nstart": report.test.warm, "trained": report.test.trained}
    tested = {name: rate for name, rate in rates.items() if rate}
    for place, (name, rate) in enumerate(tested.items()):
        axes.bar([place], [rate.success], color=ORANGE if name == "trained" else GREY, width=0.6)
        bars = [[rate.success - rate.ci95[0]], [rate.ci95[1] - rate.success]]
        axes.errorbar([place], [rate.success], yerr=bars, color="black", capsize=4, linewidth=1)
        axes.annotate(f"{100 * rate.success:.0f} %", (place, rate.ci95[1] + 0.015), ha="center")
    axes.set_xticks(range(len(tested)), list(tested))
    axes.set_title(f"{report.test.n} held-out tasks")
