"""The tables and lines that commands print: packs, findings, evaluations and runs."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from mcprl.errors import McprlError
from mcprl.runs import report
from mcprl.runs.journal import FILE, Journal
from mcprl.runs.overlap import wording_overlap
from mcprl.types import Call, Scenario

if TYPE_CHECKING:  # listing runs needs no server
    from mcprl.cli.doctor import Finding
    from mcprl.evaluate import Evaluation
    from mcprl.scenarios.packs.pack import Pack

_MOST_EXAMPLES = 6
_MOST_STEPS = 10
_METRICS = ("score", "success", "dropped_groups", "errors", "turns", "loss", "grad_norm", "sampler_gap_max")


def console() -> Console:
    """Standard output: styled on a terminal; elsewhere plain, 160 columns wide."""
    screen = Console(highlight=False, soft_wrap=False)
    return screen if screen.is_terminal else Console(highlight=False, width=160)


def sheet(*columns: str, right: Sequence[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for index, name in enumerate(columns):
        numeric = name in right
        table.add_column(name, justify="right" if numeric else "left", no_wrap=numeric or index == 0, overflow="fold")
    return table


# --- scenarios --------------------------------------------------------------------------------------------------------


def show_pack(screen: Console, pack: "Pack", quality: str = "") -> None:
    """Example tasks with the proved calls and answer, the number of tasks that use each tool and parameter, and the
    table of the pack's `quality`."""
    show_tasks(screen, _examples(pack.scenarios))
    screen.print()
    table = sheet("tool, parameter or pair", "train", "val", "test", right=["train", "val", "test"])
    for name, *counts in pack.coverage():
        table.add_row(Text(name), *(str(count) if count else "[yellow]0[/]" for count in counts))
    screen.print(table)
    for name, reason in pack.left_out.items():
        screen.print(f"[yellow]no task for {escape(name)}: {escape(reason)}[/]")
    if pack.thrown_out:
        screen.print(f"rejected tasks of {escape(pack.generator.removeprefix('llm:'))}, by reason:")
        for reason, count in pack.thrown_out.items():
            screen.print(f"  {count:>4} {escape(reason)}")
    for suite, (tasks, same) in wording_overlap(pack.test, pack.train).items():
        screen.print(f"{same} of {tasks} test tasks of the suite {suite} have a training task's wording, values aside")
    if quality:
        screen.print()
        screen.print(quality, markup=False)
    sizes = {split: len(pack.split(split)) for split in ("train", "val", "test")}
    screen.print(f"\n{sizes['train']} training, {sizes['val']} validation and {sizes['test']} held-out tasks")


def show_tasks(screen: Console, scenarios: Iterable[Scenario]) -> None:
    """Each task's kind, split and request with its calls and its answer, or that nothing is expected."""
    for scenario in scenarios:
        screen.print(f"[bold]{escape(scenario.kind)}[/] [dim]({scenario.split})[/] {escape(scenario.request)}")
        for call in scenario.plan:
            screen.print(f"    [cyan]{escape(spelled(call))}[/]", soft_wrap=True)
        if scenario.answer:
            screen.print(f"    [green]{escape(scenario.answer)}[/]")
        if not scenario.checks:
            screen.print("    [yellow]nothing is expected: a judge scores it, or nobody does[/]")


def _examples(scenarios: Iterable[Scenario]) -> list[Scenario]:
    """The first task of each kind, `_MOST_EXAMPLES` at most."""
    first_of_kind: dict[str, Scenario] = {}
    for scenario in scenarios:
        first_of_kind.setdefault(scenario.kind, scenario)
    return list(first_of_kind.values())[:_MOST_EXAMPLES]


def spelled(call: Call) -> str:
    return f"{call.tool}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


# --- doctor -----------------------------------------------------------------------------------------------------------


def show_findings(screen: Console, findings: "Iterable[Finding]") -> int:
    """Print each finding as soon as its check is done. Returns the number of failed checks."""
    failed = 0
    for finding in findings:
        colour = {"ok": "green", "warn": "yellow", "fail": "red"}[finding.state]
        screen.print(f"[{colour}]{finding.state:<5}[/]{finding.name:<9} {escape(finding.text)}")
        failed += finding.state == "fail"
    return failed


# --- eval -------------------------------------------------------------------------------------------------------------


