"""When a text holds a value, and when two calls are the same call. The verifier and the generator share these rules."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mcprl.types import Json, Scalar

_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?!\w)")
_MISSING = re.compile(
    r"\b(?:not (?:be )?(?:found|exist|available|known|listed)|(?:does|do|did)(?:n['’]t| not) (?:exist|find|match|have)|"
    r"could(?:n['’]t| not) (?:find|be found)|can(?:['’]t|not) find|no (?:such|match\w*|result\w*|record\w*|entr\w+)|"
    r"unknown|there (?:is|are) no|nothing (?:was )?found|missing)\b",
    re.IGNORECASE,
)


def squash(text: str) -> str:
    """`text` in lower case with every run of white space made one space."""
    return " ".join(text.casefold().split())


def holds(text: str, value: Scalar) -> bool:
    """Whether `text` states `value`: numbers by value, words by their letters, whole words only.

    `12` is not in `129`, `12.50` is in `$12.5`, `true` is also `yes`.
    """
    if isinstance(value, bool):
        return bool(re.search(r"\b(?:true|yes)\b" if value else r"\b(?:false|no|not)\b", text, re.IGNORECASE))
    if isinstance(value, int | float):
        return any(_number(match) == float(value) for match in _NUMBER.findall(text))
    wanted = squash(value)
    if not wanted:
        return False
    left = r"(?<!\w)" if wanted[0].isalnum() else ""
    right = r"(?!\w)" if wanted[-1].isalnum() else ""
    return re.search(left + re.escape(wanted) + right, squash(text)) is not None


def says_missing(text: str) -> bool:
    """Whether `text` says that something does not exist or was not found."""
    return _MISSING.search(text) is not None


def same_arguments(
    made: Mapping[str, Any] | None, wanted: Mapping[str, Any], schema: Mapping[str, Any] | None = None
) -> bool:
    """Whether a call with `made` is the call with `wanted`. A missing argument counts as its schema's default, or
    null.
    """
    if made is None:
        return False
    properties: Mapping[str, Any] = (schema or {}).get("properties", {})
    return all(
        _same(
            made.get(name, properties.get(name, {}).get("default")),
            wanted.get(name, properties.get(name, {}).get("default")),
        )
        for name in {*made, *wanted}
    )


def leaves(value: Json, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Scalar]]:
    """Every scalar inside a JSON value with its path; nulls are left out."""
    if isinstance(value, Mapping):
        for key, inner in value.items():  # pyright: ignore[reportUnknownVariableType]
            yield from leaves(inner, (*path, str(key)))  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            yield from leaves(inner, (*path, index))
    elif value is not None:
        yield path, value


def is_empty(value: Json, text: str) -> bool:
    """Whether a result that is no error is empty: no text, null, or JSON whose leaves are all "", 0 or false."""
    if value is None:
        return not text.strip() or squash(text) in ("null", "none", "[]", "{}")
    return not any(leaf not in ("", 0, False) for _, leaf in leaves(value))


def _number(text: str) -> float:
    return float(text.replace(",", "").rstrip("."))


def _same(a: Json, b: Json) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return float(a) == float(b)
    if isinstance(a, str) and isinstance(b, str):
        return a.strip() == b.strip()
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)  # pyright: ignore[reportUnknownVariableType]
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))  # pyright: ignore[reportUnknownArgumentType]
    return a == b
