"""Where the values of a slot come from: places in results, what schemas, descriptions and errors list, and how likely
each fits a slot.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from mcprl.scenarios.names import noun, related
from mcprl.scenarios.slots import JsonPath, Slot
from mcprl.text import stems, words
from mcprl.types import Scalar, Tool

Source = tuple[str, ...]
"""Where values come from. `("from", tool, *keys)` is a place in results; in place of a tool it may name a resource,
`COMMAND`, `ENVIRONMENT`, `INSTRUCTIONS`, `COMPLETIONS` or `HINTS`. The others are `("choices",)` and `("quoted",)` for
what the schema lists and gives as examples, `("worked",)` for values that were found by trying, `("sql",)` for SQL
about the tables seen, and `("invented",)`; `("part",)` is a part of many names, to find names with.
"""
COMMAND, ENVIRONMENT, INSTRUCTIONS = "command line", "environment", "instructions"
COMPLETIONS, HINTS = "completions", "hints"
CONFIGURED = (COMMAND, ENVIRONMENT)
"""Origins whose values are settings of the server and no entities that it holds."""
GIVEN = (COMMAND, ENVIRONMENT, INSTRUCTIONS, COMPLETIONS, HINTS)
"""Origins whose values hold in every state of the server."""
KINDS = ("choices", "from", "sql", "worked", "quoted", "invented")
"""Kinds of sources that tasks may draw from, the best first."""

_TELLING = ("id", "name", "key", "code", "title", "slug")
"""Keys that say nothing without the name of their thing."""
_NAMELESS = ("value", "key", "line", "item", "column", "result", "number", "code", "hash")
"""Keys of places that have no name of their own."""


def place(origin: str, path: JsonPath) -> Source:
    """A place in results: the tool (or resource) and the keys on the path. List positions are left out."""
    return ("from", origin, *(part for part in path if isinstance(part, str)))


def quoted(slot: Slot, tool: Tool) -> list[Scalar]:
    """The values that a slot's schema or description gives: its default, examples, and what it lists, or its tool's
    description lists behind its name ("to another stage: open, paid").
    """
    examples: list[object] = []
    if slot.required and slot.schema.get("default") not in (None, ""):
        examples.append(slot.schema["default"])
    examples += list(slot.schema.get("examples", ()))
    if slot.kind == "string":
        examples += re.findall(r"(?<!\w)['\"`“]([^'\"`“”\s][^'\"`“”]{0,40})['\"`”]", slot.description)
        for listing in re.findall(r"(?:such as|e\.g\.,?|for example,?|like|example:)\s+([^'\"`()]+)", slot.description):
            examples += [word.strip(".;") for word in re.split(r",\s*|\s+or\s+", listing) if len(word.split()) == 1]
        examples += listed(slot.description)
        for sentence in re.split(r"\.(?:\s|$)|;|\n", tool.description):
            told = re.search(rf"(?i)\b{re.escape(slot.key)}s?\b[^:]{{0,30}}:\s*(.+)", sentence)
            examples += listed(f"one of: {told[1]}") if told else []
        examples += re.findall(r"(?<![\w-])[A-Z]{1,4}-\d{1,6}(?![\w-])", slot.description)
    if slot.kind in ("integer", "number"):
        examples += [int(value) for value in listed(slot.description) if value.isdigit()]
    told = (value for value in examples if isinstance(value, str | int | float))
    return list(dict.fromkeys(value for value in told if not _PLACEHOLDER.search(str(value))))


_PLACEHOLDER = re.compile(r"\*\.(?:ext|extension|xyz)$")
"""A pattern that only shows how patterns look."""
_LEADS = (
    re.compile(
        r"\b(?:one of|any of|either|enum|accepts|use|choose (?:from|between)|(?:can|must|may|should) be|"
        r"(?:options|values|choices|types|formats|modes|levels|units|kinds)(?: are| include)?)\b:?\s*"
        r"(?:either |one of )?",
        re.IGNORECASE,
    ),
    re.compile(r"\w:\s+|\s-\s"),
    re.compile(r"\("),
)
"""What stands before a list of the possible values, the surest first: words that say so, a colon, a bracket."""
_DEFAULT = re.compile(r"\s*\([^()]*\bdefault\b[^()]*\)|,?\s+(?:by default|default(?:s to|:)).*$", re.IGNORECASE)
_BULLET = re.compile(r"(?m)^\s*[-*\u2022]\s*['\"`]?([A-Za-z][\w-]*)['\"`]?(?=\s*(?:[:(,-]|$))")
_TOKEN = re.compile(r"[A-Za-z0-9][\w./+-]*(?: [a-z]+){0,2}")


def listed(text: str) -> list[str]:
    """The values that a description lists as the possible ones: "one of: open, paid"; "open or paid"; "(low/high)"."""
    found: list[str] = []
    for part in re.split(r"\.(?:\s|$)|;|\n", text):
        found += _listed_in(_DEFAULT.sub("", part))
    bullets = _BULLET.findall(text)
    return found + [each for each in bullets if len(bullets) > 1 and each not in found]


def _listed_in(sentence: str) -> list[str]:
    """The values that one sentence lists; empty if it lists none."""
    for number, pattern in enumerate(_LEADS):
        lead = pattern.search(sentence)
        items = _items(sentence[lead.end() :].partition(")")[0]) if lead else []
        if 2 <= len(items) <= 12 and all(map(_is_value if number == 0 else _TOKEN.fullmatch, items)):
            return items
    bare = bool(re.search(r"\sor\s|\|", sentence))
    items = _items(sentence) if bare else []
    return items if 2 <= len(items) <= 12 and all(map(_is_value, items)) else []


def _items(text: str) -> list[str]:
    apart = r",\s*(?:or|and)?\s+|,\s*|\s+or\s+|\s*\|\s*"
    parts = re.split(apart if ", " in text else rf"{apart}|/", text)  # feature/dark is one branch of several
    last = parts.pop() if parts else ""
    parts += re.split(r"\s+and\s+", last, maxsplit=1) if parts else [last]  # "red, green and blue"
    return [re.sub(r"^(?:or|and)\s+", "", item) for part in parts if (item := part.strip(" '\"`()[]:"))]


def _is_value(item: str) -> bool:
    """Whether an item of a list may be a value: at most four words, none of them of a sentence."""
    parts = item.lower().split()
    sentence = {"the", "a", "an", "is", "are", "of", "if", "this", "that", "your", "to", "for", "it"}
    return 0 < len(parts) <= 4 and not sentence & {*parts}


def shape(value: Scalar) -> str:
    """The pattern of a value: `P-104` and `P-97` are `A-0`, a lower-case word is `a`, a number is its type's name."""
    if not isinstance(value, str):
        return type(value).__name__
    text = re.sub(r"[A-Z]+", "A", re.sub(r"\d+", "0", value))
    return re.sub(r"[a-z]+", "a", text)


