"""Small stateful families without entities: settings, reports, journals, accounts, memos, timetables.

None is a file system, a graph of notes or a clock: the policy is shown on servers of those kinds as unseen ones.
"""

from typing import Any

from build import Args, Builder, Effect, Param, Run, State, choice, number, text
from style import Refusal, Row, Text
from words import KINDS, STATUSES, clock, code, column, date, moment, person, phrase, sentence, title, word

Entry = tuple[str, str, list[Param], Run, Effect]
"""A tool to add: name in words, description, parameters, handler, effect."""


def settings(b: Builder, writes: bool) -> None:
    """Named values: read one, read all, set one, flip one."""
    rng, style = b.rng, b.style
    what = b.verb("setting", "option", "preference", "parameter", "threshold", "knob", "variable")
    if what in b.state:
        return
    separator, names = rng.choice("._-/"), dict[Any, Any]()
    for _ in range(rng.randint(4, 9)):
        kind = rng.choice(("small", "bool", "word", "decimal", "time", "color", "path", "measure"))
        names[separator.join(word(rng) for _ in range(rng.choice((1, 2, 2))))] = KINDS[kind][1](rng)
    b.state[what] = names
    key_words = b.verb("key", "name", what)
    enumerated = b.chance(0.3)
    key = (
        choice("key", key_words, list(names), f"Which {what}")
        if enumerated
        else text("key", key_words, f"Name of the {what}")
    )

    def read(state: State, a: Args) -> Any:
        if a["key"] not in state[what]:
            raise style.absent(what, a["key"])
        return style.value(a["key"], state[what][a["key"]], "bare" if style.scalar == "result" else style.scalar)

    def change(state: State, a: Args) -> Any:
        if a["key"] not in state[what]:
            raise style.absent(what, a["key"])
        state[what][a["key"]] = a["value"]
        return style.changed(what, "set", style.key("key"), a["key"], {"key": a["key"], "value": a["value"]})

    def flip(state: State, a: Args) -> Any:
        if not isinstance(state[what].get(a["key"]), bool):
            raise Refusal(f"Error: {a['key']} is not a switch")
        state[what][a["key"]] = not state[what][a["key"]]
        return style.value(a["key"], state[what][a["key"]])

    b.add(f"{b.verb('get', 'read', 'show')} {what}", b.noun_doc(f"Value of one {what}"), [key], read)
    if not enumerated or b.chance(0.4):
        b.add(
            f"{b.verb('list', 'get all', 'show')} {what}s",
            f"All {what}s with their values",
            [],
            lambda state, a: style.record(
                what, dict(state[what]), "lines" if style.one in ("lines", "markdown", "sentence") else "bare"
            ),
        )
    if writes:
        b.add(
            f"{b.verb('set', 'change', 'update')} {what}",
            f"Change one {what}",
            [key, text("value", b.verb("value", "new value", "to"), "The new value")],
            change,
            "write",
        )
        if any(isinstance(value, bool) for value in names.values()) and b.chance(0.4):
            b.add(f"{b.verb('toggle', 'flip', 'switch')} {what}", f"Turn a {what} on or off", [key], flip, "write")


def status(b: Builder) -> None:
    """A zero-argument report about the server itself."""
    rng, style = b.rng, b.style
    what = b.verb(
        "status",
        "health",
        "version",
        "info",
        "summary",
        "uptime",
        "usage",
        "profile",
        "overview",
        "quota",
        "about",
        "state",
        "license",
        "session",
    )
    columns = [
        column(text)
        for text in rng.sample(
            (
                "version:version",
                "uptime:measure",
                "healthy:bool",
                "region:place",
                "started:moment",
                "load:percent",
                "queue:small",
                "owner:person",
                "plan:basic/plus/pro",
                "requests:int",
                "build:hex",
                "contact:email",
                "status:ok/degraded/busy",
                "node:slug",
                "quota:int",
                "mode:manual/auto",
                "host:ip",
                "last_sync:moment",
                "site:title",
                "operator:company",
                "license:code",
                "temperature:degree",
                "utc_offset:offset",
            ),
            rng.choice((1, 2, 3, 3, 4, 5)),
        )
    ]
    row = {style.key(c.words): c.make(rng) for c in columns}
    name = rng.choice(
        (
            f"get {what}",
            what,
            f"server {what}",
            f"{word(rng)} {what}",
            f"check {what}",
            f"system {what}",
            "ping",
            "whoami",
        )
    )
    b.add(
        name,
        b.say(
            "{What} of this server",
            "Get the {what}",
            "Reports {what}",
            "Current {what} of the system",
            what=what,
            What=what.capitalize(),
        ),
        [],
        lambda state, a: style.record(what, row),
    )


