"""The raw material of procedural worlds: word pools and domains (data, in `words.toml`) and generators of values.

To widen the worlds add an entity type or a word to `words.toml`, or a kind of value to `KINDS`.
Nothing here may name the servers the trained policy is tested on (see `tests/test_worlds.py`).
"""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

# --- words ------------------------------------------------------------------------------------------------------------

_DATA = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))


def _pool(name: str) -> list[str]:
    return _DATA[name].split()


FIRST = _pool("first")
LAST = _pool("last")
PLACES = _pool("places")
COUNTRIES = _pool("countries")
ADJECTIVES = _pool("adjectives")
NOUNS = _pool("nouns")
VERBS = _pool("verbs")
GLUE = _pool("glue")
STATUSES = _pool("statuses")
UNITS = _pool("units")
MADE_UNITS = _pool("made_units")
SUFFIXES = _pool("suffixes")
EXTENSIONS = _pool("extensions")
FOLDERS = _pool("folders")
LEVELS = [tuple(levels) for levels in _DATA["levels"]]
DOMAINS: list[str] = _DATA["domains"].strip().splitlines()
EXTRA_COLUMNS = _pool("extra_columns")

ONSETS = [
    "b",
    "b",
    "bl",
    "br",
    "c",
    "ch",
    "cl",
    "cr",
    "d",
    "d",
    "dr",
    "f",
    "f",
    "fl",
    "g",
    "g",
    "gr",
    "h",
    "j",
    "k",
    "k",
    "kr",
    "l",
    "l",
    "m",
    "m",
    "n",
    "n",
    "p",
    "p",
    "pr",
    "qu",
    "r",
    "r",
    "s",
    "s",
    "sh",
    "sk",
    "sp",
    "st",
    "t",
    "t",
    "th",
    "tr",
    "v",
    "w",
    "x",
    "y",
    "z",
]
VOWELS = [
    "a",
    "a",
    "a",
    "e",
    "e",
    "e",
    "i",
    "i",
    "i",
    "o",
    "o",
    "o",
    "u",
    "u",
    "u",
    "ai",
    "ea",
    "ia",
    "io",
    "oo",
    "ou",
    "y",
]
CODAS = [
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "b",
    "ck",
    "d",
    "g",
    "k",
    "l",
    "ld",
    "m",
    "n",
    "nd",
    "p",
    "r",
    "rk",
    "s",
    "st",
    "t",
    "x",
]
SYLLABLES = [onset + vowel + coda for onset in ONSETS for vowel in VOWELS for coda in CODAS]


def pseudo(rng: Random) -> str:
    """A word nobody has seen: two syllables, seldom one or three, lower case."""
    roll = rng.random()
    if roll < 0.1:
        return rng.choice(SYLLABLES) + rng.choice("aeiou")
    return rng.choice(SYLLABLES) + rng.choice(SYLLABLES) + (rng.choice(SYLLABLES) if roll > 0.9 else "")


def word(rng: Random) -> str:
    roll = rng.random()
    return rng.choice(NOUNS) if roll < 0.4 else rng.choice(ADJECTIVES) if roll < 0.6 else pseudo(rng)


# --- values -----------------------------------------------------------------------------------------------------------


def person(rng: Random) -> str:
    last = rng.choice(LAST) if rng.random() < 0.7 else pseudo(rng).capitalize()
    return f"{rng.choice(FIRST)} {last}"


def title(rng: Random) -> str:
    """A multi-word name: 'The Amber Canal', 'Varno Reef', 'Blue 7'."""
    roll = rng.random()
    if roll < 0.4:
        return f"{rng.choice(ADJECTIVES)} {rng.choice(NOUNS)}".title()
    if roll < 0.6:
        return f"{pseudo(rng)} {rng.choice(NOUNS)}".title()
    if roll < 0.75:
        return f"{rng.choice(NOUNS)} of {pseudo(rng).capitalize()}".capitalize()
    if roll < 0.9:
        return f"The {rng.choice(ADJECTIVES).capitalize()} {pseudo(rng).capitalize()} {rng.choice(NOUNS).capitalize()}"
    return f"{pseudo(rng).capitalize()} {rng.randint(1, 99)}"


def phrase(rng: Random) -> str:
    return " ".join(rng.choice((NOUNS, ADJECTIVES, VERBS))[rng.randrange(60)] for _ in range(rng.randint(2, 4)))


def sentence(rng: Random) -> str:
    pools = (GLUE, NOUNS, VERBS, ADJECTIVES, NOUNS)
    words = [rng.choice(rng.choice(pools)) for _ in range(rng.randint(3, 9))]
    if rng.random() < 0.3:
        words[-1] = rng.choice((pseudo(rng), str(rng.randint(2, 900)), rng.choice(PLACES)))
    text = " ".join(words)
    return text.capitalize() + "." if rng.random() < 0.7 else text


