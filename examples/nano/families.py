"""Small tool families without entities (calculators, keyed stores, settings, status), and how a world is composed of them.

A calculator's result cannot be guessed: each has made-up factors, tables or formulas drawn with the world.
"""

import statistics
import zlib
from collections.abc import Callable, Sequence
from datetime import date as Date
from datetime import timedelta
from typing import Any

from build import Args, Builder, Param, State
from entities import entity, entity_family, Entity
from style import Refusal, Text
from words import (
    FOLDERS, LEVELS, MADE_UNITS, NOUNS, PLACES, STATUSES, UNITS, Column, KINDS, clock, column, digits, domain, measure, moment, path,
    person, phrase, pseudo, sentence, slug, title, word,
)  # fmt: skip

# --- calculators ------------------------------------------------------------------------------------------------------


def number(slot: str, words: str, doc: str = "", required: bool = True, kind: str = "number") -> Param:
    return Param.of(slot, words, kind, doc, required)


def text(slot: str, words: str, doc: str = "", required: bool = True) -> Param:
    return Param.of(slot, words, "string", doc, required)


def choice(slot: str, words: str, options: Sequence[str], doc: str = "", required: bool = True) -> Param:
    return Param.of(slot, words, "string", doc, required, options)


def minutes_of(b: Builder, value: str) -> int:
    try:
        hours, minutes = value.split(":")[:2]
        if 0 <= int(hours) < 24 and 0 <= int(minutes) < 60:
            return int(hours) * 60 + int(minutes)
    except ValueError:
        pass
    raise b.style.wrong(f"{value!r} is not a time; use HH:MM")


def day_of(b: Builder, value: str) -> Date:
    try:
        return Date.fromisoformat(value)
    except ValueError:
        raise b.style.wrong(f"{value!r} is not a date; use YYYY-MM-DD") from None


def clock_text(minutes: int) -> str:
    return f"{minutes // 60 % 24:02}:{minutes % 60:02}"


def measure_units(b: Builder) -> None:
    """Convert between made-up units."""
    units = b.rng.sample(MADE_UNITS + UNITS, b.rng.randint(3, 5))
    factor = {unit: round(b.rng.uniform(0.2, 20), 2) for unit in units}
    source, target = b.rng.choice((("from", "to"), ("from unit", "to unit"), ("source", "target"), ("unit", "into")))

    def run(state: State, a: Args) -> Any:
        value = round(a["value"] * factor[a["from"]] / factor[a["to"]], 3)
        if b.style.scalar == "sentence":
            return Text(f"{a['value']} {a['from']} = {value} {a['to']}")
        return {b.style.key(words): inner for words, inner in (("value", value), ("unit", a["to"]), ("factor", round(factor[a["from"]] / factor[a["to"]], 4)))}

    params = [number("value", b.verb("value", "amount", "quantity"), "The amount to convert"), choice("from", source, units, "Unit it is in"), choice("to", target, units, "Unit wanted")]
    what = b.verb("units", "measure", "amount", "quantity", "value")
    b.add(f"{b.verb('convert', 'translate', 'exchange')} {what}", b.say("Convert an amount between units", "Translate a {w} into another unit", w=what), params, run)
    if b.chance(0.4):
        b.add(f"list {b.verb('units', 'measures')}", "List the units that can be converted", [], lambda state, a: units)


def distance(b: Builder) -> None:
    scale, where = round(b.rng.uniform(0.5, 9), 2), b.verb("grid", "map", "field", "chart")
    one, other = b.rng.choice((("x1 y1", "x2 y2"), ("start x start_y", "end x end_y"), ("ax ay", "bx by")))
    names = [*one.split(" ")[-2:], *other.split(" ")[-2:]]
    names = [f"p{i}" for i in range(4)] if len(set(names)) < 4 else names

    def run(state: State, a: Args) -> Any:
        return b.style.value("distance", round(((a["0"] - a["2"]) ** 2 + (a["1"] - a["3"]) ** 2) ** 0.5 * scale, 2))

    b.add(f"{where} distance", f"Distance between two points on the {where}", [number(str(i), name, "coordinate") for i, name in enumerate(names)], run)


