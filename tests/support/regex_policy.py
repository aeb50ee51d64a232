"""A policy without a model: regular expressions, word lists and a walk over the server's data.

It sees what a model sees: the request, the tools with their schemas, the results of its own calls. It puts every value
of the request into every read that could take it, follows the values of the results into further reads, and then picks
a field by the words of the request. What it solves needs no English. It was written with the training tasks of the
shop and of mcp-server-time (seed 0) before its author, never with a form that seed 0 holds out, and with the words that
an engineer would list in a day; what is said between, around and about two requests, and of sums, differences and
conditions, is from the training tasks of 2026-11-22.
"""

import difflib
import re
import zoneinfo
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcprl.scenarios.fields import record_of
from mcprl.servers.effects import is_read
from mcprl.text import singular, stems
from mcprl.types import CallRecord, Scenario, Session, StateHolds, Tool, ToolResult, ToolServer, Trajectory

MOST_CALLS = 28
SAME = [  # words that ask for a field, among them words that its name may have
    "price cost much charge pay expensive cheap amount total fee fare rate owe spend worth tag money euro dollar",
    "supplier vendor manufacturer maker make supply source provider brand from",
    "category kind type class group section genre file classify categorise belong family department",
    "tier level rank grade loyalty membership",
    "unit stock quantity piece many left available count number hand remain copy inventory item come",
    "shelf location place where keep store find stand lie spot put pick fetch room aisle rack look warehouse",
    "date when day ordered order placed time created since bought modified updated due started begin",
    "since year joined old long member start founded released",
    "city town live where based address country reside place location come from region state home",
    "name call title who whose person thing actually label known",
    "status state stage progress far stand happen situation stuck",
    "email mail reach write address contact",
    "phone number call ring contact telephone",
    "datetime time hour late clock when now moment",
    "difference apart ahead behind offset gap shift",
    "dst daylight saving summer",
    "size big large long heavy weight bytes length",
]
SYNONYMS: dict[str, set[str]] = {}
for line in SAME:
    for word in line.split():
        SYNONYMS.setdefault(word, set()).update(line.split())
EVENTS = {  # words for a state that tell of an event
    "shipped": "ship sent send dispatch left out posted way courier carrier van truck mailed collected",
    "delivered": "deliver arrived received got reached handed there signed doorstep recipient",
    "packed": "pack box boxed wrapped parcel ready",
    "paid": "pay payment settled money transferred bank invoice",
    "open": "reopen again unfinished finished back undo start",
    "cancelled": "cancel call off anymore refund",
    "closed": "close done finished complete",
}
MOST = (
    r"most|highest|largest|biggest|newest|latest|(?:most )?recent|last|dearest|priciest|expensive|top|maximum|longest"
)
LEAST = r"cheapest|least|lowest|smallest|fewest|oldest|earliest|first|minimum|shortest|longest ago|least recent"
MORE = r"more|higher|larger|bigger|newer|later|pricier|dearer|longer|heavier|recent|greater"
LESS = r"cheaper|less|lower|smaller|fewer|older|earlier|shorter|lighter"
DIFFERENCE = r"apart|gap|differs?|difference"
SUM = r"together|between them|altogether|come to|combined|in total|what's that"
BY_DATE = r"newest|latest|recent|last|oldest|earliest|first|newer|older|later|earlier"
BY_MONEY = r"cheap\w*|expensive|pric\w+|dear\w+|cost\w*"
ELSE = r"otherwise|if not|or else|else|if it's something else|if i'm wrong|if it isn't"
WRITES = (
    r"mark|set|change|update|put|note|make sure|see to it|should be|record|"
    r"move|register|add|create|delete|remove|cancel|switch|turn|correct|"
    r"fix|please do|raise|lower|increase|reduce|just so you know|log|enter|flag"
)
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
ID = r"\b[A-Za-z]{1,6}[-_#]?\d[\w-]*\b|\b[0-9a-f]{7,40}\b"


@dataclass
class Thing:
    """A record that the walk reached: by which tool, from which value of the request, over how many links."""

    tool: Tool
    fields: dict[str, Any]
    root: str
    depth: int = 0
    row: bool = False
    noun: set[str] = field(default_factory=set[str])
    values: int = 1


def properties(tool: Tool) -> dict[str, dict[str, Any]]:
    return tool.input_schema.get("properties", {})


