"""Calculators: tools on plain numbers and strings.

Their results cannot be guessed: factors and formulas are drawn with the world.
"""

import statistics
import zlib
from collections.abc import Callable
from datetime import date as Date
from datetime import timedelta
from typing import Any

from build import Args, Builder, Param, State, choice, number, text
from style import Text
from words import LEVELS, MADE_UNITS, PLACES, UNITS, phrase, pseudo, word


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
        return {
            b.style.key(words): inner
            for words, inner in (
                ("value", value),
                ("unit", a["to"]),
                ("factor", round(factor[a["from"]] / factor[a["to"]], 4)),
            )
        }

    params = [
        number("value", b.verb("value", "amount", "quantity"), "The amount to convert"),
        choice("from", source, units, "Unit it is in"),
        choice("to", target, units, "Unit wanted"),
    ]
    what = b.verb("units", "measure", "amount", "quantity", "value")
    b.add(
        f"{b.verb('convert', 'translate', 'exchange')} {what}",
        b.say("Convert an amount between units", "Translate a {w} into another unit", w=what),
        params,
        run,
    )
    if b.chance(0.4):
        b.add(f"list {b.verb('units', 'measures')}", "List the units that can be converted", [], lambda state, a: units)


def distance(b: Builder) -> None:
    scale, where = round(b.rng.uniform(0.5, 9), 2), b.verb("grid", "map", "field", "chart")
    one, other = b.rng.choice((("x1 y1", "x2 y2"), ("start x start_y", "end x end_y"), ("ax ay", "bx by")))
    names = [*one.split(" ")[-2:], *other.split(" ")[-2:]]
    names = [f"p{i}" for i in range(4)] if len(set(names)) < 4 else names

    def run(state: State, a: Args) -> Any:
        return b.style.value("distance", round(((a["0"] - a["2"]) ** 2 + (a["1"] - a["3"]) ** 2) ** 0.5 * scale, 2))

    b.add(
        f"{where} distance",
        b.noun_doc(f"Distance between two points on the {where}"),
        [number(str(i), name, "coordinate") for i, name in enumerate(names)],
        run,
    )


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
    params = (
        [choice("from", one, places, "Where from"), choice("to", other, places, "Where to")]
        if b.chance(0.5)
        else [text("from", one, f"A place, like {places[0]}"), text("to", other, f"Another place, like {places[1]}")]
    )
    b.add(
        f"{b.verb('get', 'compute', 'estimate')} {what}",
        b.noun_doc(f"{what.capitalize()} between two places"),
        params,
        run,
    )
    b.add(
        b.verb("list places", "known places", "list stops"),
        "Places that are known",
        [],
        lambda state, a: b.style.value("places", places, "named"),
    )


def checksum(b: Builder) -> None:
    salt = pseudo(b.rng)
    words = b.verb("text", "data", "payload", "message", "input")
    b.add(
        b.verb("checksum", "fingerprint", "hash text", "digest of", "sign"),
        b.say("Checksum of a text", "Compute a short fingerprint of the {w}", w=words),
        [text("text", words, "What to hash")],
        lambda state, a: b.style.value("checksum", f"{zlib.crc32((salt + a['text']).encode()):08x}"),
    )


def fee(b: Builder) -> None:
    rng, zones = b.rng, b.rng.choice(LEVELS)
    rate = {zone: round(rng.uniform(0.3, 12), 2) for zone in zones}
    base, extra = round(rng.uniform(1, 40), 2), round(rng.uniform(2, 30), 2)
    what = b.verb("fee", "fare", "postage", "premium", "toll", "quote", "rent")
    amount, zone, flag = (
        b.verb("weight", "distance", "hours", "units", "area"),
        b.verb("zone", "class", "tier", "category", "band"),
        b.verb("express", "insured", "return trip", "priority", "member"),
    )

    def run(state: State, a: Args) -> Any:
        net = base + rate[a["zone"]] * a["amount"] + (extra if a.get("flag") else 0)
        row = {
            b.style.key("net"): round(net, 2),
            b.style.key("tax"): round(net * 0.2, 2),
            b.style.key(what): round(net * 1.2, 2),
        }
        return (
            b.style.record(what, row)
            if b.style.one in ("bare", "lines", "data")
            else b.style.value(what, round(net * 1.2, 2))
        )

    params = [
        number("amount", amount, f"The {amount}"),
        choice("zone", zone, zones, f"Which {zone}"),
        Param.of("flag", flag, "boolean", f"Whether {flag}", False),
    ]
    b.add(
        f"{b.verb('calculate', 'quote', 'estimate', 'compute')} {what}",
        b.say("Calculate a {w} from {a} and {z}", "Quote the {w}", w=what, a=amount, z=zone),
        params,
        run,
    )