def place_distance(b: Builder) -> None:
    """Distances between named places from a table: enumerated or free-text names."""
    places = b.rng.sample(PLACES, 5) if b.chance(0.5) else [pseudo(b.rng).capitalize() for _ in range(5)]
    spot = {place: (b.rng.uniform(-300, 300), b.rng.uniform(-300, 300)) for place in places}
    what, unit = b.verb("distance", "travel time", "fare", "transit hours"), b.verb("km", "miles", "minutes", "leagues")

    def run(state: State, a: Args) -> Any:
        for place in (a["from"], a["to"]):
            if place not in spot:
                raise b.style.absent("place", place)
        (x, y), (u, v) = spot[a["from"]], spot[a["to"]]
        value = round(((x - u) ** 2 + (y - v) ** 2) ** 0.5, 1)
        if b.style.scalar == "sentence":
            return Text(f"{a['from']} to {a['to']}: {value} {unit}")
        return {b.style.key(what): value, "unit": unit}

    one, other = b.rng.choice((("from", "to"), ("origin", "destination"), ("start", "end"), ("place a", "place b")))
    params = ([choice("from", one, places, "Where from"), choice("to", other, places, "Where to")] if b.chance(0.5)
              else [text("from", one, f"A place, like {places[0]}"), text("to", other, f"Another place, like {places[1]}")])  # fmt: skip
    b.add(f"{b.verb('get', 'compute', 'estimate')} {what}", f"{what.capitalize()} between two places", params, run)
    b.add(b.verb("list places", "known places", "list stops"), "Places that are known", [], lambda state, a: b.style.value("places", places, "named"))


def checksum(b: Builder) -> None:
    salt = pseudo(b.rng)
    words = b.verb("text", "data", "payload", "message", "input")
    b.add(
        b.verb("checksum", "fingerprint", "hash text", "digest of", "sign"), b.say("Checksum of a text", "Compute a short fingerprint of the {w}", w=words),
        [text("text", words, "What to hash")], lambda state, a: b.style.value("checksum", f"{zlib.crc32((salt + a['text']).encode()):08x}"),
    )  # fmt: skip


def fee(b: Builder) -> None:
    rng, zones = b.rng, b.rng.choice(LEVELS)
    rate = {zone: round(rng.uniform(0.3, 12), 2) for zone in zones}
    base, extra = round(rng.uniform(1, 40), 2), round(rng.uniform(2, 30), 2)
    what = b.verb("fee", "fare", "postage", "premium", "toll", "quote", "rent")
    amount, zone, flag = b.verb("weight", "distance", "hours", "units", "area"), b.verb("zone", "class", "tier", "category", "band"), b.verb("express", "insured", "return trip", "priority", "member")

    def run(state: State, a: Args) -> Any:
        net = base + rate[a["zone"]] * a["amount"] + (extra if a.get("flag") else 0)
        row = {b.style.key("net"): round(net, 2), b.style.key("tax"): round(net * 0.2, 2), b.style.key(what): round(net * 1.2, 2)}
        return b.style.record(what, row) if b.style.one in ("bare", "lines", "data") else b.style.value(what, round(net * 1.2, 2))

    params = [number("amount", amount, f"The {amount}"), choice("zone", zone, zones, f"Which {zone}"), Param.of("flag", flag, "boolean", f"Whether {flag}", False)]
    b.add(f"{b.verb('calculate', 'quote', 'estimate', 'compute')} {what}", b.say("Calculate a {w} from {a} and {z}", "Quote the {w}", w=what, a=amount, z=zone), params, run)


def shift_clock(b: Builder) -> None:
    """Move a clock time, or measure the gap between two."""
    start, end = b.rng.choice((("start", "end"), ("from", "to"), ("opens", "closes"), ("begin", "finish"), ("departure", "arrival")))

    record = b.chance(0.5)

    def gap_of(state: State, a: Args) -> Any:
        minutes = (minutes_of(b, a["end"]) - minutes_of(b, a["start"])) % 1440
        if record:
            return {"minutes": minutes, "hours": round(minutes / 60, 2)}
        return b.style.value("duration", f"{minutes // 60}h {minutes % 60}m")

    def moved(state: State, a: Args) -> Any:
        return b.style.value(b_time, clock_text(minutes_of(b, a["time"]) + a["by"]))

    b_time = b.verb("time", "at", "clock", "new time")
    if b.chance(0.6):
        b.add(b.verb("shift length", "time between", "duration", "elapsed"), "Time between two clock times", [text("start", start, "HH:MM"), text("end", end, "HH:MM")], gap_of)
    if b.chance(0.6):
        b.add(b.verb("add minutes", "delay", "postpone", "shift time"), "Move a clock time by minutes", [text("time", b.verb("time", "at", "start"), "HH:MM, 24-hour"), number("by", b.verb("minutes", "by", "delay"), "Minutes to add", kind="integer")], moved)