def required(tool: Tool) -> list[str]:
    return [name for name in tool.input_schema.get("required", []) if name in properties(tool)]


def choices(schema: Mapping[str, Any]) -> list[Any]:
    nested = [value for part in schema.get("anyOf", []) for value in choices(part)]
    return [*schema.get("enum", []), *nested]


def shape(schema: Mapping[str, Any]) -> str:
    """A pattern for the values of a parameter, from its own pattern or from an example in its description."""
    text = f"{schema.get('description', '')} {schema.get('examples', '')}"
    found = re.search(ID, text)
    return schema.get("pattern", "").strip("^$") or (re.sub(r"\d+", r"\\d+", found[0]) if found else "")


def text_words(text: str) -> list[str]:
    return [singular(word) for word in re.findall(r"[a-z]+", text.casefold())]


def related(key_word: str, word: str) -> float:
    """How near a word of the request is to a word of a name, 0..1: the same, mistyped, one stem, or a synonym."""
    if key_word == word:
        return 1.0
    if min(len(key_word), len(word)) > 3 and difflib.SequenceMatcher(None, key_word, word).ratio() > 0.8:
        return 0.9
    if len(key_word) > 3 and len(word) > 3 and key_word[:4] == word[:4]:
        return 0.7
    return 0.5 if word in SYNONYMS.get(key_word, ()) else 0.0


