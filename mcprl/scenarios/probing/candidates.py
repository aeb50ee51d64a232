"""The candidate sources of one slot, each with its values and a score of how likely they fit."""

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice

from mcprl.scenarios.names import noun
from mcprl.scenarios.parameters import is_search
from mcprl.scenarios.probing.knowledge import Knowledge, State
from mcprl.scenarios.probing.results import joined, takes_path
from mcprl.scenarios.probing.sources import CONFIGURED, HINTS, Source, converted, shape
from mcprl.scenarios.probing.sql import selects, statement, takes_sql
from mcprl.scenarios.probing.values import UNIVERSAL, known_format, neighbour
from mcprl.scenarios.slots import Slot
from mcprl.servers.effects import is_read
from mcprl.text import stems, words
from mcprl.types import Scalar

_PROVEN = 2.0
"""The score of a source that worked for the slot."""
LIKELY = 1.5
"""The score of a source that worked for a slot of the same name in another tool."""
_REFERRING = frozenset(("id", "ids", "key", "path", "from", "to", "source", "names", "name", "title", "code"))
_OLD = frozenset(("old", "current", "existing", "previous"))
"""Words for a text that must be there already."""
_PARTS = ("a", "e", "er", "an")
"""Parts of many names: a search that takes parts finds something with them."""
_TITLES = ("name", "title", "email", "label", "line")
_TIMES = ("date", "date-time", "time")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d.*|\d\d?:\d\d(?::\d\d)?")
_MOST_PLACES = 12
_SAMPLE = 8


@dataclass(frozen=True)
class Candidate:
    """A source for a slot with its values, at least one. A score of 1 means the names are the same; `_PROVEN` that the
    source worked.
    """

    score: float
    source: Source
    values: Sequence[Scalar]


def candidates(known: Knowledge, slot: Slot, state: State, rng: random.Random, refers: bool = True) -> list[Candidate]:
    """The candidates of a slot, at least one. A write that need not refer to existing things takes new values."""
    if slot.choices:
        return [Candidate(5.0, ("choices",), slot.choices)]
    if takes_sql(known.tools[slot.tool], slot):
        return _sql(known, slot, rng)
    writes = not is_read(known.tools[slot.tool])
    found = _places(known, slot, state, writes, refers)
    if not writes:
        found += _guesses(known, slot, state, rng)
    if examples := known.shown_for(slot):
        offered = list(known.offered.get(slot, ()))
        found.append(Candidate(1.3, ("quoted",), offered) if offered else Candidate(0.86, ("quoted",), examples))
        near = [guess for value in examples for guess in _beside(value, rng)]
        if near and not writes:
            found.append(Candidate(0.6, ("worked",), near))
    if not writes and _takes_parts(slot):
        found.append(Candidate(0.65, ("part",), _PARTS))
    if known_format(slot) in ("path", "folder") and not writes:
        found.append(Candidate(0.55, ("worked",), ["."]))
    found.append(Candidate(_trust(slot), ("invented",), _invented(known, slot, rng)))
    if slot.kind == "string" and "query" in slot.key and not any(entry.score >= 0.5 for entry in found[:-1]):
        seen = _long_words(state.pool.values())
        found += [Candidate(0.9, ("invented",), [rng.choice(seen)])] if seen else []
    proven = known.sources.get((slot.tool, slot.path), [])
    likely = {} if writes and _is_new(known, slot) else known.likely_sources(slot)
    return [_proven(entry, proven, likely, known, slot) for entry in found]


def _proven(
    entry: Candidate, proven: Sequence[Source], likely: Mapping[Source, float], known: Knowledge, slot: Slot
) -> Candidate:
    """The candidate with the score of a source that worked for the slot, or for one of the same name in another tool.

    It is less if all its values were used, since others may teach more. A setting of the server stays right.
    """
    if entry.source not in proven:
        if entry.source not in likely:
            return entry
        return Candidate(max(entry.score, LIKELY + 0.2 * likely[entry.source]), entry.source, entry.values)
    setting = entry.source[0] == "from" and entry.source[1] in CONFIGURED
    used = not setting and all((slot, value) in known.used_values for value in entry.values)
    spent = used * (1.5 if entry.source[1:2] == (HINTS,) else 1.0)
    return Candidate(_PROVEN + setting - 0.05 * proven.index(entry.source) - spent, entry.source, entry.values)


def _sql(known: Knowledge, slot: Slot, rng: random.Random) -> list[Candidate]:
    tool = known.tools[slot.tool]
    if is_read(tool):
        texts = selects(known.tables, rng, 4, bool) or ["SELECT 1"]
        return [Candidate(3.0, ("sql",), texts)]
    return [Candidate(3.0, ("sql",), [statement(tool, slot, known.tables, rng)])]


