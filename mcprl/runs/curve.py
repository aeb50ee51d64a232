"""A run's learning curve and test results as a picture. The only module that imports matplotlib."""

from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from mcprl.runs.proof import Report


def draw(report: Report, path: str | Path) -> None:
    """Draw validation success and training score by step, and the test results beside them."""
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    learning, proof = figure.subplots(1, 2, sharey=True, width_ratios=(3.4, 1))
    blue, orange, grey = "#0072b2", "#d55e00", "#767676"  # colour-blind readers can distinguish them (Okabe & Ito)
    if train := report.curve.train:
        learning.plot(*zip(*train, strict=True), color=grey, alpha=0.7, linewidth=1, label="mean training score")
    if val := report.curve.val:
        steps, success, low, high = zip(*val, strict=True)
        learning.fill_between(steps, low, high, color=blue, alpha=0.15, linewidth=0)
        learning.plot(steps, success, color=blue, marker="o", markersize=4, label="validation success, 95 % band")
    if report.best_step:
        learning.axvline(report.best_step, color=orange, linestyle=":", label="the tested adapter")
    if learning.get_legend_handles_labels()[0]:
        learning.legend(loc="best", frameon=False, fontsize="small")
    learning.set(xlabel="optimizer step", ylim=(0, 1.08))
    learning.set_title(f"{report.server}: learning", parse_math=False)
    learning.yaxis.set_major_formatter(PercentFormatter(1.0))
    learning.xaxis.set_major_locator(MaxNLocator(integer=True))

    rates = {"base": report.test.base, "warm\nstart": report.test.warm, "trained": report.test.trained}
    tested = {name: rate for name, rate in rates.items() if rate}
    for place, (name, rate) in enumerate(tested.items()):
        color = orange if name == "trained" else grey
        proof.bar([place], [rate.success], color=color, width=0.6)
        bars = [[rate.success - rate.ci95[0]], [rate.ci95[1] - rate.success]]
        proof.errorbar([place], [rate.success], yerr=bars, color="black", capsize=4, linewidth=1)
        proof.annotate(f"{100 * rate.success:.0f} %", (place, rate.ci95[1] + 0.015), ha="center")
    proof.set_xticks(range(len(tested)), list(tested))
    proof.set_title(f"{report.test.n} held-out tasks")
    for axes in (learning, proof):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.25)
        axes.set_axisbelow(True)
    figure.savefig(str(path), dpi=150)
