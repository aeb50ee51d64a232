"""Collecting a world: a `Builder` gathers tools, their handlers and the state, so that families stay short."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from style import Style
from words import Column

from mcprl.types import Tool

State = dict[str, dict[Any, Any]]
"""Tables by name: each maps a key to a row (a dict), a list, or a plain value."""

Args = dict[str, Any]
Run = Callable[[State, Args], Any]


@dataclass(frozen=True)
class Param:
    """A parameter: `slot` is how the handler calls it, `words` how the server names it."""

    slot: str
    words: str
    schema: dict[str, Any]
    doc: str = ""
    required: bool = True

    @classmethod
    def of(cls, slot: str, words: str, kind: str, doc: str = "", required: bool = True, enum: Sequence[str] = ()) -> "Param":
        schema: dict[str, Any] = {"type": kind, "enum": list(enum)} if enum else {"type": kind}
        if kind == "array":
            schema["items"] = {"type": "string"}
        return cls(slot, words, schema, doc, required)

    @classmethod
    def column(cls, column: Column, doc: str = "", required: bool = True, slot: str = "") -> "Param":
        return cls.of(slot or column.words, column.words, column.type, doc, required, column.choices)


@dataclass(frozen=True)
class Handler:
    run: Run
    slots: dict[str, str]


@dataclass
class Builder:
    """The world so far."""

    rng: Random
    style: Style
    tools: list[Tool] = field(default_factory=list[Tool])
    handlers: dict[str, Handler] = field(default_factory=dict[str, Handler])
    state: State = field(default_factory=dict[str, dict[Any, Any]])

    def say(self, *wordings: str, **words: Any) -> str:
        """One of several wordings, filled in."""
        return self.rng.choice(wordings).format(**words)

    def verb(self, *verbs: str) -> str:
        return self.rng.choice(verbs)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def add(
        self, name: str, doc: str, params: Sequence[Param], run: Run, effect: Literal["read", "write", "destroy"] = "read"
    ) -> None:
        """One more tool. Left out where its name or two of its parameters would clash."""
        rng, style = self.rng, self.style
        name = style.tool(name)
        if name in self.handlers or len({style.param(param.words) for param in params}) < len(params):
            return
        properties: dict[str, Any] = {}
        for param in params:
            described = param.doc and rng.random() < style.param_docs
            properties[style.param(param.words)] = {**param.schema, "description": param.doc} if described else param.schema
        required = [style.param(param.words) for param in params if param.required]
        schema = {"type": "object", "properties": properties, "required": required}
        hints = rng.random() < style.annotate
        title = doc.split(".")[0][:40] if rng.random() < style.titles else None
        self.tools.append(
            Tool(
                name, style.doc(rng, doc), schema, title=title,
                read_only=effect == "read" if hints else None,
                destructive=effect == "destroy" if hints and effect != "read" else None,
            )
        )  # fmt: skip
        self.handlers[name] = Handler(run, {style.param(param.words): param.slot for param in params})