def _places(known: Knowledge, slot: Slot, state: State, writes: bool, refers: bool) -> list[Candidate]:
    """The places with values for the slot, the likeliest few, by names and by what their values look like."""
    found: list[Candidate] = []
    wanted = _looks(known, slot)
    likely = known.likely_sources(slot)
    new = writes and _is_new(known, slot)
    for source, values in known.places(state).items():
        proven = source in known.sources.get((slot.tool, slot.path), ()) or (source in likely and refers)
        setting = source[1] in CONFIGURED and source in likely
        may_refer = _may_refer(slot, source) or (not new and _lists_such(known, slot, source))
        if writes and not (proven or setting or ((refers or _trust(slot) < 0.4) and may_refer)):
            continue
        sample = [own for own in (converted(slot, value) for value in islice(values, _SAMPLE)) if own is not None]
        if not sample:
            continue
        score = _hinted(slot, source) or known.affinity(slot, source)
        if score < 0.5:
            score = 0.5 * score + 0.3 * _like_ids(tuple(sample))
        if new and not setting:
            score *= 0.5
        if source[-1] == "line" and _OLD & {*words(slot.key)}:
            score = 0.9
        if _MOMENT.fullmatch(str(sample[0])) and known_format(slot) not in _TIMES:
            score *= 0.3
        if source[1:2] == (slot.tool,) and source[-1] in _TITLES and _takes_parts(slot):
            score = max(score, 0.9)  # what was found with a part of it
        if wanted:
            meets = any(map(wanted, sample))
            score = max(score, 0.75 + 0.1 * (source[1] in CONFIGURED)) if meets else score * 0.3
        found.append(Candidate(score, source, sample))
    found.sort(key=_score, reverse=True)
    places = known.places(state)
    return [replace(entry, values=_fitting(slot, places[entry.source], wanted)) for entry in found[:_MOST_PLACES]]


def _fitting(slot: Slot, values: Iterable[Scalar], wanted: Callable[[Scalar], bool] | None) -> list[Scalar]:
    """The values in the slot's type; those that look as wanted if any do."""
    fitting = [own for own in (converted(slot, value) for value in values) if own is not None]
    return [value for value in fitting if wanted(value)] or fitting if wanted else fitting


def _score(entry: Candidate) -> float:
    return entry.score


def _takes_parts(slot: Slot) -> bool:
    """Whether a slot of a read may take a part of a name."""
    free = slot.kind == "string" and not slot.choices and "pattern" not in slot.schema
    return free and (is_search(slot) or words(slot.key)[-1:] in (("name",), ("title",), ("text",), ("contains",)))


def _hinted(slot: Slot, source: Source) -> float:
    """The score of a place of the user's hints: those for this slot come before all, bare values before chance."""
    if source[1] != HINTS:
        return 0.0
    name = source[-1]
    if name in (f"{slot.tool}.{slot.key}", slot.key):
        return 3.0 if "." in name else 2.5
    return 0.6 if name == "value" else 0.0


def _is_new(known: Knowledge, slot: Slot) -> bool:
    """Whether a write's slot names the thing that it makes: the name of what a tool creates, a destination."""
    named = {*words(slot.key)}
    verbs = {*words(slot.tool)} & {"create", "add", "new", "register", "insert", "make"}
    about = {*stems(noun(known.tools[slot.tool]))}
    own = bool(verbs) and len(slot.path) == 1 and (named == {"name"} or bool(about & {*stems(slot.key)}))
    replaces = any([*stems(other.key)] == [*stems(slot.key)][1:] for other in known.slots[slot.tool])
    return own or bool(named & {"destination", "dest", "new"} and not replaces)


def _looks(known: Knowledge, slot: Slot) -> Callable[[Scalar], bool] | None:
    """A test of what a value for the slot looks like, if its format says so."""
    form = known_format(slot)
    if takes_path(slot):
        about = {*stems(slot.tool), *stems(slot.key)}
        if about & {"file"}:
            return _is_file
        return _is_folder if about & {"directory", "folder", "dir"} else _is_path
    marks = {"email": "@", "uri": "://"}
    return partial(_has, marks[form]) if form in marks else None


def _has(mark: str, value: Scalar) -> bool:
    return mark in str(value)


def _is_path(value: Scalar) -> bool:
    return "/" in str(value) or _is_file(value)


def _is_file(value: Scalar) -> bool:
    return re.search(r"[^/.]\.\w{1,5}$", str(value)) is not None


def _is_folder(value: Scalar) -> bool:
    return "/" in str(value) and not _is_file(value)


@lru_cache(maxsize=65_536)
def _like_ids(values: tuple[Scalar, ...]) -> float:
    """How much the values look like names of things, 0..1: short, alike in shape, with digits."""
    first = values
    if len(first) < 2:
        return 0.3
    alike = 1 / len({shape(value) for value in first})
    digits = sum(any(map(str.isdigit, str(value))) for value in first) / len(first)
    short = sum(len(str(value)) <= 40 and len(str(value).split()) <= 3 for value in first) / len(first)
    return (alike + digits + short) / 3


def _may_refer(slot: Slot, source: Source) -> bool:
    """Whether a write's slot may refer to a thing that exists already.

    True for a whole number, for an id or a name, and for a name of several words (`customer_id`) with values of another
    tool; false for the tool's own free text.
    """
    if slot.kind == "integer" and source[1] != slot.tool:
        return words(slot.key) != ("amount",)
    named = (*words(slot.key), "")
    refers = slot.key.lower() in _REFERRING or named[-2] in ("id", "ids", "path", "file", "files", "paths", "name")
    return (source[1] != slot.tool and len(words(slot.key)) > 1) or refers or takes_path(slot) or source[1] == HINTS


def _lists_such(known: Knowledge, slot: Slot, source: Source) -> bool:
    """Whether a read lists the things that a slot names one of, as `list_rooms` does for `room`; no free text does."""
    giver = known.tools.get(source[1])
    if giver is None or not is_read(giver) or known_format(slot) not in ("name", "person", "id"):
        return False
    return bool({*stems(slot.key)} & {*stems(noun(giver))}) and known.affinity(slot, source) >= 0.75


def _guesses(known: Knowledge, slot: Slot, state: State, rng: random.Random) -> list[Candidate]:
    """Guesses beside the values that worked (`C-1043` beside `C-1042`), and small numbers for an integer id."""
    places = known.places(state)
    taken = [value for source in known.sources.get((slot.tool, slot.path), []) for value in places.get(source, ())]
    taken += known.worked.get(slot, ())
    sample = rng.sample(taken, min(6, len(taken)))
    near = [guess for value in sample for guess in _beside(converted(slot, value), rng)]
    fresh = [guess for guess in near if (slot, guess) not in known.used_values]
    if fresh:
        return [Candidate(1.2, ("worked",), fresh)]
    if known_format(slot) == "glob":
        files = [value for source, values in places.items() if source[-1] in ("file", "path") for value in values]
        endings = dict.fromkeys(match[0] for file in files if (match := re.search(r"\.\w{1,5}$", str(file))))
        return (
            [Candidate(0.8, ("worked",), [f"{star}{end}" for end in endings for star in ("**/*", "*")])]
            if endings
            else []
        )
    if slot.kind == "integer" and {"id", "number", "no", "index"} & {*words(slot.key)}:
        return [Candidate(0.4, ("worked",), [1, 2, 3])]
    return []


def _beside(value: Scalar | None, rng: random.Random) -> list[Scalar]:
    guess = None if value is None else neighbour(value, rng)
    return [] if guess is None or guess == value else [guess]


def _trust(slot: Slot) -> float:
    """How likely an invented value is taken, by the slot's kind and format."""
    if slot.kind != "string":
        return 0.55
    form = known_format(slot)
    if form in UNIVERSAL:
        return 0.9
    if isinstance(slot.schema.get("pattern"), str):
        return 0.8
    if form in ("path", "folder", "email"):
        return 0.3
    return {"sentence": 0.8, "summary": 0.8, "glob": 0.7, "query": 0.6, "id": 0.2}.get(form, 0.5)


def _invented(known: Knowledge, slot: Slot, rng: random.Random) -> list[Scalar]:
    """Invented values: a name also without spaces, a new path in a folder of the server if one is known."""
    value = known.made_up(slot, rng)
    roots = [value for source, values in known.base.pool.items() if source[1] in CONFIGURED for value in values]
    folders = [root for root in roots if isinstance(root, str) and root.startswith("/") and not _is_file(root)]
    if takes_path(slot) and folders and "/" not in str(value):
        return [joined(rng.choice(folders), str(value))]
    if known_format(slot) == "name" and " " in str(value):
        return [value, str(value).lower().replace(" ", "-")]
    return [value]


def _long_words(places: Iterable[Iterable[Scalar]]) -> list[str]:
    texts = [value for values in places for value in values if isinstance(value, str)]
    return [word for text in texts for word in text.split() if len(word) > 3]
