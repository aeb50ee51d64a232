"""Nouns: as words, and which of them are people, goods, dealings or things of computers (`words.toml`)."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from mcprl.text import singular, words

ABSTRACT = ("entity", "node", "record", "item", "object", "entry", "element")
"""Nouns that say nothing: a thing of these is called by its type."""


@cache
def data() -> dict[str, Any]:
    """The lists of `words.toml`."""
    return tomllib.loads((files("mcprl.scenarios.english") / "words.toml").read_text())


def spoken(noun: str) -> str:
    """A noun of the server's as words: `orderItem` is `order item`, `repo` is `repository`."""
    table = data()["nouns_in_full"]
    return " ".join(table.get(word, word) for word in words(noun)) or "item"


def is_person(noun: str) -> bool:
    """Whether the noun is that of a person."""
    return bool({singular(word) for word in noun.split()[-1:]} & {*data()["people"]})


def is_concrete(noun: str) -> bool:
    """Whether the noun is that of a person or of goods."""
    return is_person(noun) or noun in data()["goods"]


def is_deal(noun: str) -> bool:
    """Whether the noun is that of a dealing, whose quantities are no stock: `order`, `return request`."""
    return noun.split()[-1] in data()["deals"]


def is_technical(noun: str) -> bool:
    """Whether the noun is that of a thing of computers: `file`, `the commit`."""
    return noun.split()[-1] in data()["technical"]