def shift_clock(b: Builder) -> None:
    """Move a clock time, or measure the gap between two."""
    start, end = b.rng.choice(
        (("start", "end"), ("from", "to"), ("opens", "closes"), ("begin", "finish"), ("departure", "arrival"))
    )

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
        b.add(
            b.verb("shift length", "time between", "duration", "elapsed"),
            b.noun_doc("Time between two clock times"),
            [text("start", start, "HH:MM"), text("end", end, "HH:MM")],
            gap_of,
        )
    if b.chance(0.6):
        b.add(
            b.verb("add minutes", "delay", "postpone", "shift time"),
            "Move a clock time by minutes",
            [
                text("time", b.verb("time", "at", "start"), "HH:MM, 24-hour"),
                number("by", b.verb("minutes", "by", "delay"), "Minutes to add", kind="integer"),
            ],
            moved,
        )


def calendar(b: Builder) -> None:
    style = b.style

    def between(state: State, a: Args) -> Any:
        return style.value("days", (day_of(b, a["end"]) - day_of(b, a["start"])).days)

    def after(state: State, a: Args) -> Any:
        day = day_of(b, a["day"]) + timedelta(days=max(-9999, min(9999, a["days"])))
        return (
            {"date": day.isoformat(), style.key("weekday"): day.strftime("%A")}
            if style.one != "lines"
            else Text(f"{day.isoformat()} ({day:%A})")
        )

    if b.chance(0.7):
        start, end = b.rng.choice((("start", "end"), ("from", "to"), ("start date", "end date"), ("since", "until")))
        b.add(
            b.verb("days between", "count days", "date diff", "nights"),
            b.noun_doc("Number of days between two dates"),
            [text("start", start, "YYYY-MM-DD"), text("end", end, "YYYY-MM-DD")],
            between,
        )
    if b.chance(0.7):
        b.add(
            b.verb("add days", "due date", "date after", "shift date"),
            b.noun_doc("date some days later"),
            [
                text("day", b.verb("date", "day", "start"), "ISO date"),
                number("days", "days", "How many days", kind="integer"),
            ],
            after,
        )


TRANSFORMS: dict[str, Callable[[str], str]] = {
    "upper": str.upper,
    "reverse": lambda t: t[::-1],
    "slug": lambda t: "-".join(t.lower().split()),
    "initials": lambda t: "".join(w[:1].upper() for w in t.split()),
    "title": str.title,
    "swap": str.swapcase,
    "vowels": lambda t: "".join(c for c in t if c in "aeiouAEIOU"),
    "snake": lambda t: "_".join(t.lower().split()),
    "words": lambda t: str(len(t.split())),
    "letters": lambda t: str(sum(map(str.isalpha, t))),
    "last": lambda t: t.split()[-1] if t.split() else "",
}


def transform(b: Builder) -> None:
    modes = b.rng.sample(list(TRANSFORMS), b.rng.randint(2, 5))
    words, start = b.verb("text", "input", "phrase", "value", "string"), b.verb("", "", "Result: ", "Formatted: ", "> ")
    params = [
        text("text", words, "The text to change"),
        choice("mode", b.verb("mode", "style", "format", "operation"), modes, "What to do with it"),
    ]
    b.add(
        b.verb("format text", "transform", "rewrite", "restyle", "text tool", "render label"),
        b.say("Transform a text", "Rewrite the {w} in a given mode", w=words),
        params,
        lambda state, a: Text(start + TRANSFORMS[a["mode"]](a["text"]) or "-"),
    )


def bump(b: Builder) -> None:
    def run(state: State, a: Args) -> Any:
        parts = a["version"].split(".")
        if len(parts) != 3 or not all(part.isdigit() for part in parts):
            raise b.style.wrong(f"{a['version']!r} is not a version like 1.2.3")
        major, minor, patch = map(int, parts)
        new = {"major": f"{major + 1}.0.0", "minor": f"{major}.{minor + 1}.0", "patch": f"{major}.{minor}.{patch + 1}"}[
            a["part"]
        ]
        return b.style.value("version", new)

    b.add(
        b.verb("bump version", "next version", "increment version"),
        b.noun_doc("next version number"),
        [
            text("version", b.verb("version", "current"), "like 2.14.0"),
            choice("part", b.verb("part", "level"), ("major", "minor", "patch"), "Which part to raise"),
        ],
        run,
    )