def local_clocks(b: Builder) -> None:
    """What a clock reads at another site with another offset: a result with two nested parts."""
    rng, style = b.rng, b.style
    sites = {f"{word(rng)}/{pseudo(rng)}".title() if rng.random() < 0.6 else pseudo(rng).capitalize(): rng.randrange(-22, 23) * 30 for _ in range(rng.randint(4, 7))}
    site, names = b.verb("site", "depot", "colony", "bureau", "outpost", "desk", "hub"), list(sites)
    enumerated = b.chance(0.4)

    def offset(minutes: int) -> str:
        return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"

    def known(name: str) -> int:
        if name not in sites:
            raise style.absent(site, name)
        return sites[name]

    def run(state: State, a: Args) -> Any:
        here, there = known(a["from"]), known(a["to"])
        local = clock_text(minutes_of(b, a["time"]) + there - here)
        one = {site: a["from"], style.key("local"): a["time"], "offset": offset(here)}
        other = {site: a["to"], style.key("local"): local, "offset": offset(there)}
        return {style.key(source): one, style.key(target): other, style.key("gap"): f"{(there - here) / 60:+.1f}h"}

    def own(state: State, a: Args) -> Any:
        return style.record(site, {site: a["site"], style.key("offset"): offset(known(a["site"])), style.key("opens"): clock_text(420 + known(a["site"]) % 300)})

    source, target = b.rng.choice((("from", "to"), ("source", "target"), ("here", "there"), ("sender", "receiver")))
    note = f"{site} name, like {names[0]}"

    def where(slot: str, words: str) -> Param:
        return choice(slot, words, names, note) if enumerated else text(slot, words, note)

    params = [where("from", f"{source} {site}"), text("time", b.verb("time", "at", "local"), "HH:MM"), where("to", f"{target} {site}")]
    b.add(f"{b.verb('local', 'match', 'shift', 'align')} {site} {b.verb('hour', 'clock')}", f"What the clock reads at another {site}", params, run)
    if b.chance(0.6):
        b.add(f"{site} {b.verb('hours', 'clock', 'info')}", f"Offset and opening hour of a {site}", [where("site", site)], own)
    if not enumerated:
        b.add(f"list {site}s", f"Names of all {site}s", [], lambda state, a: style.value(f"{site}s", names, "named"))


def calendar(b: Builder) -> None:
    style = b.style

    def between(state: State, a: Args) -> Any:
        return style.value("days", (day_of(b, a["end"]) - day_of(b, a["start"])).days)

    def after(state: State, a: Args) -> Any:
        day = day_of(b, a["day"]) + timedelta(days=max(-9999, min(9999, a["days"])))
        return {"date": day.isoformat(), style.key("weekday"): day.strftime("%A")} if style.one != "lines" else Text(f"{day.isoformat()} ({day:%A})")

    if b.chance(0.7):
        start, end = b.rng.choice((("start", "end"), ("from", "to"), ("start date", "end date"), ("since", "until")))
        b.add(b.verb("days between", "count days", "date diff", "nights"), "Number of days between two dates", [text("start", start, "YYYY-MM-DD"), text("end", end, "YYYY-MM-DD")], between)
    if b.chance(0.7):
        b.add(b.verb("add days", "due date", "date after", "shift date"), "The date some days later", [text("day", b.verb("date", "day", "start"), "ISO date"), number("days", "days", "How many days", kind="integer")], after)


TRANSFORMS: dict[str, Callable[[str], str]] = {
    "upper": str.upper, "reverse": lambda t: t[::-1], "slug": lambda t: "-".join(t.lower().split()), "initials": lambda t: "".join(w[:1].upper() for w in t.split()),
    "title": str.title, "swap": str.swapcase, "vowels": lambda t: "".join(c for c in t if c in "aeiouAEIOU"), "snake": lambda t: "_".join(t.lower().split()),
    "words": lambda t: str(len(t.split())), "letters": lambda t: str(sum(map(str.isalpha, t))), "last": lambda t: t.split()[-1] if t.split() else "",
}  # fmt: skip


def transform(b: Builder) -> None:
    modes = b.rng.sample(list(TRANSFORMS), b.rng.randint(2, 5))
    words, start = b.verb("text", "input", "phrase", "value", "string"), b.verb("", "", "Result: ", "Formatted: ", "> ")
    params = [text("text", words, "The text to change"), choice("mode", b.verb("mode", "style", "format", "operation"), modes, "What to do with it")]
    b.add(b.verb("format text", "transform", "rewrite", "restyle", "text tool", "render label"), b.say("Transform a text", "Rewrite the {w} in a given mode", w=words), params,
          lambda state, a: Text(start + TRANSFORMS[a["mode"]](a["text"]) or "-"))  # fmt: skip


def wrap(b: Builder) -> None:
    """A text handed back inside a fixed frame."""
    frame = b.rng.choice(("Said: {}", "[{}]", "{} - received", "Relay heard '{}'", "<< {} >>", "{}, over.", "Queued: {}"))
    words = b.verb("message", "text", "line", "note", "content")
    b.add(b.verb("relay", "announce", "say", "broadcast", "post line", "stamp text"), b.say("Send a {w} and get the receipt", "Announce a {w}", w=words),
          [text("text", words, f"The {words}")], lambda state, a: Text(frame.format(a["text"])))  # fmt: skip


