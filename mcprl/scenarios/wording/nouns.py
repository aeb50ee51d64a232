"""Nouns and names as people say them: `repository` for `repo`, dogs for animals of the species dog."""

import re
from collections.abc import Sequence

from mcprl.scenarios.intents import Value
from mcprl.scenarios.wording.keys import front_of
from mcprl.scenarios.wording.modifiers import is_moment_of_history
from mcprl.scenarios.wording.template import data
from mcprl.text import singular, words

ABSTRACT = ("entity", "node", "record", "item", "object", "entry", "element")
"""Nouns that say nothing: a thing of these is called by its type."""
LIVING = ("animal", "pet", "dog", "cat", "rabbit", "horse", "bird", "tortoise")
"""Nouns of creatures that have a name as people have, and are called by it alone."""
EVENTS = (
    "appointment", "meeting", "event", "class", "course", "lesson", "concert", "session", "visit", "exam", "trip",
    "tour", "match", "game", "party", "wedding", "interview", "workshop", "conference", "show", "holiday", "booking",
)  # fmt: skip
"""Things that take place on their day: of others nobody asks when they are."""
_SORT = ("type", "kind", "species")
_WAYS, _MEANS = ("method", "option"), ("card", "certificate", "account", "voucher")
"""Nouns for ways to pay, and last words of what one pays with: of payment methods these are gift cards."""
WARES, VARIANT, _KIND = ("product", "article"), "variant", ("item", "unit", "piece")
"""Nouns for wares, and for what is of one of these: not its items, which would be its stock, but its variants."""
_NAMED_SORT = re.compile(r"[A-Za-z][a-z]+(?: [a-z]+)?")


def spoken(noun: str) -> str:
    """A noun of the server's as words: `orderItem` is `order item`, `repo` is `repository`."""
    table = data("thesaurus")["nouns_in_full"]
    return " ".join(table.get(word, word) for word in words(noun)) or "item"


def is_person(noun: str) -> bool:
    """Whether the noun is that of a person."""
    return bool({singular(word) for word in noun.split()[-1:]} & {*data("thesaurus")["people"]})


def is_concrete(noun: str) -> bool:
    """Whether the noun is that of a person or of goods."""
    return is_person(noun) or noun in data("thesaurus")["goods"]


def by_sort(noun: str, values: Sequence[Value]) -> tuple[str, tuple[Value, ...]]:
    """The noun that the type among the values stands for, and the other values: animals of the species dog are dogs, an
    entity of the type client is a client.
    """
    front, _, rest = noun.partition(" ")
    if rest and any(value.attribute.label.split()[0] == front for value in values):
        noun = rest  # the jobs of a customer, and not the customer jobs
    noun = variant_of(noun, values)
    if noun == "changed file" and any(map(is_moment_of_history, values)):
        return "file changed", tuple(values)  # files changed since a commit
    breed = next((value for value in values if value.attribute.label == "breed" and value.how == "is"), None)
    if breed and not any(value.attribute.label in _SORT for value in values) and _named_by_breed(breed):
        return str(breed.value), tuple(other for other in values if other is not breed)
    for value in values:
        label = value.attribute.label.split()[-1]
        name = str(value.value).replace("_", " ")
        if noun.split()[-1] in _WAYS and value.how == "is" and name.endswith(_MEANS):
            return name, tuple(other for other in values if other is not value)
        told = label == "species" or (label in _SORT and noun.split()[-1] in ABSTRACT)
        if told and value.how == "is" and isinstance(value.value, str) and _NAMED_SORT.fullmatch(value.value):
            return value.value.lower(), tuple(other for other in values if other is not value)
    return noun, tuple(values)


def variant_of(noun: str, values: Sequence[Value]) -> str:
    """The noun of wares: those of a product are its variants, and no stock of it."""
    held = any(value.how == "is" and front_of(value.attribute) in WARES for value in values)
    return VARIANT if held and noun in _KIND else noun


def _named_by_breed(breed: Value) -> bool:
    """Whether animals of a breed are called by it: Labradors, but mixed dogs."""
    text = str(breed.value)
    return bool(re.fullmatch(r"[A-Z][a-z]+(?:'s)?(?: [A-Za-z][a-z]+)?", text)) and not text.endswith(("ish", "ed"))