def mix(b: Builder) -> None:
    def run(state: State, a: Args) -> Any:
        try:
            one, other = (bytes.fromhex(a[slot].removeprefix("#")) for slot in ("a", "b"))
        except ValueError:
            raise b.style.wrong("expected a color like #20c0ff") from None
        return b.style.value("color", "#" + bytes((x + y) // 2 for x, y in zip(one, other, strict=False)).hex())

    first, second = b.rng.choice((("first", "second"), ("color a", "color b"), ("base", "tint")))
    b.add(
        b.verb("mix colors", "blend", "mix paint"),
        "Mix two colors",
        [text("a", first, "hex color"), text("b", second, "hex color")],
        run,
    )


def dose(b: Builder) -> None:
    rng = b.rng
    names = [pseudo(rng) for _ in range(rng.randint(3, 5))]
    rate = {name: round(rng.uniform(0.1, 15), 2) for name in names}
    what, per = b.verb("dose", "portion", "ration", "load limit", "charge"), b.verb("weight", "age", "volume", "height")
    unit = b.rng.choice(UNITS)

    def run(state: State, a: Args) -> Any:
        value = round(rate[a["of"]] * a["per"], 2)
        return (
            Text(f"{what.capitalize()} of {a['of']}: {value} {unit}")
            if b.style.scalar == "sentence"
            else {b.style.key(what): value, b.style.key("unit"): unit}
        )

    kind = b.verb("substance", "agent", "material", "feed", "mix")
    b.add(
        f"{what} of" if b.chance(0.2) else f"{b.verb('calculate', 'get', 'compute')} {what}",
        b.noun_doc(f"{what.capitalize()} of a {kind} for a {per}"),
        [choice("of", kind, names, f"Which {kind}"), number("per", per, f"The {per}")],
        run,
    )


def cipher(b: Builder) -> None:
    def run(state: State, a: Args) -> Any:
        turn = a["shift"] % 26
        coded = "".join(
            chr((ord(c.lower()) - 97 + turn) % 26 + 97) if c.isascii() and c.isalpha() else c for c in a["text"]
        )
        return b.style.value("result", coded)

    b.add(
        b.verb("encode", "scramble", "shift letters"),
        "Shift the letters of a text",
        [
            text("text", b.verb("text", "plain"), "Text"),
            number("shift", b.verb("shift", "key", "by"), "How far", kind="integer"),
        ],
        run,
    )


def text_stats(b: Builder) -> None:
    def run(state: State, a: Args) -> Any:
        t = a["text"]
        row = {
            b.style.key("words"): len(t.split()),
            b.style.key("characters"): len(t),
            b.style.key("vowels"): sum(c in "aeiou" for c in t.lower()),
        }
        return b.style.record("text", row, "lines" if b.style.one in ("lines", "markdown", "sentence") else "bare")

    b.add(
        b.verb("text stats", "measure text", "count words", "analyze text"),
        b.noun_doc("Words, characters and vowels of a text"),
        [text("text", b.verb("text", "content", "passage"), "The text")],
        run,
    )


def spread(b: Builder) -> None:
    kinds: dict[str, Callable[[list[float]], float]] = {
        "mean": statistics.fmean,
        "median": statistics.median,
        "range": lambda v: max(v) - min(v),
        "sum": sum,
        "peak": max,
    }
    modes = b.rng.sample(list(kinds), 3)
    words = b.verb("values", "numbers", "readings", "scores", "samples")
    param = Param("values", words, {"type": "array", "items": {"type": "number"}}, f"The {words}")

    def run(state: State, a: Args) -> Any:
        if not a["values"]:
            raise b.style.wrong(f"{words} is empty")
        return b.style.value(a["mode"], round(kinds[a["mode"]](a["values"]), 3))

    b.add(
        b.verb("summarize numbers", "statistics", "reduce", "aggregate values"),
        b.noun_doc(f"statistic of a list of {words}"),
        [param, choice("mode", b.verb("statistic", "mode", "method"), modes, "Which one")],
        run,
    )


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

    b.add(
        f"{b.verb('classify', 'assess', 'rate', 'get')} {what}",
        b.noun_doc(f"{what.capitalize()} for a {words}"),
        [number("value", words, f"The {words}, 0 to 100")],
        run,
    )


def series(b: Builder) -> None:
    k, c, m = b.rng.randint(3, 40), b.rng.randint(1, 90), b.rng.choice((97, 101, 499, 997))
    start, length = b.verb("start", "seed", "from"), b.verb("count", "length", "n")

    def run(state: State, a: Args) -> Any:
        values = [a["start"]]
        while len(values) < min(max(a["n"], 1), 12):
            values.append((values[-1] * k + c) % m)
        return values if b.style.scalar in ("bare", "result") else b.style.value("sequence", values)

    b.add(
        b.verb("generate sequence", "next numbers", "series", "draw numbers"),
        b.noun_doc("sequence of numbers from a start"),
        [number("start", start, "First number", kind="integer"), number("n", length, "How many", kind="integer")],
        run,
    )


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

    b.add(
        f"{b.verb('make', 'mint', 'generate')} {what}",
        f"Make a {what} with a check digit",
        [
            text("prefix", b.verb("prefix", "series"), "Letters in front"),
            number("n", b.verb("number", "sequence"), "Running number", kind="integer"),
        ],
        lambda state, a: b.style.value(what, made(a["prefix"], a["n"])),
    )
    if b.chance(0.5):
        b.add(
            f"{b.verb('verify', 'check', 'validate')} {what}",
            f"Check a {what}",
            [text("code", what, f"The {what}")],
            check,
        )


def loan_cost(b: Builder) -> None:
    what = b.verb("payment", "installment", "monthly cost")

    def run(state: State, a: Args) -> Any:
        months = max(1, a["months"])
        total = a["sum"] * (1 + a["rate"] / 100 * months / 12)
        return b.style.record(
            what,
            {b.style.key(what): round(total / months, 2), b.style.key("total"): round(total, 2)},
            "lines" if b.style.one == "lines" else "bare",
        )

    b.add(
        f"{b.verb('calculate', 'estimate', 'get')} {what}",
        b.noun_doc(f"{what.capitalize()} for a loan"),
        [
            number("sum", b.verb("principal", "amount", "sum"), "Amount borrowed"),
            number("rate", b.verb("rate", "interest"), "Percent a year"),
            number("months", b.verb("months", "term"), "How many months", kind="integer"),
        ],
        run,
    )


def parse(b: Builder) -> None:
    """A coded string taken apart."""
    letters = {letter: word(b.rng) for letter in "ABCDEFGH"}
    what = b.verb("waybill", "lot code", "call sign", "batch code", "part number")

    def run(state: State, a: Args) -> Any:
        code = a["code"].strip().upper()
        digits_in = "".join(c for c in code if c.isdigit())
        if not digits_in:
            raise b.style.wrong(f"{a['code']!r} has no number in it")
        row = {
            b.style.key("series"): letters.get(code[0], "general"),
            b.style.key("number"): int(digits_in),
            b.style.key("check"): int(digits_in) % 97,
        }
        return b.style.record(what, row, "bare" if b.style.one in ("markdown", "sentence") else "")

    b.add(
        f"{b.verb('parse', 'decode', 'explain', 'inspect')} {what}",
        f"Take a {what} apart",
        [text("code", b.verb("code", what, "value"), f"The {what}, like B-204")],
        run,
    )


def window(b: Builder) -> None:
    """Whether a date and a time fall into opening hours drawn with the world; with a number of people or hours."""
    opens, closes = b.rng.randint(6, 11), b.rng.randint(15, 23)
    price = round(b.rng.uniform(2, 60), 2)
    what = b.verb("slot", "visit", "landing", "hire", "rehearsal", "court")

    def run(state: State, a: Args) -> Any:
        day, at = day_of(b, a["day"]), minutes_of(b, a["time"])
        free = opens * 60 <= at < closes * 60 and day.weekday() != 0
        row = {
            b.style.key("available"): free,
            b.style.key("weekday"): f"{day:%A}",
            b.style.key("price"): round(price * a.get("n", 1), 2),
        }
        return b.style.record(what, row, "bare" if b.style.one in ("markdown", "sentence") else "")

    params = [
        text("day", b.verb("date", "day"), "YYYY-MM-DD"),
        text("time", b.verb("time", "at"), "HH:MM"),
        number("n", b.verb("people", "hours", "units"), "How many", b.chance(0.5), "integer"),
    ]
    b.add(
        f"{b.verb('check', 'quote', 'price')} {what}",
        b.say("Check whether a {w} is free and what it costs", "Availability and price of a {w}", w=what),
        params,
        run,
    )


CALCULATORS: tuple[Callable[[Builder], None], ...] = (
    measure_units,
    distance,
    place_distance,
    checksum,
    fee,
    shift_clock,
    calendar,
    transform,
    bump,
    mix,
    dose,
    cipher,
    text_stats,
    spread,
    classify,
    series,
    mint,
    loan_cost,
    parse,
    window,
)