def log(b: Builder, writes: bool) -> None:
    """A journal of lines: read the last ones, append, search."""
    rng, style = b.rng, b.style
    what = b.verb("journal", "logbook", "diary", "activity", "audit trail", "inbox", "feed")
    if what in b.state:
        return
    b.state[what] = {
        i: f"{moment(rng)} {rng.choice(('', person(rng) + ': ', rng.choice(STATUSES) + ' '))}{sentence(rng)}"
        for i in range(rng.randint(0 if writes else 5, 20))
    }

    def tail(state: State, a: Args) -> Any:
        lines = list(state[what].values())[-max(1, min(a.get("n", 4), 20)) :]
        return (
            Text("\n".join(lines) or f"The {what} is empty.")
            if style.many not in ("list", "named", "data")
            else style.value("entries", lines, "named")
        )

    def write(state: State, a: Args) -> Any:
        state[what][len(state[what])] = a["line"]
        return style.changed("entry", "added", "entry", len(state[what]))

    n, line = b.verb("n", "count", "lines", "limit"), b.verb("line", "text", "message", "entry", "note")
    b.add(
        f"{b.verb('read', 'show', 'tail', 'get')} {what}",
        b.noun_doc(f"last entries of the {what}"),
        [number("n", n, "How many", b.chance(0.4), "integer")],
        tail,
    )
    if writes:
        b.add(
            f"{b.verb('write to', 'append to', 'add to', 'log to')} {what}",
            f"Add a line to the {what}",
            [text("line", line, "What to write")],
            write,
            "write",
        )