def digits(rng: Random) -> int:
    """A whole number whose length, not its size, is uniform: 1 to 6 digits."""
    return rng.randrange(10 ** rng.randint(1, 6))


def code(rng: Random) -> str:
    """'KX-204', 'b7f-Q', '88/ZU': what departments print on labels."""
    letters = "".join(rng.choices("ABCDEFGHJKLMNPQRSTUVWXYZ", k=rng.randint(1, 3)))
    number = rng.randrange(10 ** rng.randint(1, 4))
    return rng.choice(
        (
            f"{letters}{number}",
            f"{letters}-{number}",
            f"{number}{letters}",
            f"{letters.lower()}{number}-{letters[0]}",
            f"{number}/{letters}",
            f"{letters}.{number}",
        )
    )


def date(rng: Random) -> str:
    return f"{rng.randint(2019, 2028)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def clock(rng: Random) -> str:
    return f"{rng.randrange(24):02}:{rng.randrange(60):02}"


def moment(rng: Random) -> str:
    return f"{date(rng)}T{clock(rng)}" + rng.choice(
        ("", ":00", ":00Z", "Z", f":{rng.randrange(60):02}+0{rng.randrange(10)}:00")
    )


def email(rng: Random) -> str:
    return f"{rng.choice(FIRST)}.{rng.choice(LAST)}@{word(rng)}.{rng.choice(SUFFIXES)}".lower()


def url(rng: Random) -> str:
    return f"https://{word(rng)}.{rng.choice(SUFFIXES)}/{word(rng)}" + rng.choice(
        ("", f"/{digits(rng)}", f"?id={rng.randint(1, 999)}")
    )


def path(rng: Random) -> str:
    folders = [rng.choice(FOLDERS) for _ in range(rng.randint(1, 2))]
    return "/".join(
        [
            *folders,
            f"{word(rng)}{rng.choice(('', '', '-' + word(rng), f'_{rng.randint(1, 99)}'))}.{rng.choice(EXTENSIONS)}",
        ]
    )


def slug(rng: Random) -> str:
    return "-".join(word(rng) for _ in range(rng.randint(2, 3)))


def phone(rng: Random) -> str:
    return f"+{rng.randint(1, 98)} {rng.randint(20, 999)} {rng.randint(100, 999)} {rng.randint(1000, 9999)}"


def tags(rng: Random) -> list[str]:
    return list(dict.fromkeys(word(rng) for _ in range(rng.randint(1, 4))))


def measure(rng: Random) -> str:
    return f"{rng.choice((rng.randint(1, 900), round(rng.random() * 90, 1)))} {rng.choice(UNITS)}"


Maker = Callable[[Random], Any]

KINDS: dict[str, tuple[str, Maker]] = {
    "person": ("string", person),
    "title": ("string", title),
    "word": ("string", lambda rng: pseudo(rng).capitalize() if rng.random() < 0.5 else word(rng)),
    "phrase": ("string", phrase),
    "sentence": ("string", sentence),
    "place": ("string", lambda rng: rng.choice(PLACES) if rng.random() < 0.6 else pseudo(rng).capitalize()),
    "country": ("string", lambda rng: rng.choice(COUNTRIES)),
    "company": (
        "string",
        lambda rng: f"{pseudo(rng).capitalize()} {rng.choice(('Ltd', 'GmbH', 'Labs', 'Group', 'Works', '& Co', 'SA'))}",
    ),
    "email": ("string", email),
    "url": ("string", url),
    "phone": ("string", phone),
    "code": ("string", code),
    "hex": ("string", lambda rng: f"{rng.getrandbits(32):08x}"),
    "version": ("string", lambda rng: f"{rng.randrange(12)}.{rng.randrange(30)}.{rng.randrange(20)}"),
    "color": ("string", lambda rng: f"#{rng.getrandbits(24):06x}"),
    "path": ("string", path),
    "slug": ("string", slug),
    "date": ("string", date),
    "time": ("string", clock),
    "moment": ("string", moment),
    "offset": ("string", lambda rng: f"{rng.choice('+-')}{rng.randrange(12):02}:{rng.choice(('00', '30', '45'))}"),
    "measure": ("string", measure),
    "ip": ("string", lambda rng: ".".join(str(rng.randint(1, 254)) for _ in range(4))),
    "isbn": ("string", lambda rng: f"97{rng.randrange(10)}-{rng.randrange(10**6):06}-{rng.randrange(10)}"),
    "grade": ("string", lambda rng: rng.choice("ABCDE") + rng.choice(("", "+", "-"))),
    "int": ("integer", digits),
    "small": ("integer", lambda rng: rng.randint(0, 60)),
    "year": ("integer", lambda rng: rng.randint(1890, 2027)),
    "signed": ("integer", lambda rng: rng.randint(-500, 500)),
    "money": ("number", lambda rng: round(rng.random() * 10 ** rng.randint(1, 4), 2)),
    "decimal": ("number", lambda rng: round(rng.random() * 10 ** rng.randint(0, 3), rng.randint(1, 3))),
    "percent": ("number", lambda rng: round(rng.random() * 100, 1)),
    "degree": ("number", lambda rng: round(rng.uniform(-90, 90), rng.randint(1, 4))),
    "rating": ("number", lambda rng: rng.randint(2, 10) / 2),
    "bool": ("boolean", lambda rng: rng.random() < 0.5),
    "tags": ("array", tags),
}