def dates(text: str) -> set[tuple[int, int]]:
    """The (month, day) pairs of a text, ISO or in words."""
    found = {(int(month), int(day)) for month, day in re.findall(r"\d{4}-(\d\d)-(\d\d)", text)}
    names = "|".join(MONTHS)
    for day, month in re.findall(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({names})", text.casefold()):
        found.add((MONTHS.index(month) + 1, int(day)))
    for month, day in re.findall(rf"\b({names})[a-z]*\.? (\d{{1,2}})\b", text.casefold().replace("th", "")):
        found.add((MONTHS.index(month) + 1, int(day)))
    return found


class Policy:
    """One task: `play` makes the calls and returns the answer."""

    def __init__(self, request: str, tools: Sequence[Tool], session: Session) -> None:
        self.request, self.tools, self.session = request, tools, session
        self.calls: list[CallRecord] = []
        self.things: list[Thing] = []
        self.lists: list[list[Thing]] = []
        self.failed: list[str] = []
        self.done: set[str] = set()
        self.said = re.sub(r"\bone more thing\b|\bonce more\b|\bquick question\b", " ", request.casefold())
        self.ids = re.findall(ID, request)
        self.quoted = re.findall(r"[\"'`\u201c\u2018]([^\"'`\u201c\u201d]+)[\"'`\u201d\u2019](?!\w)", request)
        self.proper = re.findall(r"(?<![.?!] )(?<!^)\b[A-Z][\w&-]+(?: [A-Z][\w&-]+)*", request)
        self.dates = dates(request)

    async def play(self) -> str:
        write = self._write()
        await self._walk()
        if condition := self._condition():
            expected, target, otherwise = condition
            current = next((v for thing in self.things for v in thing.fields.values() if v in otherwise), None)
            if current != expected:
                return f"The status is {current}."
            self.said = self.said.replace(expected, " ").replace(target, f" {target} ")
        if write and (answer := await self._do(write)):
            return answer
        if not self.things and not self.lists:
            return self._nothing()
        return self._answer()

    # --- the walk -----------------------------------------------------------------------------------------------------

    async def _walk(self) -> None:
        """Every read with every value that fits it, then the links of what that returned."""
        reads = [tool for tool in self.tools if is_read(tool)]
        for tool in sorted(reads, key=lambda tool: len(required(tool))):
            for arguments, root in self._fillings(tool):
                await self._call(tool, arguments, root)
        if not self.things and not self.lists:
            for tool in reads:
                if not required(tool):
                    await self._call(tool, {}, "")
        self._select()
        position = 0
        while position < len(self.things) and len(self.calls) < MOST_CALLS:
            thing = self.things[position]
            position += 1
            if thing.depth > 2:
                continue
            for tool in reads:
                needed = required(tool)
                if len(needed) == 1:
                    for value in self._links(thing, needed[0], properties(tool)[needed[0]]):
                        await self._call(tool, {needed[0]: value}, thing.root, thing.depth + 1)
            self._select()

    def _links(self, thing: Thing, name: str, schema: Mapping[str, Any]) -> Iterator[Any]:
        pattern = shape(schema)
        for key, value in thing.fields.items():
            if isinstance(value, str | int) and not isinstance(value, bool) and not choices(schema):
                fits = pattern and re.fullmatch(pattern, str(value))
                if fits or stems(key) == stems(name) or (stems(key)[-1:] == ("id",) and stems(key)[:-1] == stems(name)):
                    yield value

    def _fillings(self, tool: Tool) -> Iterator[tuple[dict[str, Any], str]]:
        """Arguments for a tool's required parameters from the request, each with the value that it is about."""
        needed = required(tool)
        if not needed:
            return
        options = {name: self._values(name, properties(tool)[name]) for name in needed}
        if not all(options.values()):
            return
        if len(needed) == 1:
            for value in options[needed[0]][:4]:
                yield {needed[0]: value}, str(value)
            return
        used: list[Any] = []
        arguments: dict[str, Any] = {}
        for name in self._in_order(needed):
            fresh = [value for value in options[name] if value not in used] or options[name]
            arguments[name] = fresh[0]
            used.append(fresh[0])
        yield arguments, ""

    def _in_order(self, names: Sequence[str]) -> list[str]:
        """The parameters in the order in which the request probably has them: a target first behind "to" or "in"."""
        zones = list(re.finditer(r"\b(from|to|in|into|for) (?:the )?[A-Z]", self.request))
        backwards = bool(zones) and zones[0][1] in ("to", "into") and len(zones) > 1
        return sorted(names, key=lambda name: ("target" in name or "dest" in name) != backwards)

    def _values(self, name: str, schema: Mapping[str, Any]) -> list[Any]:
        """The values of the request that a parameter could take, the likeliest first."""
        options = choices(schema)
        if options:
            return [option for option in options if self._mentions(str(option))]
        if "timezone" in name or "zone" in name:
            return self._zones()
        if schema.get("type") in ("integer", "number"):
            numbers = re.findall(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])", self.request)
            return [float(number) if "." in number else int(number) for number in numbers]
        if pattern := shape(schema):
            return list(dict.fromkeys(value for value in self.ids if re.fullmatch(pattern, value, re.IGNORECASE)))
        if schema.get("type") in ("array", "object", "boolean"):
            return []
        if "time" in stems(name):
            return self._times()
        if {"path", "file", "directory"} & {*stems(name)}:
            return re.findall(r"/[\w./-]+\w|\b\w[\w/-]*\.[a-z]{1,4}\b", self.request)
        return list(dict.fromkeys([*self.quoted, *self.proper, *self.ids]))

    def _zones(self) -> list[str]:
        found: list[tuple[int, str]] = []
        for zone in zoneinfo.available_timezones():
            city = zone.rpartition("/")[2].replace("_", " ").casefold()
            for text in (zone.casefold(), city):
                if "/" in zone and (place := re.search(rf"(?<![\w/]){re.escape(text)}(?![\w/])", self.said)):
                    found.append((place.start(), zone))
        if re.search(r"\b(UTC|GMT)\b", self.request):
            found.append((self.said.find("utc"), "UTC"))
        return [zone for _, zone in sorted(found)]

    def _times(self) -> list[str]:
        found: list[str] = []
        for hour, minute, half in re.findall(r"\b(\d{1,2})(?:[:.h](\d\d))? ?(am|pm|a\.m\.|p\.m\.)?(?!\w)", self.said):
            if minute or half:
                shift = 12 if half[:1] == "p" and int(hour) < 12 else -12 if half[:1] == "a" and int(hour) == 12 else 0
                found.append(f"{int(hour) + shift:02}:{minute or '00'}")
        named = {"noon": "12:00", "midday": "12:00", "midnight": "00:00"}
        found += [time for word, time in named.items() if word in self.said]
        minutes = self._span()
        return [shifted(time, minutes) for time in found] if minutes else found

    def _span(self) -> int:
        """The minutes by which the request moves its moment: `two hours`, `half an hour before`."""
        hours = re.search(rf"\b({'|'.join(HOURS)}|\d+|an?) (and a half )?hours?( and a half)?", self.said)
        minutes = re.search(r"\b(\d+) minutes", self.said)
        span = 30 if "half an hour" in self.said else int(minutes[1]) if minutes else 0
        if hours and not span:
            count = HOURS.index(hours[1]) + 1 if hours[1] in HOURS else int(hours[1]) if hours[1].isdigit() else 1
            span = 60 * count + 30 * bool(hours[2] or hours[3])
        return -span if self._asks("before|earlier|sooner|ahead of") else span

    def _mentions(self, value: str) -> bool:
        """Whether the request has a value, perhaps mistyped or in another form."""
        if re.search(rf"(?<!\w){re.escape(value.casefold())}(?!\w)", self.said):
            return True
        if dates(value) & self.dates:
            return True
        return len(value) > 4 and bool(difflib.get_close_matches(value.casefold(), self.said.split(), 1, 0.84))

    async def _call(self, tool: Tool, arguments: dict[str, Any], root: str, depth: int = 0) -> ToolResult | None:
        key = f"{tool.name}{arguments}"
        if key in self.done or len(self.calls) >= MOST_CALLS:
            return None
        self.done.add(key)
        result = await self.session.call(tool.name, arguments)
        self.calls.append(CallRecord(len(self.calls), tool.name, arguments, result))
        if result.is_error:
            if depth == 0 and root:
                self.failed.append(root)
            return result
        record: Any = record_of(result)
        rows: list[Any] = record if isinstance(record, list) else []
        if isinstance(record, Mapping):
            nested = [value for value in record.values() if isinstance(value, list) and value]
            rows = nested[0] if len(nested) == 1 and isinstance(nested[0][0], Mapping) else []
        noun = {*stems(tool.name)} - {"get", "list", "search", "find", "check"}
        if rows:
            flat = [Thing(tool, dict(flatten(row)), root, depth, True, noun) for row in rows]
            self.lists.append(flat)
        elif isinstance(record, Mapping) and record:
            self.things.append(Thing(tool, dict(flatten(record)), root, depth, False, noun, len(arguments)))
        elif record is None and result.text:
            self.things.append(Thing(tool, {"result": result.text}, root, depth, False, noun))
        elif depth == 0 and root:
            self.failed.append(root)
        return result

    def _select(self) -> None:
        """Take the rows that the request describes into the things."""
        chosen = [id(thing) for thing in self.things]
        for rows in self.lists:
            named = [(self._described(row), row) for row in rows]
            best = max(score for score, _ in named)
            for score, row in named:
                names = [v for v in row.fields.values() if isinstance(v, str) and self._mentions(v) and v != row.root]
                strong = [v for v in names if " " in v or v in self.ids or v in self.quoted]
                if (score == best > 0 or strong) and id(row) not in chosen:
                    if strong:
                        row.root = strong[0]
                    alone = sum(other == best for other, _ in named) == 1
                    if strong or (alone and not self._aggregates()):
                        self.things.append(row)

    def _described(self, row: Thing) -> int:
        """How many of a row's values the request has."""
        score = 0
        for value in row.fields.values():
            if isinstance(value, str) and str(value) != row.root:
                score += bool(self._mentions(value)) or bool(dates(value) & self.dates)
        return score

    # --- answers ------------------------------------------------------------------------------------------------------

    def _asks(self, pattern: str) -> bool:
        return bool(re.search(rf"\b(?:{pattern})\b", self.said))

    def _aggregates(self) -> bool:
        return self._asks(rf"{MOST}|{LEAST}|how many|number of|count|total|sum|average|list|which are|altogether|all")

    def _cleaned(self) -> str:
        """The request without the values that the calls took and the words that name their kind."""
        text = self.said
        used = {str(value).casefold() for record in self.calls for value in (record.arguments or {}).values()}
        used |= {thing.root.casefold() for thing in self.things} | {value.casefold() for value in self.ids}
        for value in sorted(used, key=len, reverse=True):
            if len(value) > 1:
                text = re.sub(rf"(?:(?:of|in|from|for|on) )?(?:the )?(?:\w+ )?{re.escape(value)}(?!\w)", " ", text)
        return text

    def _field(self, things: Sequence[Thing], most: int = 1) -> list[tuple[float, str, Any, Thing]]:
        """The best fields of some things for the request: (score, key, value, thing)."""
        asked = text_words(self._cleaned())
        scored: list[tuple[float, str, Any, Thing]] = []
        for thing in things:
            nouns = max((related(noun, word) for noun in thing.noun for word in asked), default=0.0)
            for key, value in thing.fields.items():
                parts = [part for part in stems(key) if part not in ("id", "is", "the")] or list(stems(key))
                score = max((self._near(thing, part, word) for part in parts for word in asked), default=0.0)
                score += 0.3 * self._fits(key, value) + 0.2 * (nouns > 0.8) - 0.1 * thing.depth
                score += 0.4 * (thing.values - 1) + 0.2 * bool({"target", "result", "new"} & {*stems(key)})
                score -= 0.6 * (self._mentions(str(value)) or self._was_given(value)) + 0.3 * (
                    stems(key)[-1:] == ("id",) and not self._asks("number|id|sku|code")
                )
                scored.append((score, key, value, thing))
        scored.sort(key=lambda entry: -entry[0])
        unique: list[tuple[float, str, Any, Thing]] = []
        for entry in scored:
            if all(entry[2] != other[2] for other in unique):
                unique.append(entry)
        return unique[:most]

    def _was_given(self, value: Any) -> bool:
        return any(value in (record.arguments or {}).values() for record in self.calls)

    def _near(self, thing: Thing, part: str, word: str) -> float:
        """How near a word is to a part of a key; a word for the kind of thing is hardly a word for a field."""
        nearness = related(part, word)
        return nearness if nearness == 1.0 or not any(word in stems(tool.name) for tool in self.tools) else nearness / 3

    def _fits(self, key: str, value: Any) -> bool:
        """Whether a value is of the type that the question word asks for."""
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if self._asks("how much|cost|costs|price"):
            return number and bool({*stems(key)} & SYNONYMS["price"] - {"rate"})
        if self._asks("how many|number of"):
            return number and "year" not in key and not 1900 < value < 2100
        if self._asks("what time|how late|o'clock|clock|current time|time now|time in"):
            return bool(re.search(r"\d\d:\d\d", str(value)))
        if self._asks("is there|does|has|is it|whether|if"):
            return isinstance(value, bool)
        if self._asks("when|what day|which day|how long ago|date"):
            return bool(re.match(r"\d{4}-\d\d", str(value))) or (number and 1900 < value < 2100)
        if self._asks("where|which shelf|what city"):
            return bool({*stems(key)} & (SYNONYMS["where"]))
        return self._asks("who|whose|called") and "name" in key

    def _answer(self) -> str:
        roots = [root for root in dict.fromkeys(thing.root for thing in self.things if not thing.depth) if root]
        roots = [root for root in roots if self.said.count(root.casefold())]
        named = [root for root in roots if " " in root or root in self.ids or root in self.quoted]
        if len(named or roots) > 1:
            return self._several((named or roots)[:4])
        things = [thing for thing in self.things if not named or thing.root in named] or self.things
        if self.lists and (answer := self._aggregate()):
            return answer
        if not things:
            things = self.lists[0][:1]
        best = self._field(things, 2)
        if best and (worked_out := self._scaled(best[0][2])) is not None:
            return f"It is {worked_out:g}."
        two = len(best) > 1 and best[1][0] >= 0.9 and self._asks("and|also|plus|both")
        return " ".join(self._said(key, value) for _, key, value, _ in best[: 1 + two])

    def _scaled(self, value: Any) -> float | None:
        """What a number of the request makes of a value: a price times it, less a percentage, what is left or short."""
        numbers = [float(number) for number in re.findall(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])", self.request)]
        if len(numbers) != 1 or isinstance(value, bool) or not isinstance(value, int | float):
            return None
        if self._asks("percent") or "%" in self.request:
            return round(value * (100 - numbers[0]) / 100, 2)
        if isinstance(value, float):
            left = self._asks("left|change|budget|voucher|under|below|remains|have|still")
            return round(numbers[0] - value, 2) if left else round(numbers[0] * value, 2)
        return abs(numbers[0] - value)

    def _said(self, key: str, value: Any) -> str:
        """A sentence with a value: yes or no for a flag, the clock for a time."""
        if isinstance(value, bool):
            return "Yes." if value else "No."
        clock = re.search(r"T(\d\d:\d\d)", str(value))
        if clock and self._asks("time|late|when|clock"):
            return f"It is {clock[1]}."
        return f"The {' '.join(stems(key))} is {value}."

    def _several(self, roots: Sequence[str]) -> str:
        """The same field of several things, or the one of them that has more of it."""
        groups = [[thing for thing in self.things if thing.root == root] for root in roots]
        best = self._field(groups[0])
        if self._asks(f"{DIFFERENCE}|{SUM}") and len(groups) == 2:
            numbers = [key for _, key, value, _ in self._field(groups[0], 9) if isinstance(value, int | float)]
            values = [self._of(group, numbers[0]) for group in groups] if numbers else []
            if values and all(isinstance(value, int | float) for value in values):
                result = abs(values[0] - values[1]) if self._asks(DIFFERENCE) else sum(values)
                return f"It is {round(result, 2):g}."
        if self._asks(f"{MORE}|{LESS}"):
            numeric = [thing.fields.items() for thing in groups[0]]
            ordered = [k for items in numeric for k, v in items if isinstance(v, int | float) or dates(str(v))]
            wanted = [key for _, key, _, _ in self._field(groups[0], 9) if key in ordered]
            wanted.sort(key=lambda key: not self._is_by(key))
            if wanted:
                values = [self._of(group, wanted[0]) for group in groups]
                pairs = [(v, root) for v, root in zip(values, roots, strict=True) if v is not None]
                if pairs:
                    return min(pairs)[1] if self._asks(LESS) else max(pairs)[1]
        if not best:
            return self._nothing()
        return " and ".join(f"{root}: {self._of(group, best[0][1])}" for root, group in zip(roots, groups, strict=True))

    def _of(self, group: Sequence[Thing], key: str) -> Any:
        return next((thing.fields[key] for thing in group if key in thing.fields), None)

    def _is_by(self, key: str) -> bool:
        """Whether the adjective of the request is about a field."""
        if self._asks(BY_MONEY):
            return bool({*stems(key)} & {"price", "cost", "total", "amount", "fare", "rate"})
        return self._asks(BY_DATE) and bool(
            {*stems(key)} & {"date", "ordered", "since", "year", "created", "time", "at"}
        )

    def _aggregate(self) -> str:
        """A count, a total, an extreme or a list over the rows that the request describes; empty if it asks none."""
        rows = max(self.lists, key=self._list_rank)
        scores = [self._described(row) for row in rows]
        rows = [row for row, score in zip(rows, scores, strict=True) if score == max(scores)]
        cleaned = self._cleaned()
        if self._asks(f"{MOST}|{LEAST}") and not self._asks("how many"):
            keys = [k for k, v in rows[0].fields.items() if isinstance(v, int | float) or dates(str(v))]
            asked = text_words(cleaned)
            nearness = {k: max((related(p, w) for p in stems(k) for w in asked), default=0) for k in keys}
            keys.sort(
                key=lambda key: (
                    not (self._is_by(key) or (self._asks(BY_DATE) and dates(str(rows[0].fields[key])))),
                    -nearness[key],
                )
            )
            if keys:
                present = [row for row in rows if keys[0] in row.fields]
                pick = min if self._asks(LEAST) else max
                row = pick(present, key=lambda row: row.fields[keys[0]])
                own = {str(value) for value in row.fields.values()}
                beyond = [t for t in self.things if t.depth > row.depth and {str(v) for v in t.fields.values()} & own]
                best = self._field([row, *beyond], 6)
                best = [entry for entry in best if entry[1] != keys[0]]
                if best and best[0][0] > 0.75:
                    return f"The {best[0][1]} is {best[0][2]}."
                return f"It is {next(iter(row.fields.values()))}."
        if self._asks("total|sum|altogether|combined|average|together|add up"):
            keys = [key for _, key, value, _ in self._field(rows, 9) if isinstance(value, int | float)]
            if keys:
                numbers = [row.fields[keys[0]] for row in rows if keys[0] in row.fields]
                result = sum(numbers) / (len(numbers) if self._asks("average") else 1)
                return f"It is {round(result, 2):g}."
        nouns = rows[0].noun
        plural = any(noun + "s" in self.said for noun in nouns)
        if self._asks("how many|number of|count|how often|amount of|many") and plural:
            return f"There are {len(rows)}."
        if plural and self._asks("list|which|what|show|all|give|go|need|see|name|numbers|just|orders"):
            return "These are " + ", ".join(str(next(iter(row.fields.values()))) for row in rows) + "."
        return ""

    def _list_rank(self, rows: Sequence[Thing]) -> tuple[bool, int, int]:
        """How well a list fits the request: it has its noun, its values, and is few links away."""
        asked = text_words(self.said)
        named = any(related(noun, word) >= 0.9 for noun in rows[0].noun for word in asked)
        return named, max(self._described(row) for row in rows) if rows[0].noun else 0, -rows[0].depth

    def _nothing(self) -> str:
        """The answer if no call gave anything: it does not exist, a question back, or a refusal."""
        if self.failed:
            return f"There is no {self.failed[0]}: it does not exist."
        asked = text_words(self.said)
        vocabulary = {
            word
            for tool in self.tools
            for word in (*stems(tool.name), *(s for p in properties(tool) for s in stems(p)))
        }
        vocabulary -= {"get", "list", "set", "check", "find", "search", "id", "add", "limit", "name"}
        if not any(related(noun, word) >= 0.9 for noun in vocabulary for word in asked):
            return "Sorry, I can't do that with my tools."
        ranked = sorted(
            self.tools, key=lambda tool: -sum(related(a, b) >= 0.9 for a in {*stems(tool.name)} for b in asked)
        )
        nouns = [word for word in asked if any(related(noun, word) >= 0.9 for noun in vocabulary)]
        which = " or ".join(dict.fromkeys(nouns))
        lacking = " and the ".join(" ".join(stems(name)) for name in required(ranked[0]))
        return f"Which {which} do you mean? Please give me the {lacking}."

    # --- writes -------------------------------------------------------------------------------------------------------

    def _write(self) -> Tool | None:
        """The write that the request tells of, if it is one."""
        question = re.search(
            r"\b(what|which|how|where|when|who|whose|list|show|know|tell|but not|find|look|missing)\b"
            r"|\b(number of|need the)\b"
            r"|^\W*(?:\w+,? ){0,2}?(is|are|was|does|do|did|has)\b",
            self.said,
        )
        if not self._asks(WRITES) and question and not self._copies():
            return None
        asked = text_words(self.said)
        scored: list[tuple[float, Tool]] = []
        for tool in self.tools:
            if not is_read(tool):
                state = [self._state(choices(schema)) for schema in properties(tool).values() if choices(schema)]
                if state and not any(state) and not self._asks("by") and not self._copies():
                    continue
                score = sum(max((related(part, word) for word in asked), default=0.0) for part in stems(tool.name))
                scored.append((score / max(1, len(stems(tool.name))) + any(state), tool))
        best = max(scored, key=lambda entry: entry[0], default=None)
        return best[1] if best and best[0] > (0.2 if self._copies() else 0.5) else None

    def _condition(self) -> tuple[Any, Any, Sequence[Any]] | None:
        """Of a request with an if and an else: the state it depends on, the state to write, and all states."""
        if not self._asks("if|whether|provided|believe|think") or not self._asks(ELSE):
            return None
        for tool in self.tools:
            for schema in properties(tool).values() if not is_read(tool) else ():
                said = [option for option in choices(schema) if self._mentions(str(option))]
                states = "|".join(re.escape(str(option)) for option in said)
                found = re.search(rf"\b(?:is|are)(?: still| already)? ({states})\b", self.said) if said else None
                others = [option for option in said if found and option != found[1]]
                if found and others:
                    return found[1], others[0], choices(schema)
        return None

    def _state(self, options: Sequence[Any]) -> Any:
        """The one of an enumeration's values that the request tells of: the last said, else one told as an event."""
        said = [(self.said.rfind(str(option).casefold()), option) for option in options if self._mentions(str(option))]
        if said:
            return max(said, key=lambda entry: entry[0])[1]
        asked = text_words(self.said)
        told = {option: {*EVENTS.get(str(option), "").split(), str(option)[:4]} for option in options}
        hits = {option: sum(w in told[option] or w[:4] == str(option)[:4] for w in asked) for option in options}
        return max(hits, key=lambda option: hits[option]) if any(hits.values()) else None

    def _copies(self) -> bool:
        """Whether the request names two things, and wants one to have what the other has."""
        return self._asks("same|copy|whatever|that of|match|take over|what it is for") and len({*self.ids}) == 2

    async def _do(self, tool: Tool) -> str:
        """Make the write with the values of the request and the key of the thing that the walk reached."""
        arguments: dict[str, Any] = {}
        if self._copies():
            one, two = dict.fromkeys(self.ids)
            other = one if self._asks("copy|whatever|take over") and not self._asks("to whatever") else two
            things = [thing for thing in self.things if thing.root == other]
            options = [str(option) for schema in properties(tool).values() for option in choices(schema)]
            states = [v for thing in things for v in thing.fields.values() if str(v) in options]
            self.said = self.said + " " + " ".join(map(str, states[:1]))
            self.ids = [code for code in self.ids if code != other]
        for name, schema in properties(tool).items():
            if choices(schema):
                value = self._state(choices(schema))
            else:
                values = self._values(name, schema)
                linked = [v for thing in self.things for v in self._links(thing, name, schema)]
                described = [v for thing in self.things if thing.row for v in self._links(thing, name, schema)]
                value = next(iter(values or described or linked), None)
            if value is not None:
                arguments[name] = value
        if any(name not in arguments for name in required(tool)):
            return ""
        result = await self.session.call(tool.name, arguments)
        self.calls.append(CallRecord(len(self.calls), tool.name, arguments, result))
        return f"There is no {self.failed[0]}: it does not exist." if result.is_error and self.failed else "Done."


