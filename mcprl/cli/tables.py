"""The tables and lines that commands print: packs, findings and evaluations."""

from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from mcprl.cli.progress import Progress
from mcprl.runs.overlap import wording_overlap
from mcprl.text import counted
from mcprl.types import Call, Scenario

if TYPE_CHECKING:  # listing runs needs no server
    from mcprl.cli.doctor import Finding
    from mcprl.evaluate import Evaluation
    from mcprl.scenarios.packs.pack import Pack

_MOST_EXAMPLES = 6
_BLANK = 15 * " "
"""As wide as a finding's state and name."""


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
    for suite, (tasks, same) in wording_overlap(pack.test, pack.train).items():
        screen.print(
            f"{same} of {counted(tasks, 'test task')} of the suite {suite} have a training task's wording, values aside"
        )
    if quality:
        screen.print()
        screen.print(quality, markup=False)
    sizes = {split: len(pack.split(split)) for split in ("train", "val", "test")}
    screen.print(
        f"\n{sizes['train']} training, {sizes['val']} validation and {counted(sizes['test'], 'held-out task')}"
    )


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
    with Progress("checking this machine", screen) as progress:
        for finding in findings:
            colour = {"ok": "green", "warn": "yellow", "fail": "red"}[finding.state]
            text = fill(finding.text, screen.width, initial_indent=_BLANK, subsequent_indent=_BLANK)[len(_BLANK) :]
            told = escape(text if screen.is_terminal else finding.text)
            progress.say(f"[{colour}]{finding.state:<5}[/]{finding.name:<9} {told}", markup=True)
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
    broken = f"; {counted(evaluation.broken, 'rollout')} broke, counted as failed" if evaluation.broken else ""
    unjudged = (
        f"; {counted(evaluation.unjudged, 'rollout')} without a judgement, counted neither way"
        if evaluation.unjudged
        else ""
    )
    cost = f"; its replies cost {evaluation.cost:.4f} dollars" if evaluation.cost is not None else ""
    screen.print(f"\n{escape(evaluation.model)}{cost}{broken}{unjudged}")
