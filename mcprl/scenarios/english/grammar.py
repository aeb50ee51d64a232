"""English inflection by small rules: plurals, articles, verbs and lists."""

import re
from collections.abc import Sequence

from mcprl.text import singular

_PLURALS = {
    "person": "people", "child": "children", "man": "men", "woman": "women", "index": "indexes", "mouse": "mice",
    "foot": "feet", "tooth": "teeth", "shelf": "shelves", "half": "halves", "knife": "knives", "life": "lives",
    "leaf": "leaves", "loaf": "loaves", "wolf": "wolves", "box": "boxes", "series": "series", "species": "species",
    "analysis": "analyses", "criterion": "criteria", "hero": "heroes", "potato": "potatoes", "quiz": "quizzes",
}  # fmt: skip
_SINGULARS = {more: one for one, more in _PLURALS.items()}
_MASS = frozenset(
    (
        "stock inventory information equipment weather money news content data metadata feedback staff memory traffic "
        "insurance software hardware furniture luggage baggage advice knowledge text output space storage history "
        "humidity"
    ).split()
)
_AN = re.compile(
    r"(?:[aeio]|u(?!n[ia]|s[aei]|r[ai]|t[ei]|k|ser)|hour|honest|heir|[FHLMNRSX](?=[A-Z\d-])|8|11\b|18\b)", re.I
)
_NOT_AN = re.compile(r"(?:one\b|once|eu|ewe|(?!hour|honest|heir)[hlmnrsxfHLMNRSXF][a-z])")


def plural(noun: str) -> str:
    """The plural of a noun or noun phrase, whose last word is its head unless `of`, `in` or the like follows it."""
    head, joint, rest = _split_head(noun)
    *front, last = head.split(" ")
    lower = last.lower()
    if front and lower.endswith("ed") and lower != "bed":  # files changed
        return " ".join([plural(" ".join(front)), last]) + joint + rest
    people = last[:1].isupper() and lower.endswith("ese")  # Siamese
    if people or lower in _MASS or lower in _SINGULARS or (singular(lower) != lower and not lower.endswith("ss")):
        inflected = last
    elif lower in _PLURALS:
        inflected = last[0] + _PLURALS[lower][1:]
    elif re.search(r"(?:s|x|z|ch|sh)$", lower):
        inflected = last + "es"
    elif re.search(r"[^aeiou]y$", lower):
        inflected = last[:-1] + "ies"
    else:
        inflected = last + "s"
    return " ".join([*front, inflected]) + joint + rest


def one(noun: str) -> str:
    """The singular of a noun or noun phrase."""
    head, joint, rest = _split_head(noun)
    *front, last = head.split(" ")
    return " ".join([*front, _SINGULARS.get(last.lower(), singular(last))]) + joint + rest


def is_plural(noun: str) -> bool:
    """Whether a noun phrase takes `are`."""
    *front, last = _split_head(noun)[0].lower().split(" ")
    if front and last.endswith("ed"):
        last = front[-1]
    if last in ("species", "series"):  # one or several: labels are mostly of one
        return False
    return last in _SINGULARS or (last not in _MASS and last != singular(last))


def is_mass(noun: str) -> bool:
    """Whether a noun takes no article: `stock`, `information`."""
    return noun.split(" ")[-1].lower() in _MASS


def _split_head(noun: str) -> tuple[str, str, str]:
    match = re.search(r" (?:of|in|on|for|from|to|with|that|which|who) ", noun)
    return (noun[: match.start()], match[0], noun[match.end() :]) if match else (noun, "", "")


def a(noun: str) -> str:
    """A noun phrase with its indefinite article, none if it is a plural or a mass noun."""
    if is_plural(noun) or is_mass(noun):
        return noun
    return f"an {noun}" if _AN.match(noun) and not _NOT_AN.match(noun) else f"a {noun}"


def listed(parts: Sequence[str], joint: str = "and") -> str:
    """At least one part as an English list: `a, b and c`; `a and b, and c` where a part is one itself."""
    if len(parts) == 1:
        return parts[0]
    pause = "," if any(f" {joint} " in part for part in parts) else ""
    return ", ".join(parts[:-1]) + f"{pause} {joint} " + parts[-1]


def infinitive(verb: str) -> str:
    """A verb in the third person (`fetches`) without its ending."""
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    if verb.endswith(("izes", "yzes", "azes")):
        return verb[:-1]
    if verb.endswith(("ches", "shes", "sses", "xes", "zes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb
