"""Entities: tables of rows with ids, and the tools that list, search, read, count, relate and write them.

Each operation is one small function that adds one tool. `READS` and `WRITES` name them with their weights.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from build import Args, Builder, Param, State
from style import Refusal, Row, pick
from words import (
    EXTRA_COLUMNS,
    NESTS,
    SUBRECORDS,
    Column,
    column,
    domain,
    path,
    pseudo,
    slug,
)

NUMERIC = ("integer", "number")
ALL = 12
"""No result has more rows."""


@dataclass
class Entity:
    """A table: what it is called, how a row is identified, and which columns a row and a summary have."""

    one: str
    many: str
    id_words: str
    id_param: str
    id_type: str
    id_note: str
    columns: list[Column]
    summary: list[Column]
    new_id: Callable[[Random, int], Any]
    natural: Column | None
    parent: "Entity | None" = None
    parent_words: str = ""
    shows_parent: bool = False
    limit: int = ALL
    keys: dict[str, str] = field(default_factory=dict[str, str])
    nest: tuple[str, tuple[str, ...]] = ("", ())
    used: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def rows(self, state: State) -> dict[Any, Row]:
        return state[self.one]

    def choose(self, rng: Random, operation: str, columns: list[Column]) -> Column | None:
        """A column for which there is no tool of this kind yet."""
        free = [column for column in columns if (operation, column.words) not in self.used]
        if not free:
            return None
        chosen = rng.choice(free)
        self.used.add((operation, chosen.words))
        return chosen

    def enums(self) -> list[Column]:
        return [column for column in self.columns if column.choices]

    def numbers(self) -> list[Column]:
        return [column for column in self.columns if column.type in NUMERIC]

    def strings(self) -> list[Column]:
        return [column for column in self.columns if column.type == "string" and not column.choices]

    def brief(self, row: Row) -> Row:
        keys = [self.keys["id"], *(self.keys[column.words] for column in self.summary)]
        if self.shows_parent:
            keys.append(self.keys[self.parent_words])
        return {key: row[key] for key in keys if key in row}

    def full(self, row: Row) -> Row:
        """The row as the detailed read shows it, with the nested part if there is one."""
        name, inner = self.nest
        if not name:
            return row
        return {
            **{key: value for key, value in row.items() if key not in inner},
            name: {key: row[key] for key in inner if key in row},
        }

    def param(self, slot: str = "id", doc: str = "", required: bool = True) -> Param:
        return Param.of(slot, self.id_param, self.id_type, doc or self.id_note, required)


def make_id(rng: Random, one: str, natural: Column | None) -> tuple[str, Callable[[Random, int], Any], str, str]:
    """An id scheme: its JSON type, its maker (of the row's number), its name in words and a note on how it looks."""
    initials = "".join(part[0] for part in one.split()) + one[-1]
    letters = rng.choice((one[:3], one[:1], initials, pseudo(rng)[:3], pseudo(rng)[:2])).upper()
    base, step = rng.choice((1, 10, 100, 101, 1000, 2040, 5000, 70000)), rng.choice((1, 1, 3, 7))
    dash = rng.choice(("-", "-", "", "_", "/", ":"))
    generic = rng.choice(
        ("id", "id", "id", f"{one} id", f"{one} id", f"{one} id", "ref", "code", "number", "key", f"{one} ref", "uid")
    )
    if natural and rng.random() < 0.3:
        return "string", lambda rng, n: natural.make(rng), natural.words, f"{natural.words} of the {one}"
    match pick(
        rng, {"code": 4, "int": 2.5, "hex": 1.2, "slug": 1, "path": 0.4, "short": 0.6, "lower": 0.7, "uuid": 0.3}
    ):
        case "code":
            return "string", lambda rng, n: f"{letters}{dash}{base + n * step}", generic, f"like {letters}{dash}{base}"
        case "lower":
            return "string", lambda rng, n: f"{letters.lower()}{dash}{base + n * step}", generic, f"{one} identifier"
        case "int":
            wide = rng.random() < 0.4
            return (
                "integer",
                lambda rng, n: rng.randrange(100, 99999) if wide else base + n * step,
                generic,
                f"numeric {one} id",
            )
        case "hex":
            bits = rng.choice((16, 24, 32))
            return "string", lambda rng, n: f"{rng.getrandbits(bits):0{bits // 4}x}", generic, f"id of the {one}"
        case "uuid":
            return (
                "string",
                lambda rng, n: f"{rng.getrandbits(16):04x}-{rng.getrandbits(16):04x}",
                rng.choice(("uuid", "id")),
                "short uuid",
            )
        case "slug":
            return (
                "string",
                lambda rng, n: slug(rng),
                rng.choice(("slug", "id", "handle", f"{one} slug")),
                f"slug of the {one}",
            )
        case "path":
            return "string", lambda rng, n: path(rng), rng.choice(("path", "location", "uri")), f"path of the {one}"
        case _:
            return (
                "string",
                lambda rng, n: "".join(rng.choices("ABCDEFGHJKLMNPRSTUVWXYZ23456789", k=4)),
                rng.choice(("code", "tag", "id")),
                "four characters",
            )


def entity(b: Builder, others: list[Entity], empty: bool = False) -> Entity:
    """Draw an entity and, unless it starts empty, its rows."""
    rng, style = b.rng, b.style
    one, many, columns = domain(rng)
    while one in b.state:
        one, many, columns = domain(rng)
    columns = rng.sample(columns, k=min(len(columns), rng.randint(3, 7)))
    taken = {column.words for column in columns}
    columns += [
        extra
        for extra in map(column, rng.sample(EXTRA_COLUMNS, rng.choice((0, 0, 1, 2, 3))))
        if extra.words not in taken
    ]
    naming = [
        column for column in columns if column.kind in ("title", "person", "phrase", "word", "slug", "company", "place")
    ]
    natural = next(
        (column for column in columns if column.kind in ("title", "person", "slug", "email", "path", "code")), None
    )
    id_type, new_id, id_words, id_note = make_id(rng, one, natural)
    if id_words in {column.words for column in columns}:
        if natural is not None and natural.words == id_words:
            columns.remove(natural)
        else:
            id_words = f"{one} id"
    naming = [column for column in naming if column in columns]
    rest = [column for column in columns if column not in naming[:1]]
    summary = naming[:1] + rng.sample(rest, min(len(rest), rng.choice((0, 1, 2, 2, 2, 3))))
    generic = id_words in ("id", "uid", "uuid", "ref", "code", "number", "key", "tag", "handle")
    id_param = rng.choice((id_words, id_words, id_words, *[f"{one} {id_words}"] * 5, one)) if generic else id_words
    made = Entity(one, many, id_words, id_param, id_type, id_note, columns, summary, new_id, natural)
    made.keys = {"id": style.key(id_words), **{column.words: style.key(column.words) for column in columns}}
    if others and rng.random() < 0.95:
        _adopt(b, made, rng.choice(others))
    plain = [made.keys[column.words] for column in columns if column not in summary]
    if len(plain) >= 3 and rng.random() < 0.3:
        name, kinds = rng.choice(list(NESTS.items()))
        fits = [
            made.keys[column.words]
            for column in columns
            if column not in summary and (kinds is None or column.kind in kinds)
        ]
        if len(fits) >= 2:
            made.nest = (style.key(name), tuple(fits[:3]))
    small = rng.random() < 0.8
    made.limit = ALL if small else rng.choice((3, 4, 5, 5, 6, 8))
    b.state[one] = {}
    if not empty:
        _fill(b, made, rng.randint(5, 9) if small else rng.randint(10, 20))
    return made


def _adopt(b: Builder, child: Entity, parent: Entity) -> None:
    """Give `child` a column that holds an id of `parent`."""
    role = b.rng.choice(("", "", "", "main ", "home ", "source ", "linked ", "primary "))
    words = role + (parent.id_param if parent.one in parent.id_param else f"{parent.one} {parent.id_param}")
    if words not in child.keys:
        child.parent, child.parent_words = parent, words
        child.keys[words] = b.style.key(words)
        child.shows_parent = b.chance(0.4)


def _fill(b: Builder, made: Entity, count: int) -> None:
    rng, rows, nulls = b.rng, b.state[made.one], b.rng.choice((0, 0, 0, 0.1))
    parents = list(b.state[made.parent.one]) if made.parent else []
    for number in range(count):
        if (key := made.new_id(rng, number)) in rows:
            continue
        row: Row = {made.keys["id"]: key}
        for c in made.columns:
            missing = rng.random() < nulls and c.type == "string" and not c.choices and c not in made.summary
            row[made.keys[c.words]] = "" if missing else c.make(rng)
        if parents:
            row[made.keys[made.parent_words]] = rng.choice(parents)
        rows[key] = row


def found(b: Builder, e: Entity, state: State, key: Any) -> Row:
    row = e.rows(state).get(key)
    if row is None:
        raise b.style.absent(e.one, key)
    return row


def bounded(b: Builder, slot: str, words: str, doc: str, default: int, required: bool = False) -> Param:
    """How many rows are wanted, with the bounds that some servers state."""
    schema: dict[str, Any] = {"type": "integer", "default": default}
    if b.chance(0.5):
        schema |= {"minimum": 1, "maximum": ALL}
    return Param(slot, words, schema, doc, required)


def page(a: Args, default: int) -> int:
    """How many rows to show: what was asked for, never more than `ALL`."""
    return min(max(0, a.get("limit", default)), ALL)


# --- reads ------------------------------------------------------------------------------------------------------------


def list_all(b: Builder, e: Entity) -> None:
    """Rows in order: all of a small table, a page of a large one, with filters now and then."""
    style = b.style
    how = style.many if b.chance(0.85) else pick(b.rng, {"list": 1, "named": 1, "lines": 1, "total": 1})
    verb = b.verb(
        "list", "list", "list", "get all", "browse", "show", "get", "all", "fetch", "index of", "list available"
    )
    filters = b.rng.sample(
        e.enums() + [c for c in e.columns if c.kind == "bool"], k=min(len(e.enums()), b.rng.choice((0, 0, 1, 1, 2)))
    )
    params = [
        Param.column(
            c,
            b.say("Only {many} with this {field}", "Filter by {field}", "{field} to keep", many=e.many, field=c.words),
            False,
        )
        for c in filters
    ]
    if e.limit < ALL:  # a page that nothing tells from the whole would make wrong counts
        limit = b.verb("limit", "max results", "count", "page size", "top", "n")
        params.append(
            bounded(
                b,
                "limit",
                limit,
                b.say("At most this many", "Maximum number of {many}", "default {n}", many=e.many, n=e.limit),
                e.limit,
            )
        )
        if b.chance(0.5):
            params.append(Param.of("offset", b.verb("offset", "skip", "start"), "integer", "How many to skip", False))

    def run(state: State, a: Args) -> Any:
        rows = [
            row
            for row in e.rows(state).values()
            if all(row.get(e.keys[c.words]) == a[c.words] for c in filters if c.words in a)
        ]
        start = max(0, a.get("offset", 0))
        shown = [e.brief(row) for row in rows[start:][: page(a, e.limit)]]
        return style.rows(e.many, shown, how, len(rows))

    doc = b.say(
        "List {many}",
        "List all {many}",
        "Show the {many} that are known",
        "Get {many} with their {fields}",
        "Returns a list of {many}",
        "All {many} in the system",
        "List {many}, optionally filtered",
        "Browse the {many}",
        "Retrieve the list of {many} with basic details",
        many=e.many,
        fields=" and ".join(c.words for c in e.summary) or e.id_words,
    )
    b.add(f"{verb} {e.many}", doc, params, run)


def list_ids(b: Builder, e: Entity) -> None:
    style, plain = b.style, b.chance(0.5)

    def run(state: State, a: Args) -> Any:
        keys = list(e.rows(state))[:12]
        return keys if plain else {style.key(f"{e.one} {b.style.spoken(e.keys['id'])}s"): keys}

    doc = b.say(
        "List the {id}s of all {many}",
        "Identifiers of every {one}",
        "Known {one} {id}s",
        one=e.one,
        many=e.many,
        id=e.id_words,
    )
    b.add(f"{b.verb('list', 'get', 'all', 'known')} {e.one} {b.verb('ids', 'keys', 'refs')}", doc, [], run)


def search(b: Builder, e: Entity) -> None:
    style = b.style
    keys = [e.keys[c.words] for c in e.strings()[:3]] or [e.keys["id"]]
    field = b.verb("query", "query", "text", "q", "term", "keyword", "search", "pattern", "contains")
    doc = b.say(
        "Search {many} by text",
        "Find {many} whose {fields} contains the {q}",
        "Full-text search over {many}",
        "Look for {many} matching a query",
        "Search for {many}",
        "Find {many} by keyword",
        "Returns {many} that match the {q} in {fields}",
        many=e.many,
        q=field,
        fields=" or ".join(c.words for c in e.strings()[:3]) or e.id_words,
    )
    params = [
        Param.of(
            "query",
            field,
            "string",
            b.say(
                "Text to look for",
                "Search text",
                "Words to match",
                "Part of a {f}",
                f=(e.strings() or e.columns)[0].words,
            ),
        )
    ]
    if b.chance(0.4):
        params.append(bounded(b, "limit", b.verb("limit", "max results", "size"), "Maximum number of hits", e.limit))

    def run(state: State, a: Args) -> Any:
        wanted = a["query"].lower()
        hits = [
            row for row in e.rows(state).values() if any(wanted in str(row[key]).lower() for key in keys if key in row)
        ]
        return style.rows(e.many, [e.brief(row) for row in hits[: page(a, e.limit)]], "", len(hits))

    b.add(f"{b.verb('search', 'search', 'find', 'query', 'search for', 'lookup', 'filter')} {e.many}", doc, params, run)


def find_by(b: Builder, e: Entity) -> None:
    """Rows by the value of one column: the filter is required."""
    style = b.style
    options = [
        c
        for c in e.columns
        if c.choices or c.kind in ("place", "person", "word", "bool", "country", "company", "code", "date", "year")
    ]
    if (by := e.choose(b.rng, "find", options)) is None:
        return
    verb = b.verb("find", "list", "get", "search", "filter")
    doc = b.say(
        "Find {many} by {by}",
        "List the {many} with a given {by}",
        "All {many} whose {by} matches",
        "{many} for one {by}",
        "Get {many} filtered by {by}",
        many=e.many,
        by=by.words,
    )

    def run(state: State, a: Args) -> Any:
        hits = [row for row in e.rows(state).values() if row.get(e.keys[by.words]) == a[by.words]]
        return style.rows(e.many, [e.brief(row) for row in hits[:ALL]])

    b.add(f"{verb} {e.many} by {by.words}", doc, [Param.column(by, f"The {by.words} to look for")], run)


def in_range(b: Builder, e: Entity) -> None:
    """Rows between two bounds of a number or a date."""
    style = b.style
    options = [c for c in e.columns if c.type in NUMERIC or c.kind == "date"]
    if not options:
        return
    by = b.rng.choice(options)
    low, high = b.rng.choice(
        ((f"min {by.words}", f"max {by.words}"), ("min", "max"), ("from", "to"), ("start", "end"), ("above", "below"))
    )
    needed = b.rng.choice((("low",), ("high",), ("low", "high")))

    def run(state: State, a: Args) -> Any:
        key = e.keys[by.words]
        hits = [
            row
            for row in e.rows(state).values()
            if row.get(key) is not None
            and ("low" not in a or row[key] >= a["low"])
            and ("high" not in a or row[key] <= a["high"])
        ]
        return style.rows(e.many, [e.brief(row) | {key: row[key]} for row in hits[:ALL]])

    params = [
        Param.of("low", low, by.type, f"Lowest {by.words}", "low" in needed),
        Param.of("high", high, by.type, f"Highest {by.words}", "high" in needed),
    ]
    doc = b.say(
        "{many} with {by} in a range",
        "Find {many} by {by} range",
        "{many} whose {by} lies between two values",
        many=e.many,
        by=by.words,
    )
    b.add(f"{b.verb('find', 'list', 'get')} {e.many} {b.verb('by', 'in')} {by.words} range", doc, params, run)


def get(b: Builder, e: Entity) -> None:
    style = b.style
    how = style.one if b.chance(0.85) else pick(b.rng, {"bare": 2, "named": 1, "lines": 1, "markdown": 1})
    verb = b.verb(
        "get", "get", "get", "get", "fetch", "read", "show", "describe", "view", "lookup", "inspect", "retrieve"
    )
    tail = b.rng.choice(("", "", "", "", " details", " info", " by id", " record", " card"))
    doc = b.say(
        "Get one {one} by {id}",
        "Get a {one}",
        "Fetch the full record of a {one}",
        "Details of one {one}",
        "Show everything about a {one}",
        "Look up a {one} by its {id}",
        "Returns the {one} with its {fields}",
        "Retrieve a single {one}",
        "Read a {one} record",
        one=e.one,
        id=e.id_words,
        fields=", ".join(c.words for c in e.columns[:3]),
    )
    note = b.say(
        "{One} identifier",
        "The {id} of the {one}",
        "Which {one}",
        "{note}",
        one=e.one,
        One=e.one.capitalize(),
        id=e.id_words,
        note=e.id_note,
    )
    b.add(
        f"{verb} {e.one}{tail}",
        doc,
        [e.param(doc=note)],
        lambda state, a: style.record(e.one, e.full(found(b, e, state, a["id"])), how),
    )


def get_by(b: Builder, e: Entity) -> None:
    """One row by a column that is as good as unique."""
    style = b.style
    options = [
        c
        for c in e.columns
        if c.kind in ("email", "phone", "person", "title", "code", "slug", "url", "ip", "path", "hex")
    ]
    if not options:
        return
    by = b.rng.choice(options)

    def run(state: State, a: Args) -> Any:
        for row in e.rows(state).values():
            if row.get(e.keys[by.words]) == a[by.words]:
                return style.record(e.one, e.full(row))
        raise style.absent(e.one, a[by.words])

    doc = b.say(
        "Find the {one} with this {by}",
        "Look up a {one} by {by}",
        "Resolve a {by} to its {one}",
        "Get {one} by {by}",
        one=e.one,
        by=by.words,
    )
    b.add(
        f"{b.verb('get', 'find', 'lookup', 'resolve')} {e.one} by {by.words}",
        doc,
        [Param.column(by, f"{by.words} of the {e.one}")],
        run,
    )


def get_column(b: Builder, e: Entity) -> None:
    """One value of one row."""
    style = b.style
    if (of := e.choose(b.rng, "get", e.columns)) is None:
        return
    how = b.rng.choice(("bare", "named", "sentence", "pair", "pair"))

    def run(state: State, a: Args) -> Any:
        row = found(b, e, state, a["id"])
        value = row.get(e.keys[of.words])
        if how == "pair":
            return {e.keys["id"]: a["id"], e.keys[of.words]: value}
        return style.value(of.words, value, how)

    verb = b.verb("get", "check", "read", "show")
    doc = b.say(
        "Get the {of} of a {one}",
        "Check the {of} of one {one}",
        "What is the {of}?",
        "Current {of} of a {one}",
        of=of.words,
        one=e.one,
    )
    b.add(f"{verb} {e.one} {of.words}", doc, [e.param()], run)


def get_sub(b: Builder, e: Entity) -> None:
    """Small records that belong to a row: its history, its parts, its notes."""
    style, rng = b.style, b.rng
    name, one, columns_text = rng.choice(SUBRECORDS)
    columns = [column(text) for text in columns_text]
    table = f"{e.one}/{name}"
    if name in {c.words for c in e.columns} or table in b.state:
        return
    b.state[table] = {
        key: [{style.key(c.words): c.make(rng) for c in columns} for _ in range(rng.choice((0, 1, 2, 2, 3, 4)))]
        for key in e.rows(b.state)
    }
    how = style.many if b.chance(0.7) else rng.choice(("list", "lines", "named"))

    def run(state: State, a: Args) -> Any:
        found(b, e, state, a["id"])
        return style.rows(name, state[table].get(a["id"], []), how)

    doc = b.say(
        "{Name} of a {one}",
        "List the {name} of one {one}",
        "Get all {name} recorded for a {one}",
        "Shows {name} by {one}",
        name=name,
        Name=name.capitalize(),
        one=e.one,
    )
    b.add(f"{b.verb('get', 'list', 'show')} {e.one} {name}", doc, [e.param()], run)
    if b.chance(0.35):
        text = next((c for c in columns if c.kind in ("phrase", "sentence", "word", "place", "person")), columns[0])

        def append(state: State, a: Args) -> Any:
            found(b, e, state, a["id"])
            row = {style.key(c.words): a.get(c.words, None) for c in columns if c.words in a}
            state[table][a["id"]] = [*state[table].get(a["id"], []), row]
            return style.changed(one, "added", e.keys["id"], a["id"], row)

        params = [e.param(), *(Param.column(c, f"{c.words} of the {one}", c is text) for c in columns)]
        b.add(
            f"{b.verb('add', 'record', 'log', 'append')} {e.one} {one}",
            f"Add a {one} to a {e.one}",
            params,
            append,
            "write",
        )


def get_many(b: Builder, e: Entity) -> None:
    """Several rows at once, by a list of ids. Unknown ids are left out."""
    style = b.style
    words = b.verb(f"{e.id_words}s", f"{e.one} ids", "ids", "keys", e.many)
    param = Param(
        "ids",
        words,
        {"type": "array", "items": {"type": e.id_type}},
        b.say("Which {many}", "List of {id}s", many=e.many, id=e.id_words),
    )

    def run(state: State, a: Args) -> Any:
        rows = e.rows(state)
        return style.rows(e.many, [e.brief(rows[key]) for key in a["ids"] if key in rows])

    doc = b.say(
        "Get several {many} at once",
        "Fetch {many} by a list of {id}s",
        "Batch lookup of {many}",
        many=e.many,
        id=e.id_words,
    )
    b.add(f"{b.verb('get multiple', 'batch get', 'get many', 'open', 'fetch', 'load')} {e.many}", doc, [param], run)


def children(b: Builder, e: Entity) -> None:
    """The rows that point to one row of the parent."""
    parent, style = e.parent, b.style
    if parent is None:
        return

    def run(state: State, a: Args) -> Any:
        found(b, parent, state, a["id"])
        hits = [row for row in e.rows(state).values() if row.get(e.keys[e.parent_words]) == a["id"]]
        return style.rows(e.many, [e.brief(row) for row in hits[:ALL]])

    doc = b.say(
        "List the {many} of a {parent}",
        "{many} that belong to one {parent}",
        "Get all {many} for a {parent}",
        many=e.many,
        parent=parent.one,
    )
    name = b.say("list {p} {m}", "get {p} {m}", "{m} for {p}", "list {m} by {p}", "{m} of {p}", p=parent.one, m=e.many)
    b.add(name, doc, [parent.param()], run)


def count(b: Builder, e: Entity) -> None:
    style = b.style
    filters = b.rng.sample(e.enums(), k=min(len(e.enums()), b.rng.choice((0, 1, 1))))

    def run(state: State, a: Args) -> Any:
        rows = e.rows(state).values()
        return style.value(
            "count", sum(all(row.get(e.keys[c.words]) == a[c.words] for c in filters if c.words in a) for row in rows)
        )

    doc = b.say(
        "Count {many}",
        "How many {many} there are",
        "Number of {many}, optionally by {by}",
        many=e.many,
        by=filters[0].words if filters else "kind",
    )
    b.add(
        f"{b.verb('count', 'count', 'total', 'number of')} {e.many}",
        doc,
        [Param.column(c, f"Count only this {c.words}", b.chance(0.4)) for c in filters],
        run,
    )


def aggregate(b: Builder, e: Entity) -> None:
    """A number computed over the table, for all rows or for one group."""
    style = b.style
    if (of := e.choose(b.rng, "aggregate", e.numbers())) is None:
        return
    group = b.rng.choice([None, *e.enums()])
    name, compute = b.rng.choice(
        (
            ("total", sum),
            ("average", lambda v: sum(v) / len(v)),
            ("highest", max),
            ("lowest", min),
            ("median", lambda v: sorted(v)[len(v) // 2]),
        )
    )

    def run(state: State, a: Args) -> Any:
        rows = [
            row for row in e.rows(state).values() if group is None or row.get(e.keys[group.words]) == a[group.words]
        ]
        values = [row[e.keys[of.words]] for row in rows if e.keys[of.words] in row]
        if not values:
            raise Refusal(f"Error: no {e.many} to compute on")
        return style.value(f"{name} {of.words}", round(compute(values), 2))

    doc = b.say(
        "{Name} {of} of {many}",
        "Compute the {name} {of} over {many}",
        "{Name} {of} across the {many}",
        Name=name.capitalize(),
        name=name,
        of=of.words,
        many=e.many,
    )
    params = [Param.column(group, f"{group.words} of the {e.many} to include")] if group else []
    b.add(
        b.say(
            "{name} {of}",
            "{one} {of} {name}",
            "get {name} {one} {of}",
            "{name} {of} of {many}",
            name=name,
            of=of.words,
            one=e.one,
            many=e.many,
        ),
        doc,
        params,
        run,
    )


def breakdown(b: Builder, e: Entity) -> None:
    """How many rows per value of an enumeration: a zero-argument report."""
    style, enums = b.style, e.enums()
    if not enums:
        return
    by = b.rng.choice(enums)

    def run(state: State, a: Args) -> Any:
        tally = dict.fromkeys(by.choices, 0)
        for row in e.rows(state).values():
            tally[row.get(e.keys[by.words], by.choices[0])] += 1
        return style.record(
            f"{e.many} by {by.words}", dict(tally), "lines" if style.one in ("markdown", "sentence") else ""
        )

    doc = b.say(
        "Number of {many} per {by}", "Summary of {many} by {by}", "Break {many} down by {by}", many=e.many, by=by.words
    )
    b.add(
        b.say(
            "{one} {by} summary",
            "{many} by {by}",
            "summarize {many}",
            "{one} stats",
            one=e.one,
            many=e.many,
            by=by.words,
        ),
        doc,
        [],
        run,
    )


def top(b: Builder, e: Entity) -> None:
    style, numbers = b.style, e.numbers()
    if not numbers:
        return
    by = b.rng.choice(numbers)
    sign = b.rng.choice((1, -1))
    extreme = b.verb("highest", "top", "largest") if sign > 0 else b.verb("lowest", "smallest", "bottom")
    how_many = bounded(b, "limit", b.verb("n", "limit", "count"), "How many", 3, b.chance(0.4))

    def run(state: State, a: Args) -> Any:
        key = e.keys[by.words]
        rows = sorted((row for row in e.rows(state).values() if key in row), key=lambda row: -sign * row[key])
        return style.rows(e.many, [e.brief(row) | {key: row[key]} for row in rows[: page(a, 3)]], "", len(rows))

    doc = b.say(
        "{Ex} {many} by {by}",
        "The {many} with the {ex} {by}",
        "Rank {many} by {by}, {ex} first",
        Ex=extreme.capitalize(),
        ex=extreme,
        many=e.many,
        by=by.words,
    )
    b.add(f"{extreme} {e.many} by {by.words}" if b.chance(0.5) else f"rank {e.many}", doc, [how_many], run)


def compare(b: Builder, e: Entity) -> None:
    """Two rows beside each other: which has more, and by how much."""
    style, numbers = b.style, e.numbers()
    if not numbers:
        return
    by = b.rng.choice(numbers)
    first, second = b.rng.choice(
        (("first", "second"), ("a", "b"), ("left", "right"), (f"{e.one} a", f"{e.one} b"), ("one", "other"))
    )

    def run(state: State, a: Args) -> Any:
        left, right = found(b, e, state, a["first"]), found(b, e, state, a["second"])
        one, other = (row.get(e.keys[by.words], 0) for row in (left, right))
        more = a["first"] if one > other else a["second"] if other > one else "neither"
        return style.record(
            "comparison",
            {
                style.key(first): one,
                style.key(second): other,
                style.key("difference"): round(abs(one - other), 3),
                style.key("higher"): more,
            },
        )

    doc = b.say(
        "Compare two {many} by {by}",
        "Which of two {many} has more {by}",
        "Difference in {by} between two {many}",
        many=e.many,
        by=by.words,
    )
    params = [
        Param.of("first", first, e.id_type, f"{e.id_words} of one {e.one}"),
        Param.of("second", second, e.id_type, f"{e.id_words} of another {e.one}"),
    ]
    b.add(f"{b.verb('compare', 'diff', 'contrast')} {e.many}", doc, params, run)


# --- writes -----------------------------------------------------------------------------------------------------------


def create(b: Builder, e: Entity) -> None:
    """One new row. The server invents the id unless it is a natural one."""
    style, rng = b.style, b.rng
    natural = e.natural is not None and e.id_words == e.natural.words
    columns = e.columns[: rng.randint(2, 4)]
    required = {c.words for c in columns[: rng.randint(1, len(columns))]}
    params = [
        Param.column(c, b.say("{c} of the new {one}", "The {c}", "{c}", c=c.words, one=e.one), c.words in required)
        for c in columns
    ]
    if natural:
        params.insert(0, e.param(slot="id", doc=f"{e.id_words} of the new {e.one}"))
    if e.parent is not None and b.chance(0.6):
        params.append(
            Param.of("parent", e.parent_words, e.parent.id_type, f"{e.parent.one} it belongs to", b.chance(0.3))
        )

    names = {style.param(param.words): param.slot for param in params}
    nested = b.chance(0.15)
    if nested:
        shown = {style.param(param.words): param.schema for param in params}
        needed = [style.param(param.words) for param in params if param.required]
        schema: dict[str, Any] = {"type": "object", "properties": shown, "required": needed}
        params = [Param("record", b.verb(e.one, "record", "data", "input"), schema, f"The {e.one} to create")]

    def run(state: State, given: Args) -> Any:
        a = {names[name]: value for name, value in given["record"].items() if name in names} if nested else given
        rows = e.rows(state)
        key = a["id"] if natural else _next_id(e, rows)
        if key in rows:
            raise Refusal(f"Error: {e.one} {key} already exists")
        if "parent" in a and e.parent is not None:
            found(b, e.parent, state, a["parent"])
        row = {e.keys["id"]: key, **{e.keys[c.words]: a[c.words] for c in columns if c.words in a}}
        if "parent" in a:
            row[e.keys[e.parent_words]] = a["parent"]
        rows[key] = row
        return style.changed(e.one, "created", e.keys["id"], key, row)

    verb = b.verb("create", "create", "add", "add", "new", "register", "insert", "open", "log")
    doc = b.say(
        "Create a {one}",
        "Add a new {one}",
        "Register a {one}",
        "Adds one {one} and returns it",
        "Make a new {one} record",
        one=e.one,
    )
    b.add(f"{verb} {e.one}", doc, params, run, "write")


def create_many(b: Builder, e: Entity) -> None:
    """Several new rows at once, as an array of objects."""
    style, rng = b.style, b.rng
    columns = e.columns[: rng.randint(1, 3)]
    if rng.random() < 0.3 and all(c.type != "array" for c in columns):
        columns = [*columns, replace(column("notes:tags"), words=b.verb("notes", "labels", "aliases"))]
    for c in columns:
        e.keys.setdefault(c.words, style.key(c.words))
    natural = e.natural is not None and e.id_words == e.natural.words
    names = {style.param(c.words): c.words for c in columns}
    properties = {name: _schema(c) for name, c in zip(names, columns, strict=True)}
    if natural:
        names = {style.param(e.id_words): "id", **names}
        properties = {style.param(e.id_words): {"type": "string"}, **properties}
    required = list(properties)[: rng.randint(1, len(properties))]
    words = b.verb(e.many, e.many, "items", "records", "entries")
    schema = {"type": "array", "items": {"type": "object", "properties": properties, "required": required}}

    def run(state: State, a: Args) -> Any:
        rows, made = e.rows(state), list[Row]()
        for item in a["items"]:
            given = {names[name]: value for name, value in item.items() if name in names}
            key = given.pop("id", None) if natural else _next_id(e, rows)
            row = {e.keys["id"]: key, **{e.keys[c]: value for c, value in given.items()}}
            if key not in rows:
                rows[key] = row
                made.append(row)
        return style.rows(e.many, made, "list" if style.done == "record" else "")

    doc = b.say("Create several {many} at once", "Add multiple {many}", "Bulk insert of {many}", many=e.many)
    b.add(
        f"{b.verb('create', 'add', 'import', 'bulk add', 'save')} {e.many}",
        doc,
        [Param("items", words, schema, f"The {e.many} to add")],
        run,
        "write",
    )


def set_column(b: Builder, e: Entity) -> None:
    """Change one column of one row: a status, a flag, a number."""
    style = b.style
    if (of := e.choose(b.rng, "set", e.enums() or e.columns)) is None:
        return
    words = of.words if b.chance(0.7) else b.verb("value", f"new {of.words}")

    def run(state: State, a: Args) -> Any:
        row = found(b, e, state, a["id"])
        row[e.keys[of.words]] = a["value"]
        return style.changed(e.one, "updated", e.keys["id"], a["id"], e.brief(row) | {e.keys[of.words]: a["value"]})

    param = replace(Param.column(of, f"The new {of.words}", slot="value"), words=words)
    doc = b.say(
        "Set the {of} of a {one}",
        "Change a {one}'s {of}",
        "Update {of}",
        "Mark a {one} with another {of}",
        of=of.words,
        one=e.one,
    )
    b.add(f"{b.verb('set', 'update', 'change')} {e.one} {of.words}", doc, [e.param(), param], run, "write")


def update(b: Builder, e: Entity) -> None:
    """Change any of several columns, flat or in a nested object of changes."""
    style, columns = b.style, e.columns[:3]
    nested = b.verb("changes", "fields", "patch", "values") if b.chance(0.6) else ""
    names = {style.param(c.words): c.words for c in columns}

    def run(state: State, a: Args) -> Any:
        row = found(b, e, state, a["id"])
        changes = {names[name]: value for name, value in a["changes"].items() if name in names} if nested else a
        row.update({e.keys[c.words]: changes[c.words] for c in columns if c.words in changes})
        return style.changed(e.one, "updated", e.keys["id"], a["id"], e.full(row))

    if nested:
        schema = {"type": "object", "properties": {style.param(c.words): _schema(c) for c in columns}}
        params = [e.param(), Param("changes", nested, schema, "What to change")]
    else:
        params = [e.param(), *(Param.column(c, f"New {c.words}", False) for c in columns)]
    doc = b.say(
        "Update a {one}",
        "Change fields of a {one}",
        "Edit a {one}; only the given fields change",
        "Modify one {one}",
        one=e.one,
    )
    b.add(f"{b.verb('update', 'edit', 'modify', 'patch')} {e.one}", doc, params, run, "write")


def annotate(b: Builder, e: Entity) -> None:
    """Append a remark to a row; reads show it afterwards."""
    style = b.style
    words = b.verb("notes", "remarks", "annotations", "journal", "log")
    key, field = style.key(words), b.verb("note", "text", "remark", "content", "message")

    def run(state: State, a: Args) -> Any:
        row = found(b, e, state, a["id"])
        kept = row.get(key)
        row[key] = [*(kept if isinstance(kept, list) else [kept] if kept else []), a["text"]]
        return style.changed(e.one, "annotated", e.keys["id"], a["id"], {e.keys["id"]: a["id"], key: row[key]})

    doc = b.say("Add a note to a {one}", "Append a {f} to the {one}", "Write a {f} on a {one}", one=e.one, f=field)
    b.add(
        f"{b.verb('add', 'append', 'attach')} {e.one} {field}" if b.chance(0.6) else f"annotate {e.one}",
        doc,
        [e.param(), Param.of("text", field, "string", "What to write")],
        run,
        "write",
    )


def rename(b: Builder, e: Entity) -> None:
    """Change the id itself where it is a name, else the first text column."""
    style, strings = b.style, e.strings()
    if not strings:
        return
    of = strings[0]

    def run(state: State, a: Args) -> Any:
        row = found(b, e, state, a["id"])
        row[e.keys[of.words]] = a["to"]
        return style.changed(e.one, "renamed", e.keys["id"], a["id"], e.brief(row) | {e.keys[of.words]: a["to"]})

    words = b.verb(f"new {of.words}", of.words, "to", "new name")
    doc = b.say("Rename a {one}", "Give a {one} a new {of}", "Change the {of} of a {one}", one=e.one, of=of.words)
    b.add(
        f"{b.verb('rename', 'relabel', 'retitle')} {e.one}",
        doc,
        [e.param(), Param.of("to", words, "string", f"The new {of.words}")],
        run,
        "write",
    )


def adjust(b: Builder, e: Entity) -> None:
    """Add to a number of a row; the server does the sum."""
    style, numbers = b.style, e.numbers()
    if not numbers:
        return
    of = b.rng.choice(numbers)

    def run(state: State, a: Args) -> Any:
        row = found(b, e, state, a["id"])
        row[e.keys[of.words]] = round(row.get(e.keys[of.words], 0) + a["by"], 3)
        return style.changed(
            e.one, "adjusted", e.keys["id"], a["id"], {e.keys["id"]: a["id"], e.keys[of.words]: row[e.keys[of.words]]}
        )

    words = b.verb("delta", "by", "amount", "change")
    doc = b.say(
        "Add to the {of} of a {one}", "Increase or decrease {of}", "Adjust {of} by an amount", of=of.words, one=e.one
    )
    b.add(
        f"{b.verb('adjust', 'increment', 'bump')} {e.one} {of.words}",
        doc,
        [e.param(), Param.of("by", words, of.type, "How much to add; may be negative")],
        run,
        "write",
    )


def delete(b: Builder, e: Entity) -> None:
    style = b.style

    def run(state: State, a: Args) -> Any:
        found(b, e, state, a["id"])
        del e.rows(state)[a["id"]]
        return style.changed(e.one, "deleted", e.keys["id"], a["id"])

    doc = b.say("Delete a {one}", "Remove a {one} for good", "Permanently delete one {one}", "Drop a {one}", one=e.one)
    b.add(f"{b.verb('delete', 'remove', 'drop', 'purge')} {e.one}", doc, [e.param()], run, "destroy")


def assign(b: Builder, e: Entity) -> None:
    """Point a row to another row of its parent."""
    parent, style = e.parent, b.style
    if parent is None:
        return

    def run(state: State, a: Args) -> Any:
        row = found(b, e, state, a["id"])
        found(b, parent, state, a["to"])
        row[e.keys[e.parent_words]] = a["to"]
        return style.changed(e.one, "moved", e.keys["id"], a["id"], e.brief(row) | {e.keys[e.parent_words]: a["to"]})

    params = [
        replace(e.param(), words=f"{e.one} {e.id_words}"),
        Param.of("to", e.parent_words, parent.id_type, f"{parent.one} to move it to"),
    ]
    doc = b.say("Move a {one} to another {p}", "Assign a {one} to a {p}", "Link {one} and {p}", one=e.one, p=parent.one)
    b.add(
        b.say("assign {one} to {p}", "move {one}", "link {one} {p}", one=e.one, p=parent.one), doc, params, run, "write"
    )


def link(b: Builder, e: Entity) -> None:
    """Many-to-many links between rows of one table, written and read back."""
    style = b.style
    relation = b.verb("depends on", "next to", "reports to", "paired with", "similar to", "blocks", "feeds", "follows")
    table, noun = f"{e.one}/links", b.verb("link", "tie", "edge", "connection", "dependency")
    b.state[table] = {key: [] for key in e.rows(b.state)}

    def connect(state: State, a: Args) -> Any:
        found(b, e, state, a["from"])
        found(b, e, state, a["to"])
        state[table][a["from"]] = [
            *state[table].get(a["from"], []),
            {style.key("to"): a["to"], style.key("kind"): a.get("kind", relation)},
        ]
        return style.changed(
            noun, "created", e.keys["id"], a["from"], {style.key("from"): a["from"], style.key("to"): a["to"]}
        )

    def linked(state: State, a: Args) -> Any:
        found(b, e, state, a["id"])
        return style.rows(f"{noun}s", state[table].get(a["id"], []))

    source, target = b.rng.choice((("from", "to"), ("source", "target"), (f"from {e.id_words}", f"to {e.id_words}")))
    params = [
        Param.of("from", source, e.id_type, f"{e.id_words} of the first {e.one}"),
        Param.of("to", target, e.id_type, f"{e.id_words} of the second"),
    ]
    if b.chance(0.6):
        params.append(
            Param.of(
                "kind", b.verb("kind", "type", "label"), "string", f"How they relate, like '{relation}'", b.chance(0.4)
            )
        )
    b.add(
        f"{b.verb('link', 'connect', 'tie')} {e.many}",
        b.say("Link two {many}", "Connect one {one} to another", many=e.many, one=e.one),
        params,
        connect,
        "write",
    )
    b.add(
        f"{b.verb('get', 'list')} {e.one} {noun}s",
        b.say("Links of a {one}", "What a {one} is connected to", one=e.one),
        [e.param()],
        linked,
    )


def _schema(column: Column) -> dict[str, Any]:
    return Param.column(column).schema


def _next_id(e: Entity, rows: dict[Any, Row]) -> Any:
    """The id after the last; drawn from the table's size, so that the same writes give the same ids."""
    number = len(rows)
    while True:
        if (key := e.new_id(Random(number), number)) not in rows:
            return key
        number += 1


Operation = Callable[[Builder, Entity], None]

REPEATABLE: tuple[Operation, ...] = (get_column, find_by, get_sub, aggregate, set_column)
READS: dict[Operation, float] = {
    list_all: 0.5,
    get: 0.5,
    get_by: 2,
    find_by: 3,
    search: 3,
    list_ids: 0.7,
    in_range: 1.5,
    get_column: 2.5,
    get_sub: 2,
    get_many: 0.6,
    children: 4,
    count: 1.5,
    aggregate: 1.8,
    breakdown: 0.5,
    top: 1,
    compare: 0.5,
}
WRITES: dict[Operation, float] = {
    create: 3,
    create_many: 0.6,
    set_column: 4,
    update: 1.5,
    annotate: 0.8,
    rename: 0.8,
    adjust: 0.4,
    delete: 1,
    assign: 1.5,
    link: 0.5,
}


def entity_family(b: Builder, e: Entity, tools: int, writes: bool) -> None:
    """About `tools` tools for one entity: a way to discover ids, a way to read a row, then whatever else."""
    before = len(b.tools)
    options = {**READS, **(WRITES if writes else {})}
    first = [b.rng.choice((list_all,) * 8 + (list_ids,))]
    if tools > 1 and b.chance(0.95):
        first.append(get)
    if writes and (not e.rows(b.state) or b.chance(0.5)):
        first.append(create)
    if writes and tools > 2 and b.chance(0.6):
        first.append(set_column)
    for operation in first:
        operation(b, e)
        options.pop(operation, None)
    while options and len(b.tools) - before < tools:
        operation = b.rng.choices(list(options), list(options.values()))[0]
        operation(b, e)
        # Two tools of one kind differ in their column or not at all: then a request could mean either.
        options[operation] *= 0.5 if operation in REPEATABLE else 0
        options = {operation: weight for operation, weight in options.items() if weight > 0.2}