@dataclass(frozen=True)
class Column:
    """A typed field of an entity: its name in words, the kind of value, and the choices where it is an enumeration."""

    words: str
    kind: str
    choices: tuple[str, ...] = ()

    @property
    def type(self) -> str:
        return "string" if self.choices else KINDS[self.kind][0]

    def make(self, rng: Random) -> Any:
        return rng.choice(self.choices) if self.choices else KINDS[self.kind][1](rng)


# --- domains ----------------------------------------------------------------------------------------------------------

SUBRECORDS = (
    ("history", "entry", ("date:date", "event:phrase", "by:person")),
    ("notes", "note", ("author:person", "text:sentence")),
    ("events", "event", ("time:moment", "kind:word", "detail:phrase")),
    ("measurements", "measurement", ("time:time", "value:decimal")),
    ("schedule", "slot", ("start:time", "end:time", "activity:phrase")),
    ("comments", "comment", ("author:person", "text:sentence", "likes:small")),
    ("parts", "part", ("part:phrase", "quantity:small", "code:code")),
    ("payments", "payment", ("date:date", "amount:money", "method:cash/card/wire")),
    ("attachments", "attachment", ("name:path", "bytes:int")),
    ("inspections", "inspection", ("date:date", "inspector:person", "passed:bool")),
    ("contacts", "contact", ("name:person", "phone:phone")),
    ("ratings", "rating", ("by:person", "stars:rating")),
    ("locations", "location", ("place:place", "since:date")),
    ("changes", "change", ("field:word", "old:word", "new:word")),
    ("members", "member", ("name:person", "role:word")),
    ("alarms", "alarm", ("code:code", "level:minor/major/critical", "raised:moment")),
)

NESTS = {
    "details": None,
    "meta": None,
    "attributes": None,
    "info": None,
    "stats": ("small", "int", "decimal", "percent", "money"),
    "contact": ("email", "phone", "person", "url"),
    "location": ("place", "degree", "code", "country"),
    "dates": ("date", "moment", "time", "year"),
    "metrics": ("decimal", "percent", "int", "small", "rating"),
}


def column(text: str) -> Column:
    """`due_date:date` or `status:open/closed` as a `Column`."""
    name, kind = text.split(":")
    words = name.replace("_", " ")
    if "/" in kind:
        return Column(words, "enum", tuple(kind.split("/")))
    return Column(words, kind)


def domain(rng: Random) -> tuple[str, str, list[Column]]:
    """A noun, its plural and columns: three times in four one of `DOMAINS`, else a thing that does not exist, most of
    its columns borrowed from things that do: their meanings can be told from their names."""
    if rng.random() < 0.75:
        names, known = rng.choice(DOMAINS).split(": ")
        one, many = names.split("/")
        return one, many, [column(text) for text in known.split()]
    one = pseudo(rng) if rng.random() < 0.7 else f"{pseudo(rng)} {rng.choice(NOUNS)}"
    borrowed = [text for line in rng.sample(DOMAINS, 3) for text in line.split(": ")[1].split()]
    columns = list({made.words: made for made in map(column, rng.sample(borrowed, rng.randint(3, 5)))}.values())
    for _ in range(rng.randint(1, 2)):
        kind = rng.choice((*KINDS, "enum", "enum"))
        choices: tuple[str, ...] = ()
        if kind == "enum":
            choices = rng.choice((rng.choice(LEVELS), tuple(rng.sample(STATUSES, rng.randint(2, 4)))))
        name = word(rng) if rng.random() < 0.7 else pseudo(rng)
        if name not in {known.words for known in columns}:
            columns.append(Column(name, kind, choices))
    rng.shuffle(columns)
    return one, one + ("es" if one.endswith(("s", "x", "z", "ch", "sh")) else "s"), columns
