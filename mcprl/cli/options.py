"""The command line's flags, made from the configuration tree: one flag for each setting, with its sentence as the help.

There is no second list of settings. A setting's flag is its own name (`training.steps` is `--steps`). If two sections
share that name, the section goes first (`--eval-temperature`). `_ALIASES` has names that are easier to read.
"""

import difflib
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

import click
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from mcprl.config import BY_MODEL, Config, ServerConfig
from mcprl.errors import ConfigError
from mcprl.models.defaults import with_defaults
from mcprl.runs.settings import parse, redacted
from mcprl.text import shortened

_ALIASES = {
    "servers.target": "server",
    "servers.headers": "header",
    "servers.timeout_s": "timeout",
    "tools.allow": "allow-tool",
    "tools.deny": "deny-tool",
    "tools.argument_rules": "argument-rule",
    "tools.reward": "reward-tool",
    "tools.setup": "setup-tool",
    "scenarios.train": "train-tasks",
    "scenarios.val": "val-tasks",
    "scenarios.test": "test-tasks",
    "scenarios.examples": "example",
    "model.name": "model",
    "model.template_options": "template-option",
    "engine.kind": "engine",
    "engine.base_url": "base-url",
    "engine.args": "engine-arg",
    "engine.max_cost": "max-model-cost",
    "engine.environment": "vllm-environment",
    "judge.name": "judge",
    "judge.base_url": "judge-base-url",
    "judge.max_cost": "max-judge-cost",
    "judge.timeout_s": "judge-timeout",
    "trackers": "tracker",
}
_OFF = {"floor": "small-pack"}
"""The flags that switch a setting off, where it is not `--no-` and its name."""
_LOCAL_KEYS = {"name", "runs_dir", "trackers"}  # where a run is kept and logged, not what it does
_FOLDERS = re.compile(r"(?<![\w:/}])[.~]?/(?:[^\s/]+/)*(?=[^\s/])")  # the folders of a path, not of a URL
_NO_LIMIT = 1e9
"""A default that stands for no limit."""
_WITHOUT_FLAG = {"servers.name", "task"}
"""One flag for all servers cannot give each its own name; the file can. The task is an argument of `mcprl auto`."""


@dataclass(frozen=True)
class Leaf:
    """One setting: its key in the tree, and its pydantic field."""

    key: str
    info: FieldInfo

    @property
    def section(self) -> str:
        return self.key.rpartition(".")[0]

    @property
    def name(self) -> str:
        return self.key.rpartition(".")[2].replace("_", "-")

    @property
    def parameter(self) -> str:
        """The name under which click passes the value: the key as an identifier."""
        return self.key.replace(".", "__")


def leaves(section: type[BaseModel] = Config, prefix: str = "") -> Iterator[Leaf]:
    """Every setting below `section`, depth first in the order of the file."""
    for name, info in section.model_fields.items():
        types = (info.annotation, *get_args(info.annotation))
        subsections = [kind for kind in types if isinstance(kind, type) and issubclass(kind, BaseModel)]
        if subsections:
            yield from leaves(subsections[0], f"{prefix}{name}.")
        else:
            yield Leaf(prefix + name, info)


@cache
def flags() -> Mapping[str, Leaf]:
    """Every flag, without its dashes, and its setting."""
    settings = [leaf for leaf in leaves() if leaf.key not in _WITHOUT_FLAG]
    uses = Counter(_ALIASES.get(leaf.key, leaf.name) for leaf in settings)
    by_flag: dict[str, Leaf] = {}
    for leaf in settings:
        flag = _ALIASES.get(leaf.key, leaf.name)
        if uses[flag] > 1 and leaf.key not in _ALIASES and leaf.section:
            flag = f"{leaf.section}-{leaf.name}"
        by_flag[flag] = leaf
    return by_flag


def options(sections: Sequence[str]) -> list[click.Parameter]:
    """The options of a command that needs the settings under `sections` (section names or whole keys)."""
    return [_option(flag, leaf) for flag, leaf in flags().items() if _under(leaf.key, sections)]


def given(settings: Sequence[str], parameters: Sequence[click.Parameter], ctx: click.Context) -> dict[str, Any]:
    """The values of `--set KEY=VALUE`, by the parameters of a command's flags: each is read as its flag reads it.

    Raises `ConfigError` if the command has no such setting.
    """
    by_key = {leaf.key: leaf for leaf in flags().values()}
    by_name = {parameter.name: parameter for parameter in parameters}
    texts: dict[str, list[str]] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        leaf = by_key.get(key.strip())
        if leaf is None or leaf.parameter not in by_name or not equals:
            known = [key for key, leaf in by_key.items() if leaf.parameter in by_name]
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else "--print-config shows them all"
            what = "is no setting of this command" if equals else "is not of the form KEY=VALUE"
            raise ConfigError(f"--set {shortened(setting, 100)}: {what}; {hint}")
        texts.setdefault(leaf.parameter, []).append(text)
    values: dict[str, Any] = {}
    for name, words in texts.items():
        parameter = by_name[name]
        values[name] = parameter.type_cast_value(ctx, words if parameter.multiple else words[-1])
    return values


def _under(key: str, sections: Sequence[str]) -> bool:
    return any(key == section or key.startswith(section + ".") for section in sections)


