"""How one procedural server writes: the case of its names, the shape of its results, the wording of errors and docs.

A `Style` is drawn once per world, so that a server is consistent with itself and unlike the next one; single tools
deviate now and then, as they do in real servers.
"""

import json
import re
from dataclasses import dataclass, field
from random import Random
from typing import Any

from words import NOUNS, pseudo

Row = dict[str, Any]


class Text(str):
    """A result sent as plain text, not as JSON."""


class Refusal(Exception):
    """A call that the server answers with an error: the text is what the model reads. A soft one lacks the flag."""

    def __init__(self, text: str, soft: bool = False) -> None:
        super().__init__(text)
        self.soft = soft


def cased(words: str, case: str) -> str:
    """`due date` in one of the cases of real servers."""
    parts = re.split(r"[ _\-./]+", words)
    match case:
        case "camel":
            return parts[0].lower() + "".join(part[:1].upper() + part[1:] for part in parts[1:])
        case "pascal":
            return "".join(part[:1].upper() + part[1:] for part in parts)
        case "title":
            return " ".join(part[:1].upper() + part[1:] for part in parts)
        case "kebab":
            return "-".join(parts).lower()
        case "dotted":
            return parts[0].lower() + "." + "_".join(parts[1:]).lower() if len(parts) > 1 else parts[0].lower()
        case "slashed":
            return parts[0].lower() + "/" + "-".join(parts[1:]).lower() if len(parts) > 1 else parts[0].lower()
        case _:
            return "_".join(parts).lower()


def pick(rng: Random, weighted: dict[str, float]) -> str:
    return rng.choices(list(weighted), list(weighted.values()))[0]


MISSING = (
    "No {one} found with id {key}",
    "{One} {key} not found",
    "Error: {one} '{key}' does not exist",
    "not found: {key}",
    "Unknown {one}: {key}",
    "No such {one}: {key}",
    "404: {key}",
    "There is no {one} called {key}.",
    "{One} not found",
    "Error: no record for {key}",
    "Could not find {one} {key}. Check the identifier and try again.",
    "invalid {one} reference {key}",
    "KeyError: '{key}'",
    "Error executing tool: {one} {key} is not known",
    "lookup failed for {key}",
    "{key} does not match any {one}",
    "Nothing is stored for {key}",
    "MCP error -32602: {one} {key} unknown",
)
INVALID = (
    "Input validation error: {problem}",
    "Error: {problem}",
    "Invalid arguments: {problem}",
    "1 validation error: {problem}",
    "MCP error -32602: Invalid arguments: {problem}",
    "bad request ({problem})",
    "ValidationError: {problem}",
)
DONE = (
    "{Past} {one} {key}.",
    "{One} {key} was {past}.",
    "OK: {one} {key} {past}",
    "Successfully {past} {one} {key}",
    "{One} {past}: {key}",
    "Done. {One} {key} has been {past}.",
    "{past} {key}",
)
EXTRA_DOCS = (
    "Use this when the identifier is known.",
    "Returns JSON.",
    "Fails if it does not exist.",
    "Results are sorted.",
    "Only visible records are returned.",
    "Requires a valid identifier.",
    "Cheap to call.",
    "See the other tools for details.",
    "The result is a single object.",
    "Values are current as of the call.",
    "Do not guess the arguments.",
    "Case-insensitive.",
    "At most one page of results is returned.",
    "No side effects.",
    "Call it before changing anything.",
    "Times are local.",
)
SETTINGS = (
    "in the {name} registry",
    "for the {noun} team",
    "in this workspace",
    "of {name}",
    "on the {noun} server",
    "in the current account",
    "from the {name} database",
    "at {name} {noun}",
    "known to the system",
    "of the {noun} office",
    "via the {name} API",
)


