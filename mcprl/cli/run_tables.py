"""What is shown of runs: their list, one run, its report, and the last screen of a training."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from mcprl.cli.output import wrapped
from mcprl.cli.tables import sheet
from mcprl.errors import JournalError, McprlError
from mcprl.runs import report
from mcprl.runs.database import is_written
from mcprl.runs.journal import FILE, Journal
from mcprl.runs.learning import wall_s
from mcprl.runs.proof import chosen_adapter
from mcprl.text import counted

_MOST_STEPS = 10
_METRICS = ("score", "success", "dropped_groups", "errors", "turns", "loss", "grad_norm", "sampler_gap_max")


@dataclass(frozen=True)
class RunLine:
    """A run in the list. `status` is running, finished, stopped, or why it cannot be read. Success and gain are
    fractions, `None` before the test."""

    run: str
    begun: str
    model: str
    status: str
    steps: int | None
    base: float | None
    trained: float | None
    gain: float | None


def run_lines(folder: Path) -> list[RunLine]:
    """The runs in `folder`, the newest last."""
    found: list[RunLine] = []
    for path in sorted(folder.glob(f"*/{FILE}"), key=lambda path: path.stat().st_mtime):
        try:
            with Journal.open(path.parent) as journal:
                found.append(_run_line(journal))
        except McprlError as error:
            found.append(RunLine(path.parent.name, "", "", str(error), None, None, None, None))
    return found


def _run_line(journal: Journal) -> RunLine:
    begun = next((event.at for event in journal.events("opened")), 0.0)
    test = (_report(journal.folder) or {}).get("test") or {}
    base, trained = ((test.get(name) or {}).get("success") for name in ("base", "trained"))
    writing = is_written(journal.folder / FILE)
    return RunLine(
        run=journal.folder.name,
        begun=datetime.fromtimestamp(begun).strftime("%Y-%m-%d %H:%M"),
        model=journal.config.model.name,
        status="running" if writing else "finished" if journal.events("done") else "stopped",
        steps=journal.last_step() or 0,
        base=base,
        trained=trained,
        gain=test.get("gain"),
    )


def show_runs(screen: Console, lines: Sequence[RunLine], folder: Path) -> None:
    """A row for each run. The row of a run that cannot be read holds the error."""
    if not lines:
        screen.print(f"no runs in {escape(str(folder))}; start one with: mcprl train URL-or-command, or: mcprl demo")
        return
    numeric = ("steps", "base", "trained", "gain")
    table = sheet("run", "begun", "model", "status", *numeric, right=numeric)
    colours = {"running": "green", "stopped": "yellow", "finished": ""}
    for line in lines:
        if line.steps is None:
            table.add_row(Text(line.run), Text(line.status, "red"))
            continue
        table.add_row(
            Text(line.run),
            line.begun,
            Text(line.model),
            Text(line.status, colours[line.status]),
            str(line.steps),
            *("-" if value is None else f"{value:.0%}" for value in (line.base, line.trained)),
            "-" if line.gain is None else f"{100 * line.gain:+.0f} pt",
        )
    screen.print(table)


def show_run(screen: Console, journal: Journal) -> None:
    """A run's server and model, its kept adapters, the metrics of its last steps, and its report so far."""
    config = journal.config
    steps = journal.steps()
    target = ", ".join(server.target for server in config.servers)
    screen.print(f"[bold]{escape(journal.folder.name)}[/]  [dim]{escape(str(journal.folder))}[/]")
    screen.print(f"  server: {escape(target)}" if target else f"  task: {escape(config.task)}", soft_wrap=True)
    screen.print(f"  model: {escape(str(journal.fact('model', config.model.name)))}", soft_wrap=True)
    most = config.training.steps
    taken = f"{len(steps)} of at most {counted(most, 'step')} of RL" if most else "supervised steps alone"
    screen.print(f"  {taken}, {wall_s(journal) / 60:.1f} minutes of work")
    for name, reason in journal.fact("left_out", {}).items():
        screen.print(f"  [yellow]left out: {escape(name)} ({escape(reason)})[/]", soft_wrap=True)
    for kind in ("warm", "best"):
        for saved in journal.adapters(kind)[-1:]:
            screen.print(f"  {kind} adapter: step {saved.adapter.step}, {escape(saved.adapter.path)}", soft_wrap=True)
    if steps:
        screen.print()
        columns = [name for name in _METRICS if name in steps[-1].metrics]
        titles = ["step", *(name.replace("_", "\n", 1).replace("_", " ") for name in columns)]  # for 80 columns
        table = sheet(*titles, right=titles)
        for step in steps[-_MOST_STEPS:]:
            table.add_row(str(step.step), *(_number(step.metrics.get(name)) for name in columns))
        screen.print(table)
    screen.print()
    proof = report.build(journal.folder)
    show_report(screen, proof)
    if not proof.finished:
        screen.print(f"\ngo on with: mcprl train --resume {escape(journal.folder.name)}")


def show_outcome(screen: Console, result: report.Report, folder: Path) -> None:
    """The last screen of a training: what it proved, what it took, where it is, and what to do with it."""
    screen.print(wrapped(report.summary(result, screen.width), screen), markup=False, soft_wrap=not screen.is_terminal)
    name = folder.name if folder.parent == Path("runs") else str(folder)
    lines = {"minutes": f"{result.wall_s / 60:.1f}", "report": str(folder / "report.html")}
    if gain := result.test.over_base:
        lines = {"tasks": f"{gain.won} won and {gain.lost} lost of {result.test.n}", **lines}
    adapter = tested_adapter(folder)
    if adapter:
        lines["adapter"] = adapter
    lines["look"] = f"mcprl report {name}"
    if adapter:
        lines |= {"try": f"mcprl chat {name}", "take": f"mcprl export {name}"}
    screen.print()
    for title, text in lines.items():
        screen.print(f"[bold]{title:<8}[/] {escape(text)}", soft_wrap=True)


def tested_adapter(folder: Path) -> str | None:
    """The adapter that was tested as trained, `None` if nothing was better than the base model."""
    with Journal.open(folder) as journal, suppress(JournalError):
        return chosen_adapter(journal).path
    return None


def show_report(screen: Console, proof: report.Proof) -> None:
    """The report's result: success on held-out tasks before and after training."""
    screen.print(wrapped(report.table(proof, screen.width), screen), markup=False, soft_wrap=not screen.is_terminal)


def prove(folders: Sequence[Path], out: str | None) -> report.Proof:
    """The result of one run, written into its folder again, or of several pooled, written to `out` if it is given.

    Raises `JournalError` if a folder holds no run, and if the runs are not of one server, model and control.
    """
    if len(folders) == 1 and not out:
        return report.write(folders[0])
    pooled = report.pool(folders)
    if out:
        report.write_pooled(pooled, out)
    return pooled


def _report(folder: Path) -> dict[str, Any] | None:
    """The run's report.json, `None` if it is missing or cannot be parsed."""
    try:
        return json.loads((folder / "report.json").read_text())
    except (OSError, ValueError):
        return None


def _number(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return "" if value is None else str(value)
