"""The configuration with which a run goes on."""

from collections.abc import Iterator
from typing import Any, Final

from mcprl.config import Config, Section
from mcprl.files import write_whole
from mcprl.runs.journal import Journal
from mcprl.runs.settings import dump_config, redacted, with_secrets

CHANGEABLE: Final = {
    "training": (
        "learning_rate",
        "max_grad_norm",
        "max_sampler_gap",
        "autocast",
        "bin_tokens",
        "gradient_checkpointing",
        "bench",
        "bench_limit",
    ),
    "model": ("dtype",),
    "engine": ("base_url", "base_urls"),
}
"""The settings that may change in the middle of a run: those that cure an update that fails, the address of an engine's
server, which may be another when it is started again, and the benchmarks that follow the test. By section."""

_TAKEN: Final = (
    "servers",
    "runs_dir",
    "trackers",
    *(f"{section}.{name}" for section, names in CHANGEABLE.items() for name in names),
)


def configuration(journal: Journal, given: Config) -> Config:
    """The run's own configuration, with the servers of `given` if it has some, and its trackers and the `CHANGEABLE`
    settings if `given` states them. What changes of the latter is written to the journal and to config.toml. Raises
    `ConfigError` (`with_secrets`).
    """
    config = journal.config
    if "trackers" in given.model_fields_set:  # one that cannot start need not keep the run from going on
        config = config.model_copy(update={"trackers": given.trackers})
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


def kept(journal: Journal, given: Config) -> dict[str, Any]:
    """The settings that `given` states otherwise than the run has them, and that a resumed run keeps as they are: by
    key, with the run's own values, secrets hidden.
    """
    own, other = redacted(journal.config), redacted(given)
    implied = set(_stated(Config()))  # a Config states some settings by itself
    stated = [key for key in _stated(given) if key not in implied or _at(other, key) != _at(redacted(Config()), key)]
    changed = [key for key in stated if _at(own, key) != _at(other, key)]
    return {key: _at(own, key) for key in changed if key not in _TAKEN}


def _stated(section: Section, prefix: str = "") -> Iterator[str]:
    """The keys of the settings that were given, not left at their defaults."""
    for name in section.model_fields_set:
        value = getattr(section, name)
        if isinstance(value, Section):
            yield from _stated(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def _at(tree: dict[str, Any], key: str) -> Any:
    value: Any = tree
    for name in key.split("."):
        value = value[name]
    return value
