"""A run's learning curve and test results, and several runs beside each other, as pictures. The only module that
imports matplotlib."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, PercentFormatter

from mcprl.runs.chart import ChartedRun
from mcprl.runs.figures import NAMES
from mcprl.runs.proof import Report
from mcprl.text import counted

BLUE, GREEN, ORANGE, GREY = "#0072b2", "#009e73", "#d55e00", "#767676"
SKY, PURPLE, YELLOW = "#56b4e9", "#cc79a7", "#f0e442"
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


def draw_runs(runs: Sequence[ChartedRun], path: str | Path, marks: Mapping[str, float] = {}) -> Figure:
    """Draw the runs' models beside each other, and below them what 1,000 tasks cost if that is known; the suffix of the
    path says the format. `marks`: what others report of their own set-up, 0..1 by name, as grey lines. Returns what was
    drawn.
    """
    priced = any(bar.cost is not None for run in runs for bar in run.bars)
    figure = Figure(figsize=(2.4 + 2.4 * len(runs), 6.4 if priced else 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    rows = figure.subplots(1 + priced, 1, sharex=True, squeeze=False, height_ratios=(2, 1)[: 1 + priced])[:, 0]
    colors = {"base": GREY, "began from": SKY, "supervised": GREEN, "trained": ORANGE}
    others = list(dict.fromkeys(bar.model for run in runs for bar in run.bars if bar.model not in colors))
    colors |= dict(zip(others, cycle((BLUE, PURPLE, YELLOW)), strict=False))
    ticks: list[tuple[float, str]] = []
    place = 0
    for run in runs:
        middle = place + (len(run.bars) - 1) / 2
        ticks.append((middle, f"{run.name}\n{counted(run.tasks, 'task')} ({run.suite})"))
        for bar in run.bars:
            rows[0].bar([place], [bar.success], color=colors[bar.model], width=0.8)
            ends = [[max(0.0, bar.success - bar.ci95[0])], [max(0.0, bar.ci95[1] - bar.success)]]
            rows[0].errorbar([place], [bar.success], yerr=ends, color="black", capsize=4, linewidth=1)
            rows[0].annotate(f"{100 * bar.success:.0f} %", (place, bar.ci95[1] + 0.015), ha="center")
            if priced and bar.cost is not None:
                rows[1].bar([place], [bar.cost], color=colors[bar.model], width=0.8)
                rows[1].annotate(f"${bar.cost:.2f}", (place, bar.cost), ha="center", va="bottom")
            place += 1
        place += 1
    for name, share in marks.items():
        rows[0].axhline(share, color=GREY, linestyle=":", linewidth=1, zorder=0)
        rows[0].annotate(f"{name} (theirs, their set-up)", (place - 1.4, share), ha="right", va="bottom", color=GREY)
    shown = {bar.model for run in runs for bar in run.bars}
    rows[0].legend(handles=[Patch(color=colors[m], label=m) for m in colors if m in shown], frameon=False)
    rows[0].set(ylabel="success on held-out tasks, 95 %", ylim=(0, 1.12))
    rows[0].yaxis.set_major_formatter(PercentFormatter(1.0))
    if priced:
        rows[1].set(ylabel="US dollars for 1,000 tasks")
        rows[1].margins(y=0.2)
    rows[-1].set_xticks([at for at, _ in ticks], [name for _, name in ticks], parse_math=False)
    for axes in rows:
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(str(path), dpi=150)
    return figure


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
    """The first validation, if it is of what training began from: the base model, or a LoRA."""
    first = next(iter(report.curve.warm or report.curve.val), None)
    if first and first[0] == 0:
        _, success, low, high = first
        bars = [[max(0.0, success - low)], [max(0.0, high - success)]]
        name = NAMES["start" if report.test.start else "base"]
        axes.errorbar([0], [success], yerr=bars, color=GREY, fmt="D", capsize=4, zorder=5, label=name)


def _draw_proof(axes: Axes, report: Report) -> None:
    test = report.test
    rates = {"base": test.base, "began\nfrom": test.start, "warm\nstart": test.warm, "trained": test.trained}
    tested = {name: rate for name, rate in rates.items() if rate}
    for place, (name, rate) in enumerate(tested.items()):
        axes.bar([place], [rate.success], color=ORANGE if name == "trained" else GREY, width=0.6)
        bars = [[rate.success - rate.ci95[0]], [rate.ci95[1] - rate.success]]
        axes.errorbar([place], [rate.success], yerr=bars, color="black", capsize=4, linewidth=1)
        axes.annotate(f"{100 * rate.success:.0f} %", (place, rate.ci95[1] + 0.015), ha="center")
    axes.set_xticks(range(len(tested)), list(tested))
    axes.set_title(f"{counted(report.test.n, 'held-out task')}")