def ledger(b: Builder, writes: bool) -> None:
    """A few accounts with money on them: balances, statements, and payments between two of them."""
    rng, style = b.rng, b.style
    one = b.verb("purse", "fund", "pot", "wallet", "cost centre", "petty cash box", "savings plan")
    if one in b.state:
        return
    many, holder_words = plural(one), b.verb("holder", "owner", "manager", "treasurer")
    key_words = b.verb("name", "code", f"{one} code", f"{one} name")
    names = [title(rng) if "name" in key_words else code(rng) for _ in range(rng.randint(4, 7))]
    amount_words, unit = b.verb("amount", "sum", "value"), rng.choice(("EUR", "USD", "GBP", "CHF", "DKK"))
    source, target = rng.choice((("from", "to"), ("payer", "payee"), ("source", "target"), ("debit", "credit")))
    b.state[one] = {
        name: {
            style.key(key_words): name,
            style.key(holder_words): person(rng),
            style.key("balance"): round(rng.uniform(20, 5000), 2),
            style.key("currency"): unit,
            style.key("opened"): date(rng),
        }
        for name in names
    }
    entries = f"{one}/entries"
    b.state[entries] = {
        name: [
            {
                style.key("date"): date(rng),
                style.key("amount"): round(rng.uniform(1, 400), 2),
                style.key("payee"): rng.choice((person, KINDS["company"][1]))(rng),
            }
            for _ in range(rng.randint(1, 4))
        ]
        for name in names
    }
    key, amount = (
        text("key", key_words, f"{key_words} of the {one}"),
        number("amount", amount_words, f"How much, in {unit}"),
    )

    def at(state: State, name: str) -> Row:
        if name not in state[one]:
            raise style.absent(one, name)
        return state[one][name]

    def moved(state: State, name: str, by: float) -> Row:
        row = dict(at(state, name))
        row[style.key("balance")] = round(row[style.key("balance")] + by, 2)
        state[one][name] = row
        return row

    def pay(state: State, a: Args) -> Any:
        at(state, a["to"])
        if at(state, a["from"])[style.key("balance")] < a["amount"]:
            raise Refusal(f"Error: {a['from']} does not hold {a['amount']} {unit}")
        moved(state, a["to"], a["amount"])
        return style.changed(one, "charged", style.key(key_words), a["from"], moved(state, a["from"], -a["amount"]))

    def put_in(state: State, a: Args) -> Any:
        return style.changed(one, "credited", style.key(key_words), a["key"], moved(state, a["key"], a["amount"]))

    def statement(state: State, a: Args) -> Any:
        at(state, a["key"])
        return style.rows("entries", state[entries].get(a["key"], []))

    b.add(
        f"list {many}", f"All {many} with their balances", [], lambda state, a: style.rows(many, [*state[one].values()])
    )
    reads: list[Entry] = [
        (
            f"get {one}",
            b.noun_doc(f"{holder_words} and balance of a {one}"),
            [key],
            lambda state, a: style.record(one, at(state, a["key"])),
            "read",
        ),
        (
            f"{one} {b.verb('statement', 'history', 'entries')}",
            f"Payments made out of a {one}",
            [key],
            statement,
            "read",
        ),
    ]
    edits: list[Entry] = [
        (
            f"{b.verb('pay', 'transfer', 'move money')} between {many}",
            f"Move money from one {one} to another",
            [text("from", source, f"{one} to take it from"), text("to", target, f"{one} to put it in"), amount],
            pay,
            "write",
        ),
        (f"{b.verb('deposit', 'top up', 'credit')} {one}", f"Put money into a {one}", [key, amount], put_in, "write"),
    ]
    for name, doc, params, run, effect in reads + (edits if writes else []):
        if b.chance(0.8):
            b.add(name, doc, params, run, effect)


def memos(b: Builder, writes: bool) -> None:
    """Short texts under numbers, each with an author and a subject."""
    rng, style = b.rng, b.style
    one = b.verb("memo", "letter", "poster", "flyer", "complaint", "speech", "announcement", "lesson plan")
    if one in b.state:
        return
    many, first = plural(one), rng.choice((1, 10, 101, 2000))
    number_words, body = b.verb("number", f"{one} number", f"{one} id"), b.verb("text", "body", "wording")
    author, subject = (
        b.verb("author", "from", "written by", "signed by"),
        b.verb("subject", "title", "about", "heading"),
    )
    kinds = {subject: phrase, author: person, "date": date, body: sentence}

    def row_of(serial: int, **given: Any) -> Row:
        row = {style.key(words): given.get(words) or make(rng) for words, make in kinds.items()}
        return {style.key(number_words): serial, **row}

    b.state[one] = {first + n: row_of(first + n) for n in range(rng.randint(4, 8))}
    fixed = date(rng)
    serial = number("serial", number_words, f"{number_words} of the {one}", kind="integer")

    def at(state: State, key: int) -> Row:
        if key not in state[one]:
            raise style.absent(one, key)
        return state[one][key]

    def brief(row: Row) -> Row:
        return {name: value for name, value in row.items() if name != style.key(body)}

    def written(state: State, a: Args) -> Any:
        key = max(state[one], default=first - 1) + 1
        words = {number_words: key, subject: a["subject"], author: a["author"], "date": fixed, body: a["body"]}
        state[one][key] = {style.key(name): value for name, value in words.items()}
        return style.changed(one, "written", style.key(number_words), key, brief(state[one][key]))

    def reworded(state: State, a: Args) -> Any:
        state[one][a["serial"]] = at(state, a["serial"]) | {style.key(body): a["body"]}
        return style.changed(one, "reworded", style.key(number_words), a["serial"], state[one][a["serial"]])

    def withdrawn(state: State, a: Args) -> Any:
        at(state, a["serial"])
        del state[one][a["serial"]]
        return style.changed(one, "withdrawn", style.key(number_words), a["serial"])

    b.add(
        f"list {many}",
        f"All {many}, without their {body}",
        [],
        lambda state, a: style.rows(many, [brief(row) for row in state[one].values()]),
    )
    b.add(
        f"{b.verb('read', 'open', 'show')} {one}",
        f"A {one} with its {body}",
        [serial],
        lambda state, a: style.record(one, at(state, a["serial"])),
    )
    if writes:
        b.add(
            f"{b.verb('write', 'draft', 'compose')} {one}",
            f"Write a new {one}",
            [
                text("subject", subject, f"What the {one} is about"),
                text("author", author, "Who writes it"),
                text("body", body, f"The {body}"),
            ],
            written,
            "write",
        )
        if b.chance(0.6):
            b.add(
                f"{b.verb('reword', 'rewrite', 'revise')} {one}",
                f"Give a {one} another {body}",
                [serial, text("body", body, f"The new {body}")],
                reworded,
                "write",
            )
        if b.chance(0.5):
            b.add(f"{b.verb('withdraw', 'discard')} {one}", f"Withdraw a {one}", [serial], withdrawn, "destroy")