@dataclass
class Style:
    """The habits of one server."""

    tool_case: str
    param_case: str
    key_case: str
    prefix: str
    one: str
    many: str
    scalar: str
    done: str
    missing: str
    missing_as: str
    invalid: str
    odd_verbs: float
    titles: float
    param_docs: float
    annotate: float
    long_docs: float
    period: bool
    silent: float
    setting: str
    optional: str
    property_titles: bool
    yes_no: tuple[str, str]
    words_of: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def draw(cls, rng: Random) -> "Style":
        tool_case = pick(rng, {"snake": 5, "camel": 2, "kebab": 2, "dotted": 0.6, "pascal": 0.5, "slashed": 0.2})
        param_case = pick(rng, {"snake": 5, "camel": 3, "kebab": 0.4})
        key_case = (
            param_case
            if rng.random() < 0.7
            else pick(rng, {"snake": 3, "camel": 3, "title": 1, "kebab": 0.5, "pascal": 1})
        )
        prefix = (
            ""
            if rng.random() < 0.75
            else rng.choice((rng.choice(NOUNS), pseudo(rng), "hr", "ops", "api", "db", "my", "lab"))
        )
        return cls(
            tool_case,
            param_case,
            key_case,
            prefix,
            one=pick(
                rng, {"bare": 5, "data": 1, "named": 1.2, "ok": 0.4, "lines": 1.6, "sentence": 0.25, "markdown": 0.6}
            ),
            many=pick(
                rng,
                {
                    "list": 3,
                    "result": 0.6,
                    "results": 1,
                    "data": 1,
                    "named": 2,
                    "total": 1,
                    "keyed": 0.6,
                    "lines": 0.6,
                    "csv": 0.5,
                    "blocks": 0.6,
                    "table": 0.4,
                    "numbered": 0.4,
                    "items": 0.6,
                },
            ),
            scalar=pick(rng, {"bare": 2, "result": 1, "named": 3, "sentence": 1.5, "value": 0.7}),
            done=pick(rng, {"record": 2, "message": 2.5, "ok": 1, "status": 1, "wrapped": 0.7}),
            missing=rng.choice(MISSING),
            missing_as=pick(rng, {"text": 7, "json": 2, "soft": 0.6, "found": 0.4}),
            invalid=rng.choice(INVALID),
            odd_verbs=rng.choice((0, 0, 0.3, 1)),
            titles=rng.choice((0, 0, 0.5, 1)),
            param_docs=rng.choice((0, 0.4, 0.8, 1)),
            annotate=rng.choice((0, 0.8, 1, 1, 1)),
            long_docs=rng.choice((0, 0, 0.2, 0.6)),
            period=rng.random() < 0.6,
            silent=rng.choice((0, 0, 0, 0, 0.1, 0.5)),
            setting=rng.choice(SETTINGS).format(name=pseudo(rng).capitalize(), noun=rng.choice(NOUNS)),
            optional=pick(rng, {"plain": 6, "any of": 1.5, "default": 2, "types": 0.3}),
            property_titles=rng.random() < 0.15,
            yes_no=rng.choice((("yes", "no"), ("true", "false"), ("True", "False"), ("Y", "N"))),
        )

    # --- names ---

    def key(self, words: str) -> str:
        """The result key that stands for `words`."""
        name = cased(words, self.key_case)
        self.words_of[name] = words
        return name

    def param(self, words: str) -> str:
        return cased(words, self.param_case)

    def tool(self, words: str) -> str:
        return cased(f"{self.prefix} {words}" if self.prefix else words, self.tool_case)

    # --- results ---

    def show(self, value: Any) -> str:
        if isinstance(value, bool):
            return self.yes_no[0] if value else self.yes_no[1]
        if isinstance(value, list):
            return ", ".join(map(self.show, value)) or "-"
        if isinstance(value, dict):
            return ", ".join(f"{self.spoken(key)} {self.show(inner)}" for key, inner in value.items())
        return "-" if value is None else str(value)

    def spoken(self, key: str) -> str:
        return self.words_of.get(key, key)

    def lines(self, row: Row, start: str = "", bold: str = "") -> str:
        return "\n".join(f"{start}{bold}{cased(self.spoken(key), 'title')}{bold}: {self.show(row[key])}" for key in row)

    def pairs(self, row: Row, between: str = ", ") -> str:
        return between.join(f"{self.spoken(key)}: {self.show(value)}" for key, value in row.items())

    def record(self, one: str, row: Row, style: str = "") -> Any:
        """One thing as this server shows one thing."""
        match style or self.one:
            case "data":
                return {"data": row}
            case "named":
                return {self.key(one): row}
            case "ok":
                return {"ok": True, **row}
            case "lines":
                return Text(self.lines(row))
            case "markdown":
                head, *_ = row.values()
                return Text(f"## {self.show(head)}\n" + self.lines(row, "- ", "**"))
            case "sentence":
                (_, head), *rest = row.items()
                told = "; ".join(f"{self.spoken(key)} {self.show(value)}" for key, value in rest)
                return Text(f"{one.capitalize()} {self.show(head)}: {told}.")
            case _:
                return row

    def rows(self, many: str, rows: list[Row], style: str = "", total: int = 0) -> Any:
        """Several things as this server shows several things. Text styles say so if there are none.

        `total`: how many there are, if the rows are only a page of them.
        """
        style, total = style or self.many, max(total, len(rows))
        if not rows and style in ("lines", "csv", "blocks", "table", "numbered"):
            return Text(f"No {many} found.")
        match style:
            case "result":
                return {"result": rows}
            case "results":
                return {"results": rows, "count": total}
            case "data":
                return {"data": rows}
            case "named":
                return {self.key(many): rows}
            case "total":
                return {"total": total, self.key(many): rows}
            case "items":
                return {"items": rows, self.key("has more"): total > len(rows)}
            case "keyed" if all(len(row) > 1 and isinstance(next(iter(row.values())), str) for row in rows):
                return {str(head): rest for head, rest in map(_split, rows)}
            case "lines":
                return Text("\n".join(f"- {self.pairs(row)}" for row in rows))
            case "numbered":
                told = (f"{i}. {self.pairs(row, ' | ')}" for i, row in enumerate(rows, 1))
                return Text(f"Found {total} {many}:\n" + "\n".join(told))
            case "csv":
                return Text("\n".join([",".join(rows[0]), *(",".join(map(self.show, row.values())) for row in rows)]))
            case "table":
                head = " | ".join(rows[0])
                return Text("\n".join([head, *(" | ".join(map(self.show, row.values())) for row in rows)]))
            case "blocks":
                return Text("\n\n".join(map(self.lines, rows)))
            case _:
                return rows

    def value(self, what: str, value: Any, style: str = "") -> Any:
        """One computed or looked-up value."""
        match style or self.scalar:
            case "bare":
                return Text(self.show(value)) if not isinstance(value, list) else value
            case "result":
                return {"result": value}
            case "value":
                return {"value": value}
            case "sentence":
                return Text(f"The {what} is {self.show(value)}.")
            case _:
                return {self.key(what): value}

    def changed(self, one: str, past: str, id_key: str, key: Any, row: Row | None = None) -> Any:
        """The answer to a write: the record, a message, or a small acknowledgement."""
        words = {"one": one, "One": one.capitalize(), "key": key, "past": past, "Past": past.capitalize()}
        match self.done:
            case "record" if row is not None:
                return self.record(one, row)
            case "wrapped" if row is not None:
                return {"message": f"{one} {past}", self.key(one): row}
            case "ok":
                return {"ok": True, id_key: key}
            case "status":
                return {"status": past, id_key: key}
            case _:
                return Text(DONE[sum(map(ord, self.missing)) % len(DONE)].format(**words))

    # --- errors ---

    def absent(self, one: str, key: Any) -> Refusal:
        text = self.missing.format(one=one, One=one.capitalize(), key=key)
        match self.missing_as:
            case "json":
                return Refusal(json.dumps({"error": text.removeprefix("Error: ")}, ensure_ascii=False))
            case "found":
                return Refusal('{"found":false}', soft=True)
            case as_text:
                return Refusal(text, soft=as_text == "soft")

    def wrong(self, problem: str) -> Refusal:
        return Refusal(self.invalid.format(problem=problem))

    # --- documentation ---

    def doc(self, rng: Random, text: str) -> str:
        """A tool's description as this server writes descriptions: none, a phrase, or up to three sentences."""
        if rng.random() < self.silent:
            return ""
        text = _ARTICLE.sub(r"\1n \2", text[:1].upper() + text[1:])
        if rng.random() < 0.12:
            text = f"{text} {self.setting}"
        if rng.random() < self.long_docs:
            return ". ".join((text, *rng.sample(EXTRA_DOCS, rng.randint(1, 2)))).replace(".. ", ". ")
        return text + "." if self.period and not text.endswith(".") else text

    def schema(self, rng: Random, words: str, schema: dict[str, Any], doc: str, required: bool) -> dict[str, Any]:
        """A property as this server lists it: pydantic's `anyOf` with null, a default, a title, or bare."""
        shown = dict(schema)
        if not required and self.optional == "any of":
            shown = {"anyOf": [schema, {"type": "null"}], "default": schema.get("default")}
        elif not required and self.optional == "types" and "enum" not in schema:
            shown["type"] = [schema["type"], "null"]
        elif self.optional != "default":
            shown.pop("default", None)
        if self.property_titles:
            shown["title"] = cased(words, "title")
        if doc and rng.random() < self.param_docs:
            mark = "" if required else rng.choice(("", "", "", " (optional)", " - optional", ", if any"))
            shown["description"] = _ARTICLE.sub(r"\1n \2", doc[:1].upper() + doc[1:] if self.period else doc) + mark
        return shown


_ARTICLE = re.compile(r"\b([Aa]) ([aeiouAEIO])")


def _split(row: Row) -> tuple[Any, Row]:
    (_, head), *rest = row.items()
    return head, dict(rest)
