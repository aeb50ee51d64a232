"""A run's configuration as TOML: each field's sentence above it, secrets left out."""

import difflib
import json
import re
import shlex
import textwrap
from collections.abc import Collection, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from mcprl.config import SCRATCH, Config, Section
from mcprl.errors import ConfigError
from mcprl.secrets import hide_in_json, scrub
from mcprl.text import shortened

_REFERENCE = r"(?:\$\w+|\$\{\w+\})"
_BY_NAME = re.compile(
    rf"(?:(?:bearer|basic|digest|token|api-?key|key|oauth|dpop|negotiate)\s+)?{_REFERENCE}(?:[:;,/]{_REFERENCE})*",
    re.IGNORECASE,
)
"""A value that names environment variables and holds no secret itself: `Bearer $TOKEN`."""
HIDDEN = "***"
"""What stands for a secret."""
_URLS = (
    ("engine", "base_url", "--base-url"),
    ("judge", "base_url", "--judge-base-url"),
    ("scenarios", "writer_base_url", "--writer-base-url"),
)

_RENAMED = {
    "generator_base_url": "writer_base_url",
    "max_generator_cost": "max_writer_cost",
    "generator_cache": "writer_cache",
}
_RETIRED = {"rewriter": "", "generator": "grounded", "instructions": "", "embedding_model": "", "open_tasks": False}
"""Settings of `scenarios` in stored runs that are gone, with the values that had no effect."""
_INSTEAD = "a language model words tasks (scenarios.writer), and requests of your own are a pack or a test pack"


def dump_config(config: Config, *sections: str, why: Mapping[str, str] | None = None) -> str:
    """The tree as TOML, `redacted`, each field's sentence above it; `parse(tomllib.loads(text))` reads it back.

    With `sections` only these: what follows from the model is left to the model of whoever reads them. `why` has by key
    where a value comes from, for the reader.
    """
    return "\n".join(_dump(parse(redacted(config)), why or {}, only=sections)) + "\n"


def _dump(section: Section, why: Mapping[str, str], prefix: str = "", only: Collection[str] = ()) -> Iterator[str]:
    values = {name: getattr(section, name) for name in only or type(section).model_fields}
    nested = {name: value for name, value in values.items() if isinstance(value, Section) or name == "servers"}
    for name, value in values.items():
        if name not in nested:
            for text in (type(section).model_fields[name].description, why.get(prefix + name)):
                yield from textwrap.wrap(text or "", 110, initial_indent="# ", subsequent_indent="# ")
            yield f"{name} = {_toml(value)}"
    for name, value in nested.items():
        for item in value if isinstance(value, tuple) else (value,):
            yield f"\n[[{prefix}{name}]]" if isinstance(value, tuple) else f"\n[{prefix}{name}]"
            yield from _dump(item, why, f"{prefix}{name}.")


def _toml(value: Any) -> str:
    """JSON's scalars, strings and lists are TOML's, but for DEL, which TOML wants escaped."""
    if isinstance(value, dict):
        pairs: dict[str, str] = value
        return "{ " + ", ".join(f"{_toml(k)} = {_toml(v)}" for k, v in pairs.items()) + " }" if pairs else "{}"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def redacted(config: Config) -> dict[str, Any]:
    """The tree as it may be written down or sent to a tracker: what can hold a secret is "***", unless it only names
    variables (`$NAME`, `Bearer $NAME`) or is a path in the `{scratch}` folder.

    That is: values of headers and of environment variables, and what `secrets` hides in commands, URLs and other texts.
    """
    tree = config.model_dump(mode="json")
    for server in tree["servers"]:
        for kind in ("headers", "env", "oauth_client"):
            server[kind] = {
                key: value if _plain(value) or (kind == "oauth_client" and key != "secret") else HIDDEN
                for key, value in server[kind].items()
            }
        for kind in ("target", "reset_tool", "reset_command"):
            server[kind] = scrub(server[kind])
    for section, key, _ in _URLS:
        tree[section][key] = scrub(tree[section][key])
    for name in ("args", "base_urls"):
        tree["engine"][name] = [scrub(word) for word in tree["engine"][name]]
    return hide_in_json(tree)


def _plain(value: str) -> bool:
    return bool(_BY_NAME.fullmatch(value)) or bool(SCRATCH.match(value))