HOURS: list[str] = [*"one two three four five six seven eight nine ten eleven twelve".split()]


def shifted(time: str, minutes: int) -> str:
    """A clock time some minutes later."""
    hour, minute = map(int, time.split(":"))
    total = (60 * hour + minute + minutes) % 1440
    return f"{total // 60:02}:{total % 60:02}"


def flatten(record: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The plain values of a record, each with its key."""
    if isinstance(record, Mapping):
        for key, value in record.items():
            yield from flatten(value, f"{path}_{key}" if path else str(key))
    elif isinstance(record, list):
        for number, value in enumerate(record):
            yield from flatten(value, f"{path}_{number}")
    elif record is not None:
        yield path or "result", record


SLIPS = (  # what training tasks say of a thing that the request is not about
    r"done with {}|everything that i need on {}|forget about {}|looking after {}|get to {} tomorrow|leave {} as it is|"
    r"need anything on {}|it's \S+\. {} was a slip|i typed {}"
)
JOINTS = (  # what stands between two requests in training tasks
    r"(?<=[.?!]) (?:also,|and(?! if)|while you're at it,|then,|after that,|when you've done that,|"
    r"in the same breath:|2\)|b\))"
)


def normalized(request: str, tools: Sequence[Tool]) -> str:
    """The request with codes as the tools spell them, and without what a slip or an aside names."""
    for pattern in {shape(schema) for tool in tools for schema in properties(tool).values()}:
        head = re.match(r"([A-Z]{1,6})[-_#]", pattern)
        if head:
            request = re.sub(rf"\b{head[1]}[-_# ](\d+)\b", rf"{head[0]}\1", request, flags=re.IGNORECASE)
    for code in dict.fromkeys(re.findall(ID, request)):
        if re.search(SLIPS.replace("{}", re.escape(code.casefold())), request.casefold()):
            meant = re.findall(r"(?:it's|has to be) (" + ID + ")", request)
            request = (
                re.sub(rf"[^.?!]*(?:it's|has to be) {re.escape(meant[-1])}\.?", " ", request) if meant else request
            )
            request = request.replace(code, meant[-1] if meant else " ")
    return request


async def reply(request: str, tools: Sequence[Tool], session: Session) -> tuple[str, list[CallRecord]]:
    """The answer to a message, which may hold two requests, and the calls that were made for it."""
    answers, calls = list[str](), list[CallRecord]()
    for part in re.split(JOINTS, normalized(request, tools), flags=re.IGNORECASE):
        policy = Policy(part, tools, session)
        answers.append(await policy.play())
        calls += policy.calls
    return " ".join(answers), calls


async def play(scenario: Scenario, server: ToolServer) -> Trajectory:
    """The policy's rollout of a scenario on the live server, with the looks before and after."""
    checks = [check for check in scenario.checks if isinstance(check, StateHolds)]
    async with server.session(scenario.setup) as session:
        before = [await session.call(check.tool, check.arguments) for check in checks]
        answer, calls = await reply(scenario.request, server.tools, session)
        state = [await session.call(check.tool, check.arguments) for check in checks]
    messages = ({"role": "user", "content": scenario.request}, {"role": "assistant", "content": answer})
    return Trajectory(scenario.id, scenario.id, messages, (), tuple(calls), tuple(state), before=tuple(before))
