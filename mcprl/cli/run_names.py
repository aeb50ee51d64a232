"""Runs as a user names them: by the name of their folder or by its path."""

import difflib
import re
from datetime import datetime
from pathlib import Path

import click

from mcprl.errors import JournalError


def run_name(target: str) -> str:
    """A run's name from its server and the time: `shop-20261121-0312`."""
    words = [Path(word).stem for word in re.split(r"[\s/:?&=]+", target)]
    common = r"|\*+|https?|python[\d.]*|npx|uvx|run|mcp|sse|demo|-.*|\d[\d.]*"
    telling = [word for word in words if not re.fullmatch(common, word)]
    slug = re.sub(r"[^a-z0-9]+", "-", (telling or ["run"])[0].lower()).strip("-")[:32]
    return f"{slug or 'run'}-{datetime.now():%Y%m%d-%H%M%S}"


def run_folder(run: str, runs_dir: str) -> Path:
    """The folder of a run that was named, or given as a path. Raises `JournalError` if there is none."""
    for folder in (Path(runs_dir) / run, Path(run)):
        if folder.is_dir():
            return folder
    known = [path.name for path in Path(runs_dir).glob("*") if path.is_dir()]
    near = difflib.get_close_matches(run, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "`mcprl runs list` shows those there are"
    raise JournalError(f"no run {run!r} in {runs_dir}; {hint}")


def complete_run(context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """The names of runs that begin so, for a shell's completion."""
    from mcprl.runs.journal import FILE

    folder = Path(context.params.get("runs_dir") or "runs")
    return sorted(path.parent.name for path in folder.glob(f"*/{FILE}") if path.parent.name.startswith(begun))
