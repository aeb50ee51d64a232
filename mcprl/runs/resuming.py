"""The configuration with which a run goes on."""

from typing import Any

from mcprl.config import Config
from mcprl.files import write_whole
from mcprl.runs.journal import Journal
from mcprl.runs.settings import dump_config, redacted, with_secrets

CHANGEABLE = {
    "training": (
        "learning_rate",
        "max_grad_norm",
        "max_sampler_gap",
        "autocast",
        "bin_tokens",
        "gradient_checkpointing",
    ),
    "model": ("dtype",),
}
"""The settings that may change in the middle of a run: those that cure an update that fails. By section."""


def configuration(journal: Journal, given: Config) -> Config:
    """The run's own configuration, with the servers of `given` if it has some, and the `CHANGEABLE` settings that
    `given` states. What changes is written to the journal and to config.toml. Raises `ConfigError` (`with_secrets`).
    """
    config = journal.config
    changes: dict[str, dict[str, Any]] = {}
    for section, names in CHANGEABLE.items():
        own, other = getattr(config, section), getattr(given, section)
        stated = {name: getattr(other, name) for name in names if name in other.model_fields_set}
        if changed := {name: value for name, value in stated.items() if value != getattr(own, name)}:
            changes[section] = changed
            config = config.model_copy(update={section: own.model_copy(update=changed)})
    if changes:
        write_whole(journal.folder / "config.toml", dump_config(config).encode())
        journal.write_fact("config", redacted(config))
        journal.write_event("changed", settings=changes)
    return with_secrets(config, given)
