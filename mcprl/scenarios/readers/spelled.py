"""Data spelled in a language of its own inside a text: JSON, Python literals, YAML."""

import ast
import datetime
import json
import re
import warnings
from typing import Any

import yaml

from mcprl.scenarios.readers.scalars import is_name, scalar
from mcprl.types import Json

_OPENING = re.compile(
    r"(?:^|(?<=[\s:=>]))[\[{](?=\s*(?:[\[{\"'\]}(]|-?\d|true|false|null|None|True|False))", re.MULTILINE
)
_FAILURES = 8  # each failure to parse costs at most one pass over the text
_INDENTED = re.compile(
    r"^(?:- )?[^\s:#][^:\n]{0,60}:[ \t]*\n(?:[ \t]+\S|[ \t]*- \S)|^-[ \t]+[\w ]{1,40}:\s.*\n[ \t]+[\w ]{1,40}:",
    re.MULTILINE,
)


def read_spelled(text: str) -> Json:
    """The data that the text spells, alone or between sentences; `None` if there is none."""
    stripped = text.strip()
    value = _json(stripped)
    if value is None:
        value = _python(stripped)
    return None if value is None else tabled(value)


def tabled(value: Json) -> Json:
    """A list of equally long lists of scalars as records (`column N`); any other value as it is."""
    if not isinstance(value, list) or not value or not all(isinstance(row, list) for row in value):
        return value
    rows: list[list[Any]] = value
    if len({len(row) for row in rows}) != 1 or any(isinstance(cell, list | dict) for row in rows for cell in row):
        return value
    return [{f"column {n}": cell for n, cell in enumerate(row) if cell is not None} for row in rows]


def _json(text: str) -> Json:
    """The JSON objects and lists in a text that has little else: one value, or a list of several objects."""
    decoder = json.JSONDecoder()
    values: list[Json] = []
    position = covered = failed = 0
    while failed < _FAILURES and (match := _OPENING.search(text, position)):
        try:
            value, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            failed += 1
            position = match.end()
            continue
        values.append(value)
        covered += end - match.start()
        position = end
    values = [value for value in values if value not in ({}, [])] or values[:1]
    if not values or not _is_main(values[0], covered, len(text)):
        return None
    return values[0] if len(values) == 1 else values


def _is_main(value: Json, covered: int, size: int) -> bool:
    """Whether a value found in a text is what the text is about: an object or objects, or most of the text."""
    holds_record = isinstance(value, dict) or (bool(value) and isinstance(value[0], dict))
    return covered > size * (0.2 if holds_record else 0.6)


def _python(text: str) -> Json:
    """The Python list, tuple or dictionary that the text ends with, behind at most a sentence."""
    match = re.search(r"(?:^|(?<=[\s:=]))[\[({]", text)
    end = max(text.rfind(mark) for mark in "])}") + 1
    if not match or end <= match.start() or end - match.start() < 0.5 * len(text):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a server's text is no program: its escapes and comparisons warn nobody
        try:
            tree = ast.parse(text[match.start() : end].strip(), mode="eval")
            return _literal(tree.body) if isinstance(tree.body, ast.List | ast.Dict | ast.Tuple | ast.Set) else None
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None


def _literal(node: ast.expr) -> Json:
    """The value of a literal; a call such as `Decimal('1.5')` or `datetime.date(2026, 3, 3)` is the value it prints."""
    match node:
        case ast.List() | ast.Tuple() | ast.Set():
            return [_literal(item) for item in node.elts]
        case ast.Dict():
            return {str(_literal(key)): _literal(item) for key, item in zip(node.keys, node.values, strict=True) if key}
        case ast.Call(args=args, keywords=[]):
            return _call(ast.unparse(node.func).rpartition(".")[2], [_literal(arg) for arg in args])
        case _:
            value = ast.literal_eval(node)
            return value.decode(errors="replace") if isinstance(value, bytes) else value


def _call(name: str, values: list[Json]) -> Json:
    kinds = {"datetime": datetime.datetime, "date": datetime.date, "time": datetime.time}
    if name in kinds and values:
        return str(kinds[name](*values))
    if len(values) == 1:
        return scalar(values[0]) if name == "Decimal" and isinstance(values[0], str) else values[0]
    raise ValueError(f"{name}(...) is no literal")


class _Aliased(yaml.YAMLError):
    pass


class _Loader(yaml.CBaseLoader if hasattr(yaml, "CBaseLoader") else yaml.BaseLoader):  # pyright: ignore
    """YAML whose plain scalars are typed by `scalar`: no dates, no sexagesimal numbers, no `no` for false."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):  # a few aliases of aliases can spell gigabytes
            raise _Aliased("aliases are not read")
        return super().compose_node(parent, index)

    def construct_scalar(self, node: Any) -> Any:
        value = super().construct_scalar(node)
        return scalar(value) if node.style in (None, "") else value

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [key.value for key, _ in node.value]
        if len(set(keys)) < len(keys):
            raise _Aliased("a key stands twice: this is a text of several records")
        pairs = [(key.value, self.construct_object(value, deep=True)) for key, value in node.value]
        return {key: value for key, value in pairs if value is not None}


_Loader.add_constructor("tag:yaml.org,2002:map", _Loader.construct_mapping)


def read_yaml(text: str) -> Json:
    """A YAML document with nesting as data; `None` for anything else (flat pairs are read by the reader of blocks)."""
    if "\t" in text or not _INDENTED.search(text):
        return None
    try:
        values = list(yaml.load_all(text, _Loader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    value = values[0] if len(values) == 1 else [value for value in values if value is not None]
    if not isinstance(value, dict | list) or not _has_names(value):
        return None
    if re.search(r"^\s*- [^:\n]{1,60}: .*\n\s*- ", text, re.MULTILINE) and _is_pairs(value):
        return None  # bullets of pairs: the reader of blocks sees whether they are one record
    only = next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else None
    return only if isinstance(only, list) else value  # a list's only key is its heading


def _is_pairs(value: Json) -> bool:
    """Whether a value is a list of objects with one field each, or has one."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, dict) and len(item) == 1 for item in value)
    return isinstance(value, dict) and any(map(_is_pairs, value.values()))


def _has_names(value: Json) -> bool:
    """Whether every key inside could be the name of a field or an entry: sentences before colons could not."""
    if isinstance(value, dict):
        return bool(value) and all(is_name(str(key), 4) and _has_names(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_has_names, value))
    return not isinstance(value, str) or len(value) < 2_000
