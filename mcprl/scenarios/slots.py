"""Schemas as slots: a tool's arguments as a flat list of scalars to fill, and the arguments built of filled slots.

Probing and the task makers fill slots; nothing but this module reads JSON Schema.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from mcprl.types import Json, Tool

JsonPath = tuple[str | int, ...]
"""The keys and list positions that lead to a value inside JSON."""


@dataclass(frozen=True)
class Slot:
    """One scalar that a call of `tool` can carry. `path` leads to it inside the arguments; 0 stands for any item of a
    list.
    """

    tool: str
    path: JsonPath
    schema: Mapping[str, Any] = field(compare=False)
    required: bool
    description: str

    @cached_property
    def key(self) -> str:
        """The name that says what the slot means: the last one on its path."""
        return next(str(part) for part in reversed(self.path) if isinstance(part, str))

    @cached_property
    def kind(self) -> str:
        """`string`, `integer`, `number` or `boolean`."""
        kind = self.schema.get("type", "string")
        if isinstance(kind, list):
            return next((name for name in kind if name != "null"), "string")  # pyright: ignore
        return str(kind)

    @property
    def choices(self) -> tuple[Any, ...]:
        """All values that the slot takes if the schema lists them, else empty."""
        if "const" in self.schema:
            return (self.schema["const"],)
        if self.kind == "boolean":
            return (True, False)
        return tuple(self.schema.get("enum", ()))


def slots(tool: Tool) -> list[Slot]:
    """The scalar slots of a tool in schema order. Maps, and what is nested deeper than four levels, have none."""
    return list(_walk(tool.name, tool.input_schema, tool.input_schema, (), True, "", 0))


def unfillable(tool: Tool) -> bool:
    """Whether a required argument of the tool has no slot: filling slots then makes no valid call."""
    reached = {slot.path[0] for slot in slots(tool)}
    return any(name not in reached for name in tool.input_schema.get("required", []))


def shown_slots(tool: Tool, arguments: Mapping[str, Any]) -> list[Slot]:
    """The slots of a tool as its schema has them, and those that a call shows of objects whose schema says nothing."""
    known = slots(tool)
    paths = {slot.path for slot in known}
    required = tool.input_schema.get("required", [])
    for path, leaf in _leaves(arguments, ()):
        kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
        if path not in paths and type(leaf) in kinds:
            paths.add(path)
            known.append(Slot(tool.name, path, {"type": kinds[type(leaf)]}, path[0] in required, ""))
    return known


def _leaves(value: Any, path: JsonPath) -> Iterator[tuple[JsonPath, Any]]:
    """Each scalar with its path; 0 stands for any item of a list."""
    if isinstance(value, Mapping):
        for key, inner in value.items():  # pyright: ignore[reportUnknownVariableType]
            yield from _leaves(inner, (*path, str(key)))  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list):
        for inner in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _leaves(inner, (*path, 0))
    else:
        yield path, value


def build(values: Mapping[JsonPath, Json]) -> dict[str, Any]:
    """The arguments that hold these values at these paths."""
    root: dict[str, Any] = {}
    for path, value in values.items():
        node: Any = root
        for part, following in pairwise(path):
            node = _child(node, part, [] if isinstance(following, int) else {})
        _child(node, path[-1], value)
    return root


def _child(node: Any, part: str | int, fresh: Any) -> Any:
    """The value of a list or object at `part`. It is made of `fresh` if `node` has none."""
    if isinstance(part, str):
        return node.setdefault(part, fresh)
    while len(node) <= part:
        node.append(fresh)
    return node[part]


def _walk(
    tool: str,
    root: Mapping[str, Any],
    schema: Mapping[str, Any],
    path: JsonPath,
    required: bool,
    described: str,
    depth: int,
) -> Iterator[Slot]:
    schema = resolve(root, schema)
    described = str(schema.get("description") or described)
    kind = schema.get("type")
    if depth > 4:
        return
    if "properties" in schema:
        needed = set(schema.get("required", []))
        for name, inner in schema["properties"].items():
            yield from _walk(tool, root, inner, (*path, name), required and name in needed, "", depth + 1)
    elif kind == "array":
        yield from _walk(tool, root, schema.get("items") or {}, (*path, 0), required, described, depth + 1)
    elif path and kind != "object" and kind != "null":
        yield Slot(tool, path, schema, required, described)


def resolve(root: Mapping[str, Any], schema: Json) -> Mapping[str, Any]:
    """The schema with a `$ref` followed, a union replaced by its first non-null branch, and `allOf` joined."""
    if not isinstance(schema, Mapping):
        return {}
    if parts := schema.get("allOf"):
        joined: dict[str, Any] = {}
        for part in (*(resolve(root, part) for part in parts), {k: v for k, v in schema.items() if k != "allOf"}):  # pyright: ignore[reportUnknownVariableType]
            inner = {
                "properties": {**joined.get("properties", {}), **part.get("properties", {})},  # pyright: ignore[reportUnknownMemberType]
                "required": [*joined.get("required", []), *part.get("required", [])],  # pyright: ignore[reportUnknownMemberType]
            }
            joined |= {**part, **{key: value for key, value in inner.items() if value}}
        return joined
    for key in ("anyOf", "oneOf"):
        if key in schema:
            branches = [resolve(root, branch) for branch in schema[key]]  # pyright: ignore[reportUnknownVariableType]
            chosen = next((branch for branch in branches if branch.get("type") != "null"), {})
            return {**chosen, **{k: v for k, v in schema.items() if k != key}}  # pyright: ignore[reportUnknownVariableType]
    if "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[-1]  # pyright: ignore[reportUnknownArgumentType]
        return {**root.get("$defs", root.get("definitions", {})).get(name, {}), "$ref_from": name}
    return schema  # pyright: ignore[reportUnknownVariableType]
