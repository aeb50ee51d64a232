"""Arguments and results as JSON: their scalars, and whether two calls are the same call."""

from collections.abc import Iterator, Mapping
from typing import Any

from mcprl.servers.statements import same_statement
from mcprl.types import Json, Scalar


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


def _same(a: Json, b: Json) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return float(a) == float(b)
    if isinstance(a, str) and isinstance(b, str):
        return a.strip() == b.strip() or same_statement(a, b)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)  # pyright: ignore[reportUnknownVariableType]
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))  # pyright: ignore[reportUnknownArgumentType]
    return a == b
