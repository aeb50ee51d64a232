"""A run's proof as report.json, report.md and curve.png in the run folder, and as a table for a terminal."""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from mcprl.errors import JournalError
from mcprl.files import write_whole
from mcprl.runs.comparison import MODELS, Comparison, Interval
from mcprl.runs.examples import Example
from mcprl.runs.proof import Report, build

__all__ = ["Report", "build", "headline", "markdown", "read", "table", "write"]

_log = logging.getLogger(__name__)
_adapter: TypeAdapter[Report] = TypeAdapter(Report)
_NAMES: Final = {"base": "base model", "warm": "after the warm start", "trained": "trained model"}
_CURVE: Final = "curve.png"


def write(folder: str | Path) -> Report:
    """Write the three files for the run in `folder`, as far as the run has come; no curve without matplotlib."""
    folder = Path(folder)
    report = build(folder)
    try:
        from mcprl.runs import curve

        curve.draw(report, folder / _CURVE)
    except ImportError:
        _log.warning(
            "matplotlib is not installed: the report has no curve; install it with: pip install 'mcprl[train]'"
        )
        (folder / _CURVE).unlink(missing_ok=True)
    write_whole(folder / "report.json", _adapter.dump_json(report, indent=2) + b"\n")
    page = markdown(report, curve=(folder / _CURVE).is_file())
    write_whole(folder / "report.md", page.encode(errors="replace"))
    return report


def read(folder: str | Path) -> Report:
    """The report in report.json. Raises `JournalError` if there is none, or if another version wrote it."""
    path = Path(folder) / "report.json"
    try:
        return _adapter.validate_json(path.read_bytes())
    except OSError:
        raise JournalError(f"{folder} has no report yet; it is written at the end of mcprl train") from None
    except ValidationError as error:
        raise JournalError(f"{path} is of another version ({error.error_count()} fields differ)") from None


# --- words and numbers ------------------------------------------------------------------------------------------------


def headline(report: Report) -> str:
    """The result in a sentence with its interval. It claims no more than the interval allows."""
    test = report.test
    if test.gain is None or test.gain_ci95 is None or test.base is None or test.trained is None:
        known = (
            f" The base model succeeds on {_percent(test.base.success)} of {test.n} held-out tasks."
            if test.base
            else ""
        )
        return f"Nothing is proved yet ({report.status}).{known}"
    sentence = (
        f"On {test.n} held-out tasks of {report.server}, success went from {_percent(test.base.success)} to "
        f"{_percent(test.trained.success)}: {_gained(test.gain, test.gain_ci95)}."
    )
    if test.warm and test.rl_gain is not None and test.rl_gain_ci95 is not None:
        start = _percent(test.warm.success)
        sentence += f" Over the warm start alone ({start}), RL brought {_gained(test.rl_gain, test.rl_gain_ci95)}."
    return sentence if report.finished else f"{sentence} The run is not finished ({report.status})."


def _gained(gain: float, interval: Interval) -> str:
    low, high = interval
    verdict = "no clear change:"
    if low > 0:
        verdict = "a gain of"
    elif high < 0:
        verdict = "a loss of"
    return f"{verdict} {_points(gain)} points (95 % interval {_points(low)} to {_points(high)})"


def _percent(fraction: float | None) -> str:
    return "-" if fraction is None else f"{100 * fraction:.1f} %"


def _points(difference: float) -> str:
    return f"{100 * difference:+.1f}"


def _spread(interval: Interval) -> str:
    return f"{100 * interval[0]:.1f} to {100 * interval[1]:.1f} %"


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def results(test: Comparison) -> Iterator[tuple[str, str, str]]:
    """The rows of the main table: name, value, interval."""
    for name, rate in zip(MODELS, (test.base, test.warm, test.trained), strict=True):
        if rate:
            yield _NAMES[name], _percent(rate.success), _spread(rate.ci95)
    if test.gain is not None and test.gain_ci95:
        yield "gain", f"{_points(test.gain)} points", " to ".join(map(_points, test.gain_ci95))
    if test.warm and test.rl_gain is not None and test.rl_gain_ci95:
        yield "due to RL", f"{_points(test.rl_gain)} points", " to ".join(map(_points, test.rl_gain_ci95))


def _parts(parts: Mapping[str, Comparison]) -> list[tuple[str, ...]]:
    return [
        (
            name,
            str(part.n),
            _percent(part.base.success if part.base else None),
            _percent(part.trained.success if part.trained else None),
            _points(part.gain) if part.gain is not None else "-",
            " to ".join(map(_points, part.gain_ci95)) if part.gain_ci95 else "-",
        )
        for name, part in parts.items()
    ]


_PART_COLUMNS: Final = ("tasks", "base", "trained", "gain", "95 % interval")


# --- the table on the screen ------------------------------------------------------------------------------------------


def table(report: Report | Mapping[str, Any]) -> str:
    """The proof as plain text for a terminal, from a report or from the content of report.json.

    Raises `JournalError` if another version wrote that content.
    """
    if not isinstance(report, Report):
        try:
            report = _adapter.validate_python(report)
        except ValidationError as error:
            raise JournalError(f"report.json is of another version ({error.error_count()} fields differ)") from None
    blocks = [
        headline(report),
        _columns([(f"held-out tasks: {report.test.n}", "success", "95 % interval"), *results(report.test)]),
    ]
    if rows := _parts(report.per_tool):
        blocks.append(_columns([("by tool", *_PART_COLUMNS), *rows]))
    blocks.append("; ".join(_certificate(report)))
    return "\n\n".join(blocks)


