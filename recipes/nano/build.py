"""Collecting a world: a `Builder` gathers tools, their handlers and the state, so that families stay short."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from practice import READING
from style import Style, cased
from words import Column

from mcprl.servers.effects import is_read
from mcprl.types import Tool

State = dict[str, dict[Any, Any]]
"""Tables by name: each maps a key to a row (a dict), a list, or a plain value."""

Args = dict[str, Any]
Run = Callable[[State, Args], Any]
Effect = Literal["read", "write", "destroy"]


@dataclass(frozen=True)
class Param:
    """A parameter: `slot` is how the handler calls it, `words` how the server names it."""

    slot: str
    words: str
    schema: dict[str, Any]
    doc: str = ""
    required: bool = True

    @classmethod
    def of(
        cls, slot: str, words: str, kind: str, doc: str = "", required: bool = True, enum: Sequence[str] = ()
    ) -> "Param":
        schema: dict[str, Any] = {"type": kind, "enum": list(enum)} if enum else {"type": kind}
        if kind == "array":
            schema["items"] = {"type": "string"}
        return cls(slot, words, schema, doc, required)

    @classmethod
    def column(cls, column: Column, doc: str = "", required: bool = True, slot: str = "") -> "Param":
        return cls.of(slot or column.words, column.words, column.type, doc, required, column.choices)


def number(slot: str, words: str, doc: str = "", required: bool = True, kind: str = "number") -> Param:
    return Param.of(slot, words, kind, doc, required)


def text(slot: str, words: str, doc: str = "", required: bool = True) -> Param:
    return Param.of(slot, words, "string", doc, required)


def choice(slot: str, words: str, options: Sequence[str], doc: str = "", required: bool = True) -> Param:
    return Param.of(slot, words, "string", doc, required, options)


@dataclass(frozen=True)
class Handler:
    """What runs a call: the slot and the schema of each parameter by its public name, and which must be given."""

    run: Run
    slots: dict[str, str]
    accepted: dict[str, dict[str, Any]]
    required: list[str]


@dataclass
class Builder:
    """The world so far."""

    rng: Random
    style: Style
    tools: list[Tool] = field(default_factory=list[Tool])
    handlers: dict[str, Handler] = field(default_factory=dict[str, Handler])
    state: State = field(default_factory=dict[str, dict[Any, Any]])
    flavour: str = ""
    """A word put before the names of the tools that are added meanwhile."""

    def say(self, *wordings: str, **words: Any) -> str:
        """One of several wordings, filled in."""
        return self.rng.choice(wordings).format(**words)

    def noun_doc(self, what: str) -> str:
        """A description of what a tool gives, mostly led in by a verb."""
        what = what[:1].lower() + what[1:]
        return self.say(
            "Get the {w}",
            "Compute the {w}",
            "Calculate the {w}",
            "Returns the {w}",
            "Work out the {w}",
            "Give the {w}",
            "{w}",
            "Tells the {w}",
            w=what,
        )

    def verb(self, *verbs: str) -> str:
        return self.rng.choice(verbs)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def add(
        self,
        words: str,
        doc: str,
        params: Sequence[Param],
        run: Run,
        effect: Effect = "read",
    ) -> None:
        """One more tool. Left out where its name or two of its parameters would clash."""
        rng, style = self.rng, self.style
        verb, _, rest = words.partition(" ")
        if effect == "read" and verb in READING and rest and rng.random() < style.odd_verbs:
            words = f"{rng.choice(READING)} {rest}"
        name = style.tool(f"{self.flavour} {words}" if self.flavour else words)
        if name in self.handlers or len({style.param(param.words) for param in params}) < len(params):
            return
        shown = {style.param(p.words): style.schema(rng, p.words, p.schema, p.doc, p.required) for p in params}
        required = [style.param(p.words) for p in params if p.required]
        schema = {"type": "object", "properties": shown, "required": required}
        looks_read = is_read(Tool(name, doc, schema))
        hints = rng.random() < style.annotate or looks_read != (effect == "read")  # `tie_cards` without one is probed
        title = (doc[:40] if rng.random() < 0.3 else cased(words, "title")) if rng.random() < style.titles else None
        self.tools.append(
            Tool(
                name,
                style.doc(rng, doc),
                schema,
                title=title,
                read_only=effect == "read" if hints else None,
                destructive=effect == "destroy" if hints and effect != "read" else None,
            )
        )
        accepted = {style.param(param.words): param.schema for param in params}
        slots = {style.param(param.words): param.slot for param in params}
        self.handlers[name] = Handler(run, slots, accepted, required)