def fits(slot: Slot, value: object) -> bool:
    """Whether a harvested value has the slot's JSON type."""
    match slot.kind:
        case "integer":
            return isinstance(value, int)
        case "number":
            return isinstance(value, int | float)
        case "string":
            return isinstance(value, str)
        case _:
            return False


def converted(slot: Slot, value: Scalar) -> Scalar | None:
    """The value in the slot's JSON type: `17` for the text `#17` or `17`, and back; `None` if it has no such form."""
    if fits(slot, value):
        return value
    if isinstance(value, bool):
        return None
    if slot.kind in ("integer", "number") and isinstance(value, str) and (match := re.fullmatch(r"#?(\d{1,9})", value)):
        return int(match[1])
    return str(value) if slot.kind == "string" and isinstance(value, int) else None


def affinity(tools: Mapping[str, Tool], slot: Slot, source: Source) -> float:
    """How likely the values of a place fit a slot, by names: 1 is the same name, under 0.5 is chance.

    The slot `order_id` fits values named `order_id`, and values named `id` in results of `list_orders`. The slot `id`
    of `get_order` fits both as well.
    """
    if source[0] != "from":
        return 0.0
    _, giving, *keys = source
    key = stems(keys[-1]) if keys else ()
    wanted = stems(slot.key)
    taker = stems(noun(tools[slot.tool]))
    giver_names = (*keys[:-1], noun(tools[giving]) if giving in tools else giving)
    giver = {stem for name in giver_names for stem in stems(name)}
    if len(wanted) == 1 and wanted == key and wanted[0] in (*_TELLING, "path"):
        return 0.95 if {*taker} & giver else 0.6
    if wanted == key:
        return 1.0
    if len(wanted) > 1 and wanted[-1:] == key:
        return 0.9 if {*wanted[:-1]} & giver else 0.45
    if len(key) > 1 and wanted[-len(key) :] == key:
        return 0.8
    if len(wanted) > 1 and wanted[:-1] == key and wanted[-1] in (*_TELLING, "number", "no"):
        return 0.85
    if len(wanted) == 1 and key[-1:] == wanted and len(key) > 1:
        return 0.9 if {*key[:-1]} & {*taker} else 0.55
    if len(wanted) == 1 and wanted[0] in giver and key and key[-1] in _TELLING:
        return 0.8
    if (not key or key[0] in _NAMELESS) and {*wanted} & giver:
        return 0.75
    if key and len(wanted) > 1 and (key[-1] in _TELLING) and {*wanted[:-1]} & giver:
        return 0.7
    return min(0.49, max(related(wanted, key), _abbreviation(words(slot.key), key)))


