"""Write docs/config.md from the configuration models: every key with its flag, type, default and sentence.

    python docs/make_config.py

A test fails if docs/config.md differs from what this makes.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from pydantic.fields import FieldInfo

from mcprl.cli.options import Leaf, flags, leaves
from mcprl.models.defaults import RULES

PAGE = Path(__file__).parent / "config.md"
INTRODUCTION = """# Every setting

Made by `python docs/make_config.py` from `mcprl/config.py`; do not edit it by hand.

One tree holds every setting. A TOML file (`--config FILE`, `--preset NAME`) and the flags name the same keys.
Flags win over `--config`, which wins over `--preset`.
`mcprl train --print-config` prints the tree in effect. An unknown key is an error that names the nearest known one.
A list has a flag that can be given several times. A yes-or-no setting has the flags `--flag` and `--no-flag`.
"""


def page() -> str:
    """The whole of config.md."""
    sections: dict[str, list[Leaf]] = {}
    for leaf in leaves():
        sections.setdefault(leaf.section, []).append(leaf)
    return "\n".join(
        [INTRODUCTION, *_rules(), *(line for section, of in sections.items() for line in _table(section, of))]
    )


def _rules() -> Iterator[str]:
    yield "## What follows from the model\n"
    yield "Left out, these settings are as the model needs them; `--print-config` shows the values. Nano's are below.\n"
    yield "| key | rule |"
    yield "|---|---|"
    yield from (f"| `{key}` | {why} |" for key, (_, why) in RULES.items())
    yield ""


def _table(section: str, of: list[Leaf]) -> Iterator[str]:
    named = {leaf.key: flag for flag, leaf in flags().items()}
    heading = f"`[{section}]`" if section != "servers" else "`[[servers]]`, one for each server"
    yield f"## {heading if section else 'The run (top of the file)'}\n"
    yield "| key | flag | type | default | meaning |"
    yield "|---|---|---|---|---|"
    for leaf in of:
        flag = f"`--{named[leaf.key]}`" if leaf.key in named else ""
        cells = (f"`{leaf.key}`", flag, _type(leaf.info), _default(leaf.info), leaf.info.description or "")
        yield "| " + " | ".join(_cell(cell) for cell in cells) + " |"
    yield ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _type(info: FieldInfo) -> str:
    """The type in words, with its bounds: "whole number >= 1"."""
    bounds = [
        f"{sign} {getattr(rule, name):g}" for rule in info.metadata for name, sign in _SIGNS if hasattr(rule, name)
    ]
    return " ".join([_named(info.annotation), ", ".join(bounds)]).strip()


_SIGNS = (("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<="))
_NAMES = {str: "text", int: "whole number", float: "number", bool: "yes or no"}


def _named(annotation: Any) -> str:
    if annotation in _NAMES:
        return _NAMES[annotation]
    kind, inner = get_origin(annotation), get_args(annotation)
    if kind is Annotated:
        return _named(inner[0])
    if kind is tuple:
        return f"list of {_named(inner[0])}"
    if kind is dict:
        return f"table of {_named(inner[1])}"
    return ", ".join(f"`{choice}`" for choice in inner)  # a Literal


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "(required)"
    value = info.default
    if value in ("", (), {}):
        return "(empty)"
    if isinstance(value, float):
        return f"`{value:g}`"
    return f"`{json.dumps(value)}`"


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"wrote {PAGE}")
