"""A run's proof as report.json, report.md and curve.png in the run folder, and as a table for a terminal."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from mcprl.errors import JournalError
from mcprl.files import write_whole
from mcprl.runs.page import CURVE, code, fenced, grid, inline, markdown
from mcprl.runs.phrases import (
    LEARNING_COLUMNS,
    PART_COLUMNS,
    RESULT_COLUMNS,
    certificate,
    clustering,
    doubts,
    headline,
    learning,
    parts,
    results,
    retention,
    suite_name,
)
from mcprl.runs.proof import Pooled, Proof, Report, build, pool

__all__ = [
    "RESULT_COLUMNS",
    "Pooled",
    "Proof",
    "Report",
    "build",
    "code",
    "fenced",
    "grid",
    "headline",
    "inline",
    "markdown",
    "pool",
    "read",
    "results",
    "suite_name",
    "table",
    "write",
    "write_pooled",
]

_log = logging.getLogger(__name__)
_adapter: TypeAdapter[Report] = TypeAdapter(Report)
_pooled: TypeAdapter[Pooled] = TypeAdapter(Pooled)
_MOST_LOSSES = 5


def write(folder: str | Path) -> Report:
    """Write the three files for the run in `folder`, as far as the run has come; no curve without matplotlib."""
    folder = Path(folder)
    report = build(folder)
    try:
        from mcprl.runs import curve

        curve.draw(report, folder / CURVE)
    except ImportError:
        _log.warning(
            "matplotlib is not installed: the report has no curve; install it with: pip install 'mcprl[train]'"
        )
        (folder / CURVE).unlink(missing_ok=True)
    write_whole(folder / "report.json", _adapter.dump_json(report, indent=2) + b"\n")
    page = markdown(report, curve=(folder / CURVE).is_file())
    write_whole(folder / "report.md", page.encode(errors="replace"))
    return report


def write_pooled(proof: Pooled, folder: str | Path) -> None:
    """Write report.json and report.md of several runs into `folder`, which is made if missing."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "report.json", _pooled.dump_json(proof, indent=2) + b"\n")
    write_whole(folder / "report.md", markdown(proof).encode(errors="replace"))


def read(folder: str | Path) -> Report:
    """The report in report.json. Raises `JournalError` if there is none, or if another version wrote it."""
    path = Path(folder) / "report.json"
    try:
        return _adapter.validate_json(path.read_bytes())
    except OSError:
        raise JournalError(f"{folder} has no report yet; it is written at the end of mcprl train") from None
    except ValidationError as error:
        raise JournalError(f"{path} is of another version ({error.error_count()} fields differ)") from None


def table(report: Proof | Mapping[str, Any]) -> str:
    """The proof as plain text for a terminal, from a report or from the content of report.json.

    Raises `JournalError` if another version wrote that content.
    """
    if not isinstance(report, Proof):
        try:
            report = _adapter.validate_python(report)
        except ValidationError as error:
            raise JournalError(f"report.json is of another version ({error.error_count()} fields differ)") from None
    test = report.test
    blocks = [headline(report)]
    blocks.append(_columns([(f"held-out tasks: {test.n} ({report.lead})", *RESULT_COLUMNS), *results(test)]))
    if rows := list(learning(report)):
        blocks.append(_columns([("learning", *LEARNING_COLUMNS), *rows]))
    blocks.append(retention(report))
    if len(report.suites) > 1:
        blocks.append(
            _columns([("by suite", *PART_COLUMNS), *parts({str(suite): part for suite, part in report.suites.items()})])
        )
    if isinstance(report, Pooled):
        blocks.append(_columns([("by run", *PART_COLUMNS), *parts(report.runs)]))
    if against := list(doubts(report)):
        blocks.append("\n".join(["against it:", *(f"- {doubt}" for doubt in against)]))
    if report.losses:
        blocks.append(_lost(report))
    if rows := parts(report.per_tool):
        blocks.append(_columns([("by tool", *PART_COLUMNS), *rows]))
    blocks.append(clustering(test))
    if isinstance(report, Report):
        blocks.append("; ".join(certificate(report)))
    return "\n\n".join(filter(None, blocks))


def _lost(report: Proof) -> str:
    """The first lost tasks, with both answers on lines of their own."""
    lines = [f"lost tasks ({len(report.losses)}):"]
    for loss in report.losses[:_MOST_LOSSES]:
        lines += [f"- {_line(loss.request)}", f"    before: {_line(loss.before)}", f"    after:  {_line(loss.after)}"]
    if len(report.losses) > _MOST_LOSSES:
        lines.append(f"- {len(report.losses) - _MOST_LOSSES} more are in report.md")
    return "\n".join(lines)


def _line(text: str, longest: int = 140) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= longest else f"{flat[:longest]}..."


def _columns(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