def _abbreviation(wanted: tuple[str, ...], key: tuple[str, ...]) -> float:
    """0.49 if a word of one name is short for one of the other (`repo` for `repository`), else 0."""
    pairs = ((short, long) for one in wanted for two in key for short, long in (sorted((one, two), key=len),))
    return 0.49 if any(3 <= len(short) < len(long) and long.startswith(short) for short, long in pairs) else 0.0


def ordered(one: Slot, other: Slot) -> bool:
    """Whether the value of `one` must not be greater than that of `other`: a begin and its end, a minimum and its
    maximum, a part and its total.
    """
    first, second = words(one.key), words(other.key)
    if one.path[:-1] != other.path[:-1]:
        return False
    if second[:1] == ("total",) != first[:1] and first[-1:] == second[-1:]:
        return True  # free bags, of all bags
    low = [word for word in first if word in _BEGINS]
    high = [word for word in second if word in _ENDS]
    rest = [word for word in first if word not in low] == [word for word in second if word not in high]
    return bool(low and high and rest)


_BEGINS = frozenset("start begin from since after min minimum low lower first checkin".split())
_ENDS = frozenset("end until to before till max maximum high upper last checkout stop".split())


# --- what descriptions and errors tell --------------------------------------------------------------------------------

_EXAMPLES = re.compile(
    r"(?:\be\.g\.,?|\bsuch as|\bfor example,?|\bexamples?:|\bas in)\s*([^();]+?)(?=[();]|\.(?:\s|$)|$)"
)
_CODE = re.compile(r"(?<![\w-])(?!UTF|ISO|RFC|SHA|MD\d|HTTP)[A-Z]{1,4}(?:-[A-Z]{1,4})?-?\d{1,8}(?![\w-])")
_QUOTED = re.compile(r"(?<!\w)['`]([\w./@-]{2,30})['`](?!\w)")
_NEAR = 6
"""Words before an example that may say what it is of."""


def described(slot: Slot, tool: Tool, slots: Sequence[Slot]) -> list[Scalar]:
    """The values that a tool's description gives as examples of a slot: "One pair, e.g. P-31".

    They are of the slot whose name stands before them, else of the first of its kind among the tool's `slots`.
    """
    first = next((own for own in slots if own.kind == slot.kind and not own.choices), slot)
    found: list[Scalar] = []
    for before, value, sure in _examples(tool.description):
        own = converted(slot, value)
        near = list(stems(" ".join(before.split()[-_NEAR:])))[::-1]
        places = {other: min(map(near.index, {*near} & _telling(other)), default=_NEAR) for other in slots}
        nearest = min(slots, key=lambda other: places[other], default=slot)
        of = nearest if places.get(nearest, _NEAR) < _NEAR else first if sure else None
        if own is not None and slot == of and not (slot.kind == "string" and value.isdigit()):
            found.append(own)
    return list(dict.fromkeys(found))


def _telling(slot: Slot) -> set[str]:
    """The words of a slot's name that say what it is of."""
    return {*stems(slot.key)} - {"id", "no", "number", "name", "code"}


def _examples(text: str) -> Iterator[tuple[str, str, bool]]:
    """What a text gives as examples, each with what stands before it, and whether it is sure to be one: other quoted
    words may be anything."""
    for match in _EXAMPLES.finditer(text):
        for part in re.split(r",\s*|\s+or\s+", match[1]):
            value = part.strip(" '\"`“”")
            quoted = value != part.strip()
            if value and (quoted or (" " not in value and (re.search(r"\d", value) or "-" in value))):
                yield text[: match.start()], value, True
    for match in _QUOTED.finditer(text):
        yield text[: match.start()], match[1], False
    for match in _CODE.finditer(text):
        yield text[: match.start()], match[0], True


def offered(message: str, slots: Sequence[Slot]) -> list[str]:
    """The values that an error lists as the right ones: "No such branch; branches: main, release". The names of a
    tool's `slots` are none."""
    keys = {slot.key.casefold() for slot in slots}
    found = listed(message)
    return [] if keys & {value.casefold() for value in found} else found


def is_named(slot: Slot, value: object, message: str) -> bool:
    """Whether an error, in small letters, has the slot's name or its value."""
    text = str(value).casefold()
    return (len(text) > 2 and text in message) or bool(
        re.search(rf"(?<![a-z]){re.escape(slot.key.casefold())}", message)
    )
