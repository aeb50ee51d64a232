"""A run's proof as report.json, report.md, report.html and curve.png in its folder, and as a table for a terminal."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from mcprl.errors import JournalError
from mcprl.files import write_whole
from mcprl.runs.figures import LEARNING_COLUMNS, RESULT_COLUMNS, learning, parts, results
from mcprl.runs.html import document
from mcprl.runs.page import CURVE, benchmarks, code, fenced, grid, inline, markdown
from mcprl.runs.phrases import certificate, clustering, doubts, headline, obeyed, preferred, retention, suite_name
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
_WIDE = 160
"""Columns of a terminal that is none."""
_adapter: TypeAdapter[Report] = TypeAdapter(Report)
_pooled: TypeAdapter[Pooled] = TypeAdapter(Pooled)
_MOST_LOSSES = 5


def write(folder: str | Path) -> Report:
    """Write the files for the run in `folder`, as far as the run has come; no curve without matplotlib."""
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
    pictures = {CURVE: (folder / CURVE).read_bytes()} if (folder / CURVE).is_file() else {}
    _write_page(folder, markdown(report, curve=bool(pictures)), report.name, pictures)
    return report


def write_pooled(proof: Pooled, folder: str | Path) -> None:
    """Write report.json, report.md and report.html of several runs into `folder`, which is made if missing."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "report.json", _pooled.dump_json(proof, indent=2) + b"\n")
    _write_page(folder, markdown(proof), proof.name, {})


def _write_page(folder: Path, page: str, title: str, pictures: Mapping[str, bytes]) -> None:
    write_whole(folder / "report.md", page.encode(errors="replace"))
    write_whole(folder / "report.html", document(page, title, pictures).encode(errors="replace"))


def read(folder: str | Path) -> Report:
    """The report in report.json. Raises `JournalError` if there is none, or if another version wrote it."""
    path = Path(folder) / "report.json"
    try:
        return _adapter.validate_json(path.read_bytes())
    except OSError:
        raise JournalError(f"{folder} has no report yet; it is written at the end of mcprl train") from None
    except ValidationError as error:
        raise JournalError(f"{path} is of another version ({error.error_count()} fields differ)") from None


def table(report: Proof | Mapping[str, Any], width: int = _WIDE) -> str:
    """The proof as plain text for a terminal of `width` columns, from a report or from the content of report.json.

    Raises `JournalError` if another version wrote that content.
    """
    if not isinstance(report, Proof):
        try:
            report = _adapter.validate_python(report)
        except ValidationError as error:
            raise JournalError(f"report.json is of another version ({error.error_count()} fields differ)") from None
    blocks = [preferred(report), headline(report), _held_out(report, width)]
    if rows := list(learning(report)):
        blocks.append(_columns([("learning", *LEARNING_COLUMNS), *rows], width))
    blocks += [retention(report), obeyed(report)]
    if len(report.suites) > 1:
        blocks.append(_columns(parts("by suite", {str(suite): part for suite, part in report.suites.items()}), width))
    if isinstance(report, Pooled):
        blocks.append(_columns(parts("by run", report.runs), width))
    blocks += [_benches(report, width), _against(report)]
    if report.losses:
        blocks.append(_lost(report))
    if rows := parts("by tool", report.per_tool):
        blocks.append(_columns(rows, width))
    blocks.append(clustering(report.test))
    if isinstance(report, Report):
        blocks.append("; ".join(certificate(report)))
    return "\n\n".join(filter(None, blocks))


def summary(report: Proof, width: int = _WIDE) -> str:
    """The claim, the table that it rests on, and what speaks against it."""
    blocks = (preferred(report), headline(report), _held_out(report, width), _benches(report, width), _against(report))
    return "\n\n".join(filter(None, blocks))


def _benches(report: Proof, width: int) -> str:
    rows = benchmarks(report.benches) if isinstance(report, Report) else []
    return _columns(rows, width) if rows else ""


def _held_out(report: Proof, width: int) -> str:
    title = f"held-out tasks: {report.test.n} ({report.lead})"
    return _columns([(title, *RESULT_COLUMNS), *results(report.test)], width)


def _against(report: Proof) -> str:
    against = [f"- {doubt}" for doubt in doubts(report)]
    return "\n".join(["against it:", *against]) if against else ""


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


def _columns(rows: Sequence[tuple[str, ...]], width: int) -> str:
    """The rows in columns. If they are wider than the terminal, the last columns stand in a table of their own below,
    beside the first column again."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    fitting = next((n for n in range(len(widths), 2, -1) if sum(widths[:n]) + 2 * (n - 1) <= width), 2)
    if fitting < len(widths):
        below = [(row[0], *row[fitting:]) for row in rows]
        return f"{_columns([row[:fitting] for row in rows], width)}\n\n{_columns(below, width)}"
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