def config(tree: dict[str, Any], values: Mapping[str, Any]) -> Config:
    """The configuration of a file's `tree`, overridden by the flags' `values`. A flag about servers applies to all of
    them. Raises `ConfigError`."""
    tree = deepcopy(tree)
    by_parameter = {leaf.parameter: leaf for leaf in leaves()}
    overrides = {name: value for name, value in values.items() if name in by_parameter and value not in (None, ())}
    targets = overrides.pop("servers__target", ())
    if targets:
        tree["servers"] = [{"target": target} for target in targets]
    for parameter, value in overrides.items():
        leaf = by_parameter[parameter]
        name = leaf.key.rpartition(".")[2]
        value = dict(value) if _container(leaf.info) is dict else value
        if leaf.section == "servers":
            if not tree.get("servers"):
                flag = _ALIASES.get(leaf.key, leaf.name)
                raise ConfigError(f"--{flag} is about a server, and none is given; add --server URL-or-command")
            for server in tree.get("servers", ()):
                server[name] = {**server.get(name, {}), **value} if isinstance(value, dict) else value
        elif leaf.section:
            tree.setdefault(leaf.section, {})[name] = value
        else:
            tree[name] = value
    return parse(tree)


def _container(info: FieldInfo) -> Any:
    """The type of a setting's value without its parameters: `dict` for `dict[str, str]`."""
    return get_origin(info.annotation) or info.annotation


def command(config: Config) -> str:
    """The command line of such a run: the settings that differ from the defaults, without secrets and without this
    machine's folders."""
    words = ["mcprl", "auto", shlex.quote(config.task)] if config.task else ["mcprl", "train"]
    tree, default = redacted(config), redacted(with_defaults(Config()))
    for flag, leaf in flags().items():
        for value in _changed_values(leaf, tree, default):
            words += _words(flag, value)
    return " ".join(words)


def _changed_values(leaf: Leaf, tree: dict[str, Any], default: dict[str, Any]) -> list[Any]:
    """The values for which a setting's flag is repeated; none if the setting has its default."""
    section, _, name = leaf.key.rpartition(".")
    if section == "servers":
        server_default = ServerConfig.model_fields[name].default
        return [server[name] for server in tree["servers"] if server[name] != server_default]
    value = _value_at(tree, leaf.key)
    if leaf.key in _LOCAL_KEYS or value == _value_at(default, leaf.key):
        return []
    return value if isinstance(value, list) else [value]


def _value_at(tree: dict[str, Any], key: str) -> Any:
    value: Any = tree
    for name in key.split("."):
        value = value[name]
    return value


def _words(flag: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--{_OFF.get(flag, f'no-{flag}')}"]
    if isinstance(value, dict):
        separator = ": " if flag == "header" else "="
        return [f"--{flag} {shlex.quote(f'{key}{separator}{item}')}" for key, item in value.items()]
    return [f"--{flag} {shlex.quote(_FOLDERS.sub('', str(value)))}"]


def _option(flag: str, leaf: Leaf) -> click.Option:
    info = leaf.info
    container = _container(info)
    text = " ".join((info.description or "").replace("`", "").split())
    common: dict[str, Any] = {"help": text + _default_text(info), "default": None}
    if container is bool:
        return click.Option([f"--{flag}/--{_OFF.get(flag, f'no-{flag}')}", leaf.parameter], **common)
    if container is dict:
        separator = ":" if flag == "header" else "="
        return click.Option([f"--{flag}", leaf.parameter], multiple=True, type=_Pair(separator), **common)
    if container is tuple or flag == "server":
        return click.Option([f"--{flag}", leaf.parameter], multiple=True, type=_Text(), **common)
    return click.Option([f"--{flag}", leaf.parameter], type=_Setting(info), **common)


def _default_text(info: FieldInfo) -> str:
    if info.is_required() or isinstance(info.default, bool) or info.default in ("", (), {}):
        return ""
    if isinstance(info.default, float) and info.default >= _NO_LIMIT:
        return " [no limit]"
    default = f"{info.default:g}" if isinstance(info.default, float) else f"{info.default}"
    return f" [by model; nano: {default}]" if BY_MODEL in info.metadata else f" [{default}]"


class _Text(click.ParamType[Any]):
    name = "text"


class _Setting(click.ParamType[Any]):
    """A scalar. pydantic converts and checks it, so the flag accepts exactly what the file accepts."""

    name = "value"

    def __init__(self, info: FieldInfo) -> None:
        self._adapter: TypeAdapter[Any] = TypeAdapter(Annotated[info.annotation, info])  # pyright: ignore[reportInvalidTypeForm, reportArgumentType]
        self._choices = get_args(info.annotation) if get_origin(info.annotation) is Literal else ()
        self.name = {"int": "integer", "float": "number"}.get(getattr(info.annotation, "__name__", ""), "text")

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        return f"[{'|'.join(map(str, self._choices))}]" if self._choices else None

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self._adapter.validate_python(value)
        except ValidationError as error:
            problem = error.errors()[0]["msg"].removeprefix("Value error, ")
            self.fail(f"{shortened(repr(value), 200)}: {problem}", param, ctx)


class _Pair(click.ParamType[Any]):
    """`K=V` or `K: V`."""

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self.name = "'K: V'" if separator == ":" else "K=V"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return self.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        key, separator, text = str(value).partition(self._separator)
        if not separator or not key.strip():
            self.fail(f"{key.split(' ')[0][:40]!r}... is not of the form {self.name}", param, ctx)
        return key.strip(), text.strip() if self._separator == ":" else text