def with_secrets(config: Config, given: Config) -> Config:
    """A stopped run's configuration, with the `given` servers if there are some.

    Raises `ConfigError`, which says what to give, if a secret is needed that the run did not keep.
    """
    for section, name, flag in _URLS:
        own, other = getattr(config, section), getattr(given, section)
        if HIDDEN in getattr(own, name):
            if name not in other.model_fields_set:
                shown = getattr(own, name)
                raise ConfigError(f"the run keeps no secrets; resume it with {flag} and what stands in {shown}")
            config = config.model_copy(update={section: own.model_copy(update={name: getattr(other, name)})})
    if given.servers:
        return config.model_copy(update={"servers": given.servers})
    for server in config.servers:
        texts = [server.target, server.reset_tool, server.reset_command]
        secrets = [*texts, *server.headers.values(), *server.env.values(), *server.oauth_client.values()]
        if any(HIDDEN in text for text in secrets):
            words = [f"--server {shlex.quote(server.target)}"]
            words += [f"--header {shlex.quote(f'{key}: {value}')}" for key, value in server.headers.items()]
            words += [f"--env {shlex.quote(f'{key}={value}')}" for key, value in server.env.items()]
            words += [f"--oauth-client {shlex.quote(f'{key}={value}')}" for key, value in server.oauth_client.items()]
            resets = {"--reset-tool": server.reset_tool, "--reset-command": server.reset_command}
            words += [f"{flag} {shlex.quote(value)}" for flag, value in resets.items() if value]
            raise ConfigError(
                f"the run keeps no secrets; resume it with {' '.join(words)} and what {HIDDEN} stands for (a value "
                "that names a variable, such as 'Bearer $TOKEN', is kept by name)"
            )
    return config


def parse(tree: dict[str, Any], source: str = "the configuration") -> Config:
    """The tree of a TOML file or of flags as a `Config`.

    Raises `ConfigError` naming the key, the value and what was expected.
    """
    try:
        return Config.model_validate(tree)
    except ValidationError as error:
        raise ConfigError("; ".join(_explain(tree, item, source) for item in error.errors()[:8])) from None


def parse_stored(tree: dict[str, Any]) -> tuple[Config, str]:
    """The configuration that a run was stored with, and a sentence about what it set that is gone; empty if nothing.

    Raises `ConfigError` as `parse` does.
    """
    scenarios = {_RENAMED.get(name, name): value for name, value in tree.get("scenarios", {}).items()}
    gone = {name: scenarios.pop(name) for name in _RETIRED if name in scenarios}
    stated = [
        f"scenarios.{name} = {shortened(repr(value), 80)}" for name, value in gone.items() if value != _RETIRED[name]
    ]
    note = f"the run was made with {', '.join(stated)}, which is gone and is left out: {_INSTEAD}" if stated else ""
    return parse({**tree, "scenarios": scenarios}, "config"), note


def merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Two trees as one: what the second says wins; tables are merged, lists are not."""
    merged = dict(below)
    for key, value in above.items():
        nested = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], value) if nested else value
    return merged


def _explain(tree: dict[str, Any], item: Any, source: str) -> str:
    where = ".".join(str(part) for part in item["loc"])
    if item["type"] == "missing":
        return f"{source}: {where} is missing"
    if item["type"] != "extra_forbidden":
        secret = {"headers", "env", "oauth_client"} & {*item["loc"]}
        value = "'***'" if secret else shortened(scrub(repr(item["input"])), 200)
        return f"{source}: {where} = {value}: {item['msg'].removeprefix('Value error, ')}"
    plain = ".".join(part for part in item["loc"] if isinstance(part, str))
    section, _, name = plain.partition(".")
    if section == "scenarios" and name in _RETIRED:
        return f"{source}: {plain} is gone; {_INSTEAD}"
    known = sorted(_keys(Config))
    near = difflib.get_close_matches(plain, known, n=1) or [key for key in known if key.endswith("." + plain)][:1]
    hint = f"did you mean {near[0]!r}?" if near else "mcprl train --print-config shows all keys"
    return f"{source}: unknown key {shortened(repr(where), 200)}; {hint}"


def _keys(section: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, info in section.model_fields.items():
        yield prefix + name
        for inner in (info.annotation, *get_args(info.annotation)):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                yield from _keys(inner, f"{prefix}{name}.")