def bump(b: Builder) -> None:
    def run(state: State, a: Args) -> Any:
        parts = a["version"].split(".")
        if len(parts) != 3 or not all(part.isdigit() for part in parts):
            raise b.style.wrong(f"{a['version']!r} is not a version like 1.2.3")
        major, minor, patch = map(int, parts)
        new = {"major": f"{major + 1}.0.0", "minor": f"{major}.{minor + 1}.0", "patch": f"{major}.{minor}.{patch + 1}"}[a["part"]]
        return b.style.value("version", new)

    b.add(b.verb("bump version", "next version", "increment version"), "The next version number", [text("version", b.verb("version", "current"), "like 2.14.0"), choice("part", b.verb("part", "level"), ("major", "minor", "patch"), "Which part to raise")], run)


def mix(b: Builder) -> None:
    def run(state: State, a: Args) -> Any:
        try:
            one, other = (bytes.fromhex(a[slot].removeprefix("#")) for slot in ("a", "b"))
        except ValueError:
            raise b.style.wrong("expected a color like #20c0ff") from None
        return b.style.value("color", "#" + bytes((x + y) // 2 for x, y in zip(one, other, strict=False)).hex())

    first, second = b.rng.choice((("first", "second"), ("color a", "color b"), ("base", "tint")))
    b.add(b.verb("mix colors", "blend", "mix paint"), "Mix two colors", [text("a", first, "hex color"), text("b", second, "hex color")], run)


def dose(b: Builder) -> None:
    rng = b.rng
    names = [pseudo(rng) for _ in range(rng.randint(3, 5))]
    rate = {name: round(rng.uniform(0.1, 15), 2) for name in names}
    what, per = b.verb("dose", "portion", "ration", "load limit", "charge"), b.verb("weight", "age", "volume", "height")
    unit = b.rng.choice(UNITS)

    def run(state: State, a: Args) -> Any:
        value = round(rate[a["of"]] * a["per"], 2)
        return Text(f"{what.capitalize()} of {a['of']}: {value} {unit}") if b.style.scalar == "sentence" else {b.style.key(what): value, b.style.key("unit"): unit}

    kind = b.verb("substance", "agent", "material", "feed", "mix")
    b.add(f"{what} of" if b.chance(0.2) else f"{b.verb('calculate', 'get', 'compute')} {what}", f"{what.capitalize()} of a {kind} for a {per}", [choice("of", kind, names, f"Which {kind}"), number("per", per, f"The {per}")], run)


def cipher(b: Builder) -> None:
    def run(state: State, a: Args) -> Any:
        turn = a["shift"] % 26
        coded = "".join(chr((ord(c.lower()) - 97 + turn) % 26 + 97) if c.isascii() and c.isalpha() else c for c in a["text"])
        return b.style.value("result", coded)

    b.add(b.verb("encode", "scramble", "shift letters"), "Shift the letters of a text", [text("text", b.verb("text", "plain"), "Text"), number("shift", b.verb("shift", "key", "by"), "How far", kind="integer")], run)


def text_stats(b: Builder) -> None:
    def run(state: State, a: Args) -> Any:
        t = a["text"]
        row = {b.style.key("words"): len(t.split()), b.style.key("characters"): len(t), b.style.key("vowels"): sum(c in "aeiou" for c in t.lower())}
        return b.style.record("text", row, "lines" if b.style.one in ("lines", "markdown", "sentence") else "bare")

    b.add(b.verb("text stats", "measure text", "count words", "analyze text"), "Words, characters and vowels of a text", [text("text", b.verb("text", "content", "passage"), "The text")], run)


def spread(b: Builder) -> None:
    kinds: dict[str, Callable[[list[float]], float]] = {"mean": statistics.fmean, "median": statistics.median, "range": lambda v: max(v) - min(v), "sum": sum, "peak": max}
    modes = b.rng.sample(list(kinds), 3)
    words = b.verb("values", "numbers", "readings", "scores", "samples")
    param = Param("values", words, {"type": "array", "items": {"type": "number"}}, f"The {words}")

    def run(state: State, a: Args) -> Any:
        if not a["values"]:
            raise b.style.wrong(f"{words} is empty")
        return b.style.value(a["mode"], round(kinds[a["mode"]](a["values"]), 3))

    b.add(b.verb("summarize numbers", "statistics", "reduce", "aggregate values"), f"A statistic of a list of {words}", [param, choice("mode", b.verb("statistic", "mode", "method"), modes, "Which one")], run)


def combine(b: Builder) -> None:
    """Two numbers under a secret rule."""
    k, c = b.rng.randint(2, 9), b.rng.randint(1, 60)
    what = b.verb("load", "score", "index", "yield", "rating", "torque", "points")
    first, second = b.rng.choice((("a", "b"), ("x", "y"), ("base", "bonus"), ("left", "right"), ("width", "depth"), ("first", "second")))
    kind = b.verb("integer", "number")

    def run(state: State, a: Args) -> Any:
        value = round(a["a"] * k + a["b"] + c, 3)
        return Text(f"The {what} of {a['a']} and {a['b']} is {value}.") if b.style.scalar in ("sentence", "bare") else b.style.value(what, value)

    b.add(f"{b.verb('combined', 'compute', 'get', 'calc')} {what}", b.say("Compute the {w} of two numbers", "{W} from {a} and {b}", w=what, W=what.capitalize(), a=first, b=second),
          [number("a", first, "First number", kind=kind), number("b", second, "Second number", kind=kind)], run)  # fmt: skip


def classify(b: Builder) -> None:
    bands = b.rng.choice([levels for levels in LEVELS if len(levels) >= 3])
    limits = sorted(b.rng.sample(range(5, 100), len(bands) - 1))
    advice = {band: phrase(b.rng) for band in bands}
    what = b.verb("risk", "grade", "band", "comfort", "priority", "hazard")
    words = b.verb("value", "score", "reading", "level", "points")

    def run(state: State, a: Args) -> Any:
        band = bands[sum(a["value"] >= limit for limit in limits)]
        row = {b.style.key(what): band, b.style.key("advice"): advice[band]}
        return b.style.record(what, row, "lines" if b.style.one in ("lines", "sentence", "markdown") else "bare")

    b.add(f"{b.verb('classify', 'assess', 'rate', 'get')} {what}", f"{what.capitalize()} for a {words}", [number("value", words, f"The {words}, 0 to 100")], run)


def conditions(b: Builder) -> None:
    """A small record for one of a few enumerated places."""
    rng, style = b.rng, b.style
    places = rng.sample(PLACES, rng.randint(3, 6)) if b.chance(0.6) else [pseudo(rng) for _ in range(4)]
    columns = [Column(word(rng) if b.chance(0.3) else name, kind) for name, kind in rng.sample((
        ("wind", "decimal"), ("visibility", "measure"), ("swell", "decimal"), ("queue", "small"), ("pressure", "int"), ("mood", "word"),
        ("outlook", "phrase"), ("crowd", "percent"), ("sunrise", "time"), ("water level", "decimal"), ("pollen", "small"), ("warden", "person"),
    ), rng.randint(2, 4))]  # fmt: skip
    columns = list({c.words: c for c in columns}.values())
    rows = {place: {style.key(c.words): c.make(rng) for c in columns} for place in places}
    what, where = b.verb("conditions", "forecast", "report", "outlook", "situation"), b.verb("place", "area", "pier", "region", "sector", "site")
    b.add(f"{b.verb('get', 'read', 'check')} {what}", f"{what.capitalize()} at a {where}", [choice("at", where, places, f"Which {where}")], lambda state, a: style.record(what, rows[a["at"]]))


def greeting(b: Builder) -> None:
    """A message by kind, with an optional extra."""
    kinds = b.rng.choice([levels for levels in LEVELS if len(levels) > 1])
    lines, extra = {kind: sentence(b.rng) for kind in kinds}, phrase(b.rng)
    flag = b.verb("with footer", "include tip", "verbose", "with signature", "long")

    def run(state: State, a: Args) -> Any:
        return Text(lines[a["kind"]] + (f"\n{extra}" if a.get("flag") else ""))

    b.add(f"{b.verb('get', 'show', 'compose')} {b.verb('notice', 'advice', 'motto', 'bulletin', 'prompt line')}", "A standing notice by kind", [choice("kind", b.verb("kind", "level", "type", "audience"), kinds, "Which kind"), Param.of("flag", flag, "boolean", "Add the extra line", b.chance(0.3))], run)


def series(b: Builder) -> None:
    k, c, m = b.rng.randint(3, 40), b.rng.randint(1, 90), b.rng.choice((97, 101, 499, 997))
    start, length = b.verb("start", "seed", "from"), b.verb("count", "length", "n")

    def run(state: State, a: Args) -> Any:
        values = [a["start"]]
        while len(values) < min(max(a["n"], 1), 12):
            values.append((values[-1] * k + c) % m)
        return values if b.style.scalar in ("bare", "result") else b.style.value("sequence", values)

    b.add(b.verb("generate sequence", "next numbers", "series", "draw numbers"), "A sequence of numbers from a start", [number("start", start, "First number", kind="integer"), number("n", length, "How many", kind="integer")], run)


def mint(b: Builder) -> None:
    """Codes with a check digit, made and checked."""
    weight = b.rng.randint(3, 9)
    what = b.verb("label", "voucher", "plate", "serial", "coupon")

    def made(prefix: str, n: int) -> str:
        body = f"{prefix.upper()}-{n:04}"
        return f"{body}-{sum(map(ord, body)) * weight % 10}"

    def check(state: State, a: Args) -> Any:
        prefix, _, rest = a["code"].rpartition("-")[0].partition("-")
        valid = rest.isdigit() and made(prefix, int(rest)) == a["code"]
        return b.style.value("valid", valid)

    b.add(f"{b.verb('make', 'mint', 'generate')} {what}", f"Make a {what} with a check digit", [text("prefix", b.verb("prefix", "series"), "Letters in front"), number("n", b.verb("number", "sequence"), "Running number", kind="integer")], lambda state, a: b.style.value(what, made(a["prefix"], a["n"])))
    if b.chance(0.5):
        b.add(f"{b.verb('verify', 'check', 'validate')} {what}", f"Check a {what}", [text("code", what, f"The {what}")], check)


def loan_cost(b: Builder) -> None:
    what = b.verb("payment", "installment", "monthly cost")

    def run(state: State, a: Args) -> Any:
        months = max(1, a["months"])
        total = a["sum"] * (1 + a["rate"] / 100 * months / 12)
        return b.style.record(what, {b.style.key(what): round(total / months, 2), b.style.key("total"): round(total, 2)}, "lines" if b.style.one == "lines" else "bare")

    b.add(f"{b.verb('calculate', 'estimate', 'get')} {what}", f"{what.capitalize()} for a loan", [number("sum", b.verb("principal", "amount", "sum"), "Amount borrowed"), number("rate", b.verb("rate", "interest"), "Percent a year"), number("months", b.verb("months", "term"), "How many months", kind="integer")], run)


CALCULATORS: tuple[Callable[[Builder], None], ...] = (
    measure_units, distance, place_distance, checksum, fee, shift_clock, local_clocks, calendar, transform, wrap, bump, mix, dose, cipher,
    text_stats, spread, combine, classify, conditions, greeting, series, mint, loan_cost,
)  # fmt: skip

# --- stores and settings ----------------------------------------------------------------------------------------------


def store(b: Builder, tools: int, writes: bool, empty: bool) -> None:
    """Documents under keys or paths: read, list, look into, save, move, delete. Content is plain text."""
    rng, style = b.rng, b.style
    one = b.verb("page", "snippet", "memo", "script", "template", "draft", "blob", "letter", "wiki page", "clip", "card", "essay", "object", "prompt")
    if one in b.state:
        return
    many, key_words = f"{one}s", b.verb("key", "path", "name", "slug", "title", f"{one} key")
    root = rng.choice(("", "", "", "/vault/", "/srv/docs/", "s3://bin/", "team/"))
    make_key = {"path": path, "slug": slug, "name": word, "title": title}.get(key_words, rng.choice((path, slug, word)))
    body = b.verb("content", "text", "body", "value", "markdown")
    documents: dict[Any, Any] = {}
    for _ in range(0 if empty else rng.randint(6, 18)):
        documents[root + make_key(rng)] = "\n".join(sentence(rng) for _ in range(rng.choice((1, 1, 2, 3, 4))))
    b.state[one] = documents
    key = text("key", key_words, b.say("{k} of the {one}", "Where the {one} is", "The {one} to use", k=key_words, one=one))

    def at(state: State, name: str) -> str:
        if root and not name.startswith(root):
            raise Refusal(f"Access denied: {name} is outside {root}")
        if name not in state[one]:
            raise style.absent(one, name)
        return state[one][name]

    as_json = b.chance(0.3)
    read_verb, save_verb = b.verb("read", "get", "load", "open", "show"), b.verb("save", "write", "put", "store", "set")

    def read(state: State, a: Args) -> Any:
        content = at(state, a["key"])
        lines = content.split("\n")
        content = "\n".join(lines[: a["head"]] if "head" in a else lines)
        return {style.key(key_words): a["key"], style.key(body): content} if as_json else Text(content)

    def save(state: State, a: Args) -> Any:
        if root and not a["key"].startswith(root):
            raise Refusal(f"Access denied: {a['key']} is outside {root}")
        state[one][a["key"]] = a["body"]
        return style.changed(one, "saved", style.key(key_words), a["key"])

    def listing(state: State, a: Args) -> Any:
        keys = [name for name in state[one] if name.startswith(a.get("prefix", ""))][:10]
        if style.many in ("lines", "csv", "table", "blocks", "numbered"):
            return Text("\n".join(keys) or f"No {many} yet.")
        return style.value(many, keys, "named") if style.many != "list" else keys

    def find(state: State, a: Args) -> Any:
        hits = [name for name, content in state[one].items() if a["query"].lower() in (name + content).lower()][:6]
        return hits or Text("No matches found") if style.many == "list" else style.value("matches", hits, "named")

    def info(state: State, a: Args) -> Any:
        content = at(state, a["key"])
        row = {style.key("characters"): len(content), style.key("lines"): content.count("\n") + 1, style.key("words"): len(content.split()), style.key("first word"): content.split()[0] if content else ""}
        return style.record(one, row)

    def read_many(state: State, a: Args) -> Any:
        return Text("\n---\n".join(f"{name}: {state[one].get(name, 'Error - not found')}" for name in a["keys"]))

    def append(state: State, a: Args) -> Any:
        state[one][a["key"]] = at(state, a["key"]) + "\n" + a["body"]
        return style.changed(one, "extended", style.key(key_words), a["key"])

    def replace_text(state: State, a: Args) -> Any:
        content = at(state, a["key"])
        edits = a["edits"] if "edits" in a else [{old: a["old"], new: a["new"]}]
        for edit in edits:
            if edit[old] not in content:
                raise Refusal(f"Error: '{edit[old]}' does not occur in {a['key']}")
            content = content.replace(edit[old], edit[new], 1)
        state[one][a["key"]] = content
        return Text(content) if style.done == "record" else style.changed(one, "changed", style.key(key_words), a["key"])

    def move(state: State, a: Args) -> Any:
        content = at(state, a["key"])
        if a["to"] in state[one]:
            raise Refusal(f"Error: {a['to']} already exists")
        del state[one][a["key"]]
        state[one][a["to"]] = content
        return style.changed(one, "moved", style.key("to"), a["to"])

    def drop(state: State, a: Args) -> Any:
        at(state, a["key"])
        del state[one][a["key"]]
        return style.changed(one, "deleted", style.key(key_words), a["key"])

    old, new = (style.param(words) for words in rng.choice((("old", "new"), ("find", "replace"), ("before", "after"), ("old text", "new text"))))
    edit_params = [key, Param("edits", b.verb("edits", "changes", "replacements"), {"type": "array", "items": {"type": "object", "properties": {old: {"type": "string"}, new: {"type": "string"}}, "required": [old, new]}}, "Replacements to make")]
    if b.chance(0.5):
        edit_params = [key, text("old", old, "Text to replace"), text("new", new, "Text to put there")]
    source, target = rng.choice((("from", "to"), ("source", "target"), ("old key", "new key"), ("key", "new name")))
    heads = [Param.of("head", b.verb("head", "lines", "first"), "integer", "Only the first lines", False)] if b.chance(0.3) else []
    prefixes = [text("prefix", b.verb("prefix", "folder", "under"), "Only keys that start so", False)] if b.chance(0.4) else []
    reads = [
        (f"{read_verb} {one}", f"{read_verb.capitalize()} the {body} of a {one}", [key, *heads], read, "read"),
        (f"{b.verb('list', 'all', 'index')} {many}", b.say("List the {k}s of all {many}", "Which {many} there are", k=key_words, many=many), prefixes, listing, "read"),
        (f"{b.verb('search', 'find', 'grep')} {many}", f"Find {many} that contain a text", [text("query", b.verb("query", "pattern", "text"), "Text to look for")], find, "read"),
        (f"{one} {b.verb('info', 'stats', 'size', 'metadata')}", f"Size and shape of a {one}", [key], info, "read"),
        (f"{read_verb} {b.verb('several', 'multiple', 'many')} {many}", f"Read several {many} at once", [Param.of("keys", f"{key_words}s", "array", f"Which {many}")], read_many, "read"),
    ]  # fmt: skip
    edits = [
        (f"{b.verb('append to', 'extend', 'add to')} {one}", f"Append a line to a {one}", [key, text("body", body, "What to add")], append, "write"),
        (f"{b.verb('edit', 'patch', 'replace in')} {one}", f"Replace text in a {one}", edit_params, replace_text, "write"),
        (f"{b.verb('move', 'rename')} {one}", f"Move a {one} to another {key_words}", [text("key", source, "Where it is"), text("to", target, "Where it goes")], move, "write"),
        (f"{b.verb('delete', 'remove', 'erase')} {one}", f"Delete a {one}", [key], drop, "destroy"),
    ]  # fmt: skip
    if root and b.chance(0.7):
        doc = f"Where {many} may be kept"
        b.add(f"list {b.verb('roots', 'allowed places', 'buckets', 'shelves')}", doc, [], lambda state, a: Text(f"Allowed places:\n{root}"))
    if writes:
        wording = b.say("Save a {one} under a {k}", "Write {body} to a {one}; overwrites", "Store a {one}", one=one, k=key_words, body=body)
        b.add(f"{save_verb} {one}", wording, [key, text("body", body, f"The {body}")], save, "write")
    more = reads[2:] + (edits if writes else [])
    for name, doc, params, run, effect in reads[:2] + rng.sample(more, k=min(len(more), max(0, tools - 3))):
        b.add(name, doc, params, run, effect)


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
    key = choice("key", key_words, list(names), f"Which {what}") if enumerated else text("key", key_words, f"Name of the {what}")

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

    b.add(f"{b.verb('get', 'read', 'show')} {what}", f"Value of one {what}", [key], read)
    if not enumerated or b.chance(0.4):
        b.add(f"{b.verb('list', 'get all', 'show')} {what}s", f"All {what}s with their values", [], lambda state, a: style.record(what, dict(state[what]), "lines" if style.one in ("lines", "markdown", "sentence") else "bare"))
    if writes:
        b.add(f"{b.verb('set', 'change', 'update')} {what}", f"Change one {what}", [key, text("value", b.verb("value", "new value", "to"), "The new value")], change, "write")
        if any(isinstance(value, bool) for value in names.values()) and b.chance(0.4):
            b.add(f"{b.verb('toggle', 'flip', 'switch')} {what}", f"Turn a {what} on or off", [key], flip, "write")


def status(b: Builder) -> None:
    """A zero-argument report about the server itself."""
    rng, style = b.rng, b.style
    what = b.verb("status", "health", "version", "info", "summary", "uptime", "usage", "profile", "overview", "quota", "about", "state", "license", "session")
    columns = [column(text) for text in rng.sample((
        "version:version", "uptime:measure", "healthy:bool", "region:place", "started:moment", "load:percent", "queue:small", "owner:person",
        "plan:basic/plus/pro", "requests:int", "build:hex", "contact:email", "status:ok/degraded/busy", "node:slug", "quota:int", "mode:manual/auto",
        "host:ip", "last_sync:moment", "site:title", "operator:company", "license:code", "temperature:degree", "timezone_offset:offset",
    ), rng.choice((1, 2, 3, 3, 4, 5)))]  # fmt: skip
    row = {style.key(c.words): c.make(rng) for c in columns}
    name = rng.choice((f"get {what}", what, f"server {what}", f"{word(rng)} {what}", f"check {what}", f"system {what}", "ping", "whoami"))
    b.add(name, b.say("{What} of this server", "Get the {what}", "Reports {what}", "Current {what} of the system", what=what, What=what.capitalize()), [], lambda state, a: style.record(what, row))


def log(b: Builder, writes: bool) -> None:
    """A journal of lines: read the last ones, append, search."""
    rng, style = b.rng, b.style
    what = b.verb("journal", "logbook", "diary", "activity", "audit trail", "inbox", "feed")
    if what in b.state:
        return
    b.state[what] = {i: f"{moment(rng)} {rng.choice(('', person(rng) + ': ', rng.choice(STATUSES) + ' '))}{sentence(rng)}" for i in range(rng.randint(0 if writes else 5, 20))}

    def tail(state: State, a: Args) -> Any:
        lines = list(state[what].values())[-max(1, min(a.get("n", 4), 20)) :]
        return Text("\n".join(lines) or f"The {what} is empty.") if style.many not in ("list", "named", "data") else style.value("entries", lines, "named")

    def write(state: State, a: Args) -> Any:
        state[what][len(state[what])] = a["line"]
        return style.changed("entry", "added", "entry", len(state[what]))

    n, line = b.verb("n", "count", "lines", "limit"), b.verb("line", "text", "message", "entry", "note")
    b.add(f"{b.verb('read', 'show', 'tail', 'get')} {what}", f"The last entries of the {what}", [number("n", n, "How many", b.chance(0.4), "integer")], tail)
    if writes:
        b.add(f"{b.verb('write to', 'append to', 'add to', 'log to')} {what}", f"Add a line to the {what}", [text("line", line, "What to write")], write, "write")


# --- composition ------------------------------------------------------------------------------------------------------


def compose(b: Builder) -> None:
    """Fill a world: 2 to 14 tools from a few entities and small families."""
    rng = b.rng
    target = rng.choice((2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 12, 13, 14))
    writes = rng.random() < 0.55
    empty = writes and rng.random() < 0.2
    entities: list[Entity] = []
    if target > 3 and b.chance(0.3):
        status(b)
    while len(b.tools) < target:
        left = target - len(b.tools)
        family = rng.choices(("entity", "calculator", "store", "settings", "log", "status"), (5.5, 3, 1.1, 0.8, 0.5, 0.4))[0]
        if family == "entity" and len(entities) < 4:
            entities.append(entity(b, entities, empty))
            entity_family(b, entities[-1], min(left, rng.randint(2, 7)), writes)
        elif family == "calculator":
            rng.choice(CALCULATORS)(b)
        elif family == "store":
            store(b, min(left, rng.randint(3, 7)), writes, empty)
        elif family == "settings":
            settings(b, writes)
        elif family == "log":
            log(b, writes)
        elif family == "status":
            status(b)
    del b.tools[14:]
    rng.shuffle(b.tools) if b.chance(0.3) else None