def show_evaluation(screen: Console, evaluation: "Evaluation") -> None:
    """A few failed tasks with the judge's explanation, all that nothing scores, then the success rate with its interval
    by kind of task and by suite."""
    failures = [result for result in evaluation.results if result.success == 0]
    for result in failures[:_MOST_EXAMPLES]:
        screen.print(f"[red]failed[/] {escape(result.scenario.request)}")
        for call in result.trajectory.calls:
            screen.print(f"    [cyan]{escape(spelled(Call(call.tool, call.arguments or {})))}[/]", soft_wrap=True)
        screen.print(f"    {escape(result.trajectory.answer or f'({result.trajectory.stop})')}")
        screen.print(f"    [dim]{escape(result.why)}[/]")
    for result in evaluation.results:
        if result.success is None and not result.scenario.checks:
            screen.print(f"[yellow]not scored[/] {escape(result.scenario.request)}")
            screen.print(f"    {escape(result.trajectory.answer or f'({result.trajectory.stop})')}")
    table = sheet("kind or suite", "tasks", "success", "95 % interval", right=["tasks", "success", "95 % interval"])
    suites = {f"suite {suite}": rate for suite, rate in evaluation.by_suite.items()}
    for name, (n, rate, low, high) in {**evaluation.by_kind, **suites, "all": evaluation.overall}.items():
        table.add_row(Text(name), str(n), f"{rate:.1%}", f"{low:.1%} to {high:.1%}")
    screen.print()
    screen.print(table)
    broken = f"; {evaluation.broken} rollouts broke and count as failures" if evaluation.broken else ""
    unjudged = f"; {evaluation.unjudged} rollouts were not judged and count neither way" if evaluation.unjudged else ""
    screen.print(f"\n{escape(evaluation.model)}{broken}{unjudged}")


# --- runs -------------------------------------------------------------------------------------------------------------


def show_runs(screen: Console, folder: Path) -> None:
    """A row for each run in `folder`, the newest last. The row of a run that cannot be read holds the error."""
    numeric = ("steps", "base", "trained", "gain")
    table = sheet("run", "begun", "model", *numeric, right=numeric)
    for path in sorted(folder.glob(f"*/{FILE}"), key=lambda path: path.stat().st_mtime):
        try:
            with Journal.open(path.parent) as journal:
                table.add_row(*_run_line(journal))
        except McprlError as error:
            table.add_row(Text(path.parent.name), Text(str(error), "red"))
    if not table.row_count:
        screen.print(f"no runs in {escape(str(folder))}; start one with: mcprl train --server URL-or-command")
        return
    screen.print(table)


def _run_line(journal: Journal) -> list[str | Text]:
    begun = next((event.at for event in journal.events("opened")), 0.0)
    test = (_report(journal.folder) or {}).get("test") or {}
    success = [(test.get(name) or {}).get("success") for name in ("base", "trained")]
    return [
        Text(journal.folder.name),
        datetime.fromtimestamp(begun).strftime("%Y-%m-%d %H:%M"),
        Text(journal.config.model.name),
        str(journal.last_step() or 0),
        *("-" if value is None else f"{value:.0%}" for value in success),
        "-" if test.get("gain") is None else f"{100 * test['gain']:+.0f} pt",
    ]


def show_run(screen: Console, journal: Journal) -> None:
    """A run's server and model, its kept adapters, the metrics of its last steps, and its report so far."""
    config = journal.config
    steps = journal.steps()
    targets = ", ".join(server.target for server in config.servers)
    screen.print(f"[bold]{escape(journal.folder.name)}[/]  [dim]{escape(str(journal.folder))}[/]")
    screen.print(f"  server: {escape(targets)}", soft_wrap=True)
    screen.print(f"  model: {escape(str(journal.fact('model', config.model.name)))}", soft_wrap=True)
    screen.print(
        f"  {len(steps)} of at most {config.training.steps} steps, {journal.wall_s() / 60:.1f} minutes of work"
    )
    for name, reason in journal.fact("left_out", {}).items():
        screen.print(f"  [yellow]left out: {escape(name)} ({escape(reason)})[/]", soft_wrap=True)
    for kind in ("warm", "best"):
        for saved in journal.adapters(kind)[-1:]:
            screen.print(f"  {kind} adapter: step {saved.adapter.step}, {escape(saved.adapter.path)}", soft_wrap=True)
    if steps:
        screen.print()
        columns = [name for name in _METRICS if name in steps[-1].metrics]
        titles = ["step", *(name.replace("_", " ") for name in columns)]
        table = sheet(*titles, right=titles)
        for step in steps[-_MOST_STEPS:]:
            table.add_row(str(step.step), *(_number(step.metrics.get(name)) for name in columns))
        screen.print(table)
    screen.print()
    proof = report.build(journal.folder)
    show_report(screen, proof)
    if not proof.finished:
        screen.print(f"\ngo on with: mcprl train --resume {escape(journal.folder.name)}")


def show_report(screen: Console, proof: report.Proof) -> None:
    """The report's result: success on held-out tasks before and after training."""
    screen.print(report.table(proof), markup=False, soft_wrap=not screen.is_terminal)


def show_proof(screen: Console, folders: Sequence[Path], out: str | None) -> None:
    """The result of one run, written into its folder again, or of several pooled, written to `out` if it is given.

    Raises `JournalError` if a folder holds no run, and if the runs are not of one server, model and control.
    """
    if len(folders) == 1 and not out:
        show_report(screen, report.write(folders[0]))
        return
    pooled = report.pool(folders)
    show_report(screen, pooled)
    if out:
        report.write_pooled(pooled, out)
        screen.print(f"\nwritten to {escape(out)}")


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
