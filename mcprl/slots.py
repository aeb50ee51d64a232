"""A tool's arguments as a flat list of slots, and the plain words that names stand for."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from mcprl.types import Json, Tool

Path = tuple[str | int, ...]

_WRITES = frozenset(
    (
        "add append archive assign book cancel change clear close configure copy create delete disable edit enable "
        "insert invite link lock log mark merge modify move patch place post publish put record "
        "register remove rename replace reserve reset restore save schedule send set start stop store submit tag "
        "toggle trigger unlink update upload upsert write "
    ).split()
)
_VERBS = _WRITES | frozenset(
    (
        "browse calc calculate check compare compute convert count describe do estimate explore fetch filter find "
        "format get give inspect list load look lookup measure peek print query read retrieve return run scan "
        "search see show tell view "
    ).split()
)


_VAGUE = frozenset(
    ("a all an any available current details every info information many multiple of several the ").split()
)
_IRREGULAR = {
    "people": "person",
    "children": "child",
    "indices": "index",
    "series": "series",
    "status": "status",
    "news": "news",
}


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


@lru_cache(maxsize=65_536)
def words(name: str) -> tuple[str, ...]:
    """`getOrderItems`, `get_order-items` and `get.order items` as `("get", "order", "items")`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+", " ", name)
    return tuple(spaced.lower().split())


def spoken(name: str) -> str:
    """A name as a person says it: `customer_id` is `customer id`."""
    return " ".join(words(name)) or name


@lru_cache(maxsize=65_536)
def stems(name: str) -> tuple[str, ...]:
    """The words of a name in the singular, for comparing names."""
    return tuple(singular(word) for word in words(name))


def singular(word: str) -> str:
    """A plural without its ending, roughly: enough to see that `companies` and `company` are one."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 2 else word


def verb(tool: Tool) -> str:
    """The first word of a tool's name that is a known verb, else its first word."""
    parts = words(tool.name)
    return next((word for word in parts if word in _VERBS), parts[0] if parts else "")


def doing(tool: Tool) -> str:
    """A tool's name as an order: `hr_get_order` is `get order`."""
    parts = words(tool.name)
    at = next((i for i, word in enumerate(parts) if word in _VERBS), 0)
    return " ".join(parts[at:])


def noun(tool: Tool) -> str:
    """What a tool is about: its name without verbs, small words and a server prefix (`hr_get_order_by_id`: `order`)."""
    rest = [word for word in doing(tool).split() if word not in _VERBS and word not in _VAGUE]
    ends = (i for i, word in enumerate(rest) if i and word in ("by", "for", "from", "with", "in", "of", "to"))
    return " ".join(rest[: next(ends, len(rest))] or words(tool.name))


def is_read(tool: Tool) -> bool:
    """Whether calling the tool to look around is safe: the server's hint where it gives one, else no writing verb in
    its name or, where the name has no verb that reads, at the head of its title or description (`open_issue`: "Creates
    an issue").
    """
    if tool.read_only is not None:
        return tool.read_only
    verbs = {*words(tool.name)}
    if not verbs & (_VERBS - _WRITES):
        verbs |= {head for text in (tool.title or "", tool.description) for head in stems(text)[:1]}
    return not tool.destructive and not verbs & _WRITES


def related(a: Sequence[str], b: Sequence[str]) -> float:
    """How alike two stemmed names are: 1 the same, 0.5 and up when they end alike, 0 unrelated."""
    if not a or not b:
        return 0.0
    if a == b:
        return 1.0
    shared = len({*a} & {*b})
    return (0.5 if a[-1] == b[-1] else 0.2 if shared else 0.0) + 0.3 * shared / len({*a, *b})
