"""Which values name a thing: its own name, number or code, by their labels."""

from mcprl.scenarios.intents import Attribute
from mcprl.scenarios.wording.template import data
from mcprl.text import singular

JOINTS = ("from", "to", "for", "by", "with", "in", "at", "on", "of", "per", "between", "until")
"""Labels that say how a value belongs to its thing, and cannot be asked for: `job 301 for Mara Lund`."""
_NAMING = ("source", "old", "current", "original", "name", "title", "label", "full", "display")
HEADINGS = ("message", "subject", "headline", "summary")
KEYS = ("number", "id", "code", "key")
"""Labels that say too little without their thing."""
_CODED = ("text", "category", "number", "count")
_ID_WORDS = ("id", "number", "code", "sku", "key", "no", "uuid", "reference", "identifier", "slug", "sha", "hash")


def names(attribute: Attribute, noun: str) -> bool:
    """Whether a value of the attribute names a thing of this noun: `name`, `order number`, and not a supplier's."""
    front = " ".join(data("thesaurus")["nouns_in_full"].get(word, word) for word in front_of(attribute).split())
    if attribute.label in JOINTS:
        return False
    if attribute.label in HEADINGS and attribute.meaning == "name":
        return True
    own = not front or singular(front.split()[-1]) in noun.split() or singular(front) == noun
    called = attribute.meaning in ("name", "identifier", "path", "email") or is_code(attribute, noun)
    return own and called and attribute.label != "last name"


def is_code(attribute: Attribute, noun: str) -> bool:
    """Whether a value is what a thing is called by, as its label says: the unit U7Q-228 of the field `unit`."""
    return attribute.meaning == "identifier" or (attribute.label == noun and attribute.meaning in _CODED)


def front_of(attribute: Attribute) -> str:
    """The thing in an attribute's label: `customer` for `customer number`."""
    kept = [word for word in attribute.label.split() if word not in (*_NAMING, *_ID_WORDS, "path", "email", "address")]
    return " ".join(kept)