def agenda(b: Builder, writes: bool) -> None:
    """A timetable: slots that are free or somebody's, taken and given up."""
    rng, style = b.rng, b.style
    one = b.verb("slot", "lane", "booth", "pitch", "practice room", "stall", "berth", "tee time")
    if one in b.state:
        return
    many, key_words, who = (
        plural(one),
        b.verb("code", f"{one} code", "label"),
        b.verb("holder", "booked by", "guest", "member"),
    )
    b.state[one] = {}
    for n in range(rng.randint(5, 9)):
        name = f"{one[0].upper()}{n + 1}" if b.chance(0.5) else code(rng)
        taken = rng.random() < 0.6
        values = (
            name,
            date(rng),
            clock(rng),
            rng.randint(2, 60),
            "taken" if taken else "free",
            person(rng) if taken else "",
        )
        names = (key_words, "date", "time", "price", "status", who)
        b.state[one][name] = {style.key(words): value for words, value in zip(names, values, strict=True)}
    key = text("key", key_words, f"{key_words} of the {one}")

    def at(state: State, name: str) -> Row:
        if name not in state[one]:
            raise style.absent(one, name)
        return state[one][name]

    def listed(state: State, a: Args) -> Any:
        rows = [
            row for row in state[one].values() if a.get("status", row[style.key("status")]) == row[style.key("status")]
        ]
        return style.rows(many, rows)

    def book(state: State, a: Args) -> Any:
        if at(state, a["key"])[style.key("status")] == "taken":
            raise Refusal(f"Error: {a['key']} is taken")
        state[one][a["key"]] = at(state, a["key"]) | {style.key("status"): "taken", style.key(who): a["who"]}
        return style.changed(one, "booked", style.key(key_words), a["key"], state[one][a["key"]])

    def free(state: State, a: Args) -> Any:
        state[one][a["key"]] = at(state, a["key"]) | {style.key("status"): "free", style.key(who): ""}
        return style.changed(one, "freed", style.key(key_words), a["key"], state[one][a["key"]])

    only = choice("status", "status", ("free", "taken"), "Only these", False)
    b.add(f"list {many}", b.say("The timetable of {m}", "All {m}, free or taken", m=many), [only], listed)
    b.add(
        f"{b.verb('show', 'check', 'get')} {one}",
        b.noun_doc(f"date, time and {who} of a {one}"),
        [key],
        lambda state, a: style.record(one, at(state, a["key"])),
    )
    if writes:
        b.add(
            f"{b.verb('book', 'take', 'reserve')} {one}",
            f"Book a free {one} for somebody",
            [key, text("who", who, "Who takes it")],
            book,
            "write",
        )
        b.add(f"{b.verb('free', 'release', 'give up')} {one}", f"Give a {one} up again", [key], free, "write")


def plural(one: str) -> str:
    """The plural of a noun of this module."""
    return one + ("es" if one.endswith(("s", "x", "ch", "sh")) else "s")
