"""What the command line says about a run that was stopped: how to go on with it, and what it then keeps."""

from pathlib import Path

from mcprl.cli.options import flags
from mcprl.config import Config
from mcprl.errors import JournalError
from mcprl.runs import resuming
from mcprl.runs.journal import FILE, Journal
from mcprl.runs.learning import taken


def not_taken(folder: Path, config: Config) -> str:
    """A sentence about the settings given with --resume that the run does not take, empty if it takes all."""
    with Journal.open(folder) as journal:
        kept = resuming.kept(journal, config)
    if not kept:
        return ""
    by_key = {leaf.key: f"--{flag}" for flag, leaf in flags().items()}
    own = ", ".join(f"{by_key[key]} (it has {value!r})" for key, value in sorted(kept.items()))
    may = ", ".join(by_key[f"{section}.{name}"] for section, names in resuming.CHANGEABLE.items() for name in names)
    return f"a resumed run keeps its settings; not taken: {own}. What may change: --server and its flags, {may}"


def stopped(folder: Path, runs_dir: str) -> str:
    """What is kept of a run that was stopped, and how to resume it."""
    if not (folder / FILE).is_file():
        return "stopped"
    try:
        with Journal.open(folder) as journal:
            steps = taken(journal)
    except JournalError as error:
        return f"stopped; {error}"
    again = f"mcprl train --resume {folder if runs_dir != 'runs' else folder.name}"
    return f"stopped; {steps} and all rollouts are kept in {folder}; go on with: {again}"