def _columns(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def _certificate(report: Report) -> Iterator[str]:
    best = f" (step {report.best_step} was the best on the validation tasks)" if report.best_step is not None else ""
    yield f"{report.steps} steps{best} in {_minutes(report.wall_s)}"
    if report.exact_tokens is not None:
        yield f"{100 * report.exact_tokens:g} % of the trained tokens in exactly the context they were sampled in"
    if report.groups:
        yield f"{report.dropped_groups} of {report.groups} groups dropped for lack of a signal"


# --- the page ---------------------------------------------------------------------------------------------------------


def markdown(report: Report, *, curve: bool = True) -> str:
    """The report as a Markdown page; `curve`: show the curve.png beside it."""
    return "\n\n".join(_page(report, curve)) + "\n"


def _page(report: Report, curve: bool) -> Iterator[str]:
    yield f"# {inline(report.name)}"
    yield f"**{inline(headline(report))}**"
    if report.control != "none" or report.learning_rate == 0:
        why = f"control {report.control}" if report.control != "none" else "a learning rate of 0"
        yield f"> This run is a control ({why}): it must show no gain."
    yield grid([(f"{report.test.n} held-out tasks", "success", "95 % interval"), *results(report.test)])
    yield (
        "The models were tested on the same tasks, and trained on none of them. Intervals of success are Wilson's; "
        "those of differences come from a paired bootstrap over tasks."
    )
    if counted := _counted(report.test):
        yield counted
    if curve:
        yield f"## Learning curve\n\n![success on the validation tasks and mean training score by step]({_CURVE})"
    yield from _part_sections(report)
    yield from _example_section(report.examples)
    yield "## How it was trained"
    yield "\n".join(f"- {inline(line)}" for line in (f"model: {report.model}", *_certificate(report)))
    yield _stops(report.stops)
    yield "## Tools left out"
    yield "\n".join([f"- `{code(name)}`: {inline(why)}" for name, why in report.left_out.items()] or ["- None."])
    yield "## How to reproduce"
    yield _reproduce(report)


def _part_sections(report: Report) -> Iterator[str]:
    for title, parts in (
        ("tool", report.per_tool),
        ("kind of task", report.per_kind),
        ("difficulty", report.per_difficulty),
    ):
        if parts:
            yield f"## By {title}"
            yield grid([(title, *_PART_COLUMNS), *_parts(parts)])
    if any("in this test" in name for name in report.per_difficulty):
        yield (
            "Difficulty is the base model's failure rate on these very rollouts. The base column follows from it, and "
            "a task that the base model failed by bad luck looks like a gain. Only the trained column is informative."
        )


def _counted(test: Comparison) -> str:
    """The rollouts that broke and those without a judgement, in words; empty if there were none."""
    rates = [(name, rate) for name, rate in zip(MODELS, (test.base, test.warm, test.trained), strict=True) if rate]
    errors = [f"{rate.errors} of {rate.rollouts} rollouts ({_NAMES[name]})" for name, rate in rates if rate.errors]
    unjudged = [
        f"{rate.unjudged} of {rate.rollouts} rollouts ({_NAMES[name]})" for name, rate in rates if rate.unjudged
    ]
    lines: list[str] = []
    if errors:
        lines.append(f"Broken by the server or the engine, counted as failures: {', '.join(errors)}.")
    if unjudged:
        lines.append(f"Not judged, counted neither way: {', '.join(unjudged)}.")
    return "\n".join(lines)


def _example_section(examples: Sequence[Example]) -> Iterator[str]:
    if examples:
        yield "## Examples"
    for example in examples:
        yield f"### {'Solved after training' if example.solved else 'Still failing'}: {inline(example.request)}"
        for name, text, why in (
            ("Base", example.before, example.before_why),
            ("Trained", example.after, example.after_why),
        ):
            yield f"{name} model: {inline(why)}\n\n{fenced(text)}"


def _stops(stops: Mapping[str, Mapping[str, int]]) -> str:
    reasons = sorted({reason for counts in stops.values() for reason in counts})
    rows = [(phase, *(str(counts.get(reason, 0)) for reason in reasons)) for phase, counts in stops.items() if counts]
    return grid([("how rollouts ended", *reasons), *rows])


def _reproduce(report: Report) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    return (
        f"{fenced('mcprl train --config config.toml --name again', 'sh')}\n\n"
        f"in this folder, with the same server. Seed {report.seed}, tool hash {report.tool_hash or 'not recorded'}, "
        f"begun {report.date}, {versions}. "
        "The tasks are in `scenarios/`, every rollout with its token ids is in `journal.sqlite`."
    )


def grid(rows: Sequence[tuple[str, ...]]) -> str:
    """A Markdown table. The first row is the head, the first column is left-aligned."""
    head, *body = [" | ".join(inline(cell).replace("|", "\\|") for cell in row) for row in rows]
    rule = " | ".join(["---", *["---:"] * (len(rows[0]) - 1)])
    return "\n".join(f"| {line} |" for line in (head, rule, *body))


def inline(text: str) -> str:
    """Text of a server or a model on one line, with the characters escaped that Markdown or HTML would interpret."""
    return re.sub(r"([\\`*_\[\]<>#])", r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """Text for a Markdown code span."""
    return " ".join(text.replace("`", "'").split())


def fenced(text: str, language: str = "text") -> str:
    """A code block that its content cannot close."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"
