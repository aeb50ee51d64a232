"""A tool's arguments as a flat list of slots, and the plain words that names stand for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcprl.types import Json, Tool

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Slot:
    """One scalar that a call of `tool` can carry. `path` leads to it inside the arguments (0 for "an item of the
    list").
    """

    tool: str
    path: Path
    schema: Mapping[str, Any] = field(compare=False)
    required: bool
    description: str

    @property
    def key(self) -> str:
        """The name that says what the slot means: the last one on its path."""
        return next(str(part) for part in reversed(self.path) if isinstance(part, str))

    @property
    def kind(self) -> str:
        """`string`, `integer`, `number` or `boolean`."""
        kind = self.schema.get("type", "string")
        return next((k for k in kind if k != "null"), "string") if isinstance(kind, list) else str(kind)  # pyright: ignore

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values that the schema names, where it names all of them."""
        if "const" in self.schema:
            return (self.schema["const"],)
        return (True, False) if self.kind == "boolean" else tuple(self.schema.get("enum", ()))


def slots(tool: Tool) -> list[Slot]:
    """The scalar slots of a tool in schema order; what the walk cannot express (maps, deep nesting) is left out."""
    return list(_walk(tool.name, tool.input_schema, tool.input_schema, (), True, "", 0))


def unfillable(tool: Tool) -> bool:
    """Whether a required argument of the tool has no slot, so that no call can be made by filling slots."""
    reached = {slot.path[0] for slot in slots(tool)}
    return any(name not in reached for name in tool.input_schema.get("required", []))


def build(values: Mapping[Path, Json]) -> dict[str, Any]:
    """The arguments that hold these values at these paths."""
    root: dict[str, Any] = {}
    for path, value in values.items():
        node: Any = root
        for part, following in zip(path, (*path[1:], None), strict=True):
            fresh: Any = value if following is None else [] if isinstance(following, int) else {}
            if isinstance(part, int):
                while len(node) <= part:
                    node.append(fresh)
                node = node[part]
            else:
                node = node.setdefault(part, fresh)
    return root


def _walk(
    tool: str,
    root: Mapping[str, Any],
    schema: Mapping[str, Any],
    path: Path,
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
    """The schema with a `$ref` followed and the first non-null branch of a union taken."""
    if not isinstance(schema, Mapping):
        return {}
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            branches = [resolve(root, branch) for branch in schema[key]]  # pyright: ignore[reportUnknownVariableType]
            chosen = next((branch for branch in branches if branch.get("type") != "null"), {})
            return {**chosen, **{k: v for k, v in schema.items() if k != key}}  # pyright: ignore[reportUnknownVariableType]
    if "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[-1]  # pyright: ignore[reportUnknownArgumentType]
        return {**root.get("$defs", root.get("definitions", {})).get(name, {}), "$ref_from": name}
    return schema  # pyright: ignore[reportUnknownVariableType]


# --- names as words ---------------------------------------------------------------------------------------------------
