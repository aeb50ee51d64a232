"""Words for more and most of something: `cheaper`, `the newest`, `the highest rating`."""

from mcprl.scenarios.intents import Attribute
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.modifiers import in_full, is_deal
from mcprl.scenarios.wording.nouns import EVENTS
from mcprl.scenarios.wording.template import data
from mcprl.text import singular

DATES = ("date", "datetime")
OWN_LABELS = ("date", "day", "time", "datetime", "timestamp")
"""Labels of the date that a thing simply has."""
_BILLED = ("amount", "total", "sum", "balance")
_SUMS = ("expense", "payment", "bill", "fee", "fine", "debt", "account", "donation", "deal", "refund", "charge")


def superlative(by: Attribute, most: bool, noun: str = "") -> str:
    """`cheapest`, `newest`, empty if there is no word for it. An order with a high total is big, a card is not."""
    if noun and by.meaning == "money" and by.label.split()[-1] in _BILLED:
        return degree(by, most)[1] if is_deal(noun) or noun.split()[-1] in _SUMS else ""
    return degree(by, most)[1]


def standing(by: Attribute, most: bool, noun: str) -> str:
    """`comes last` for what takes place on its day: the latest appointment might be the last one made."""
    taking_place = noun.split()[-1] in EVENTS and by.label in ("date", "day")
    return f"comes {'last' if most else 'first'}" if taking_place else ""


def degree(by: Attribute, most: bool) -> tuple[str, str]:
    """The comparative and the superlative for a field, empty if there are none."""
    table = data("thesaurus")["degrees"]
    ways = table.get(by.label)
    if ways is None:
        last = [singular(word) for word in by.label.split()]
        ways = next((table[word] for word in (*reversed(last), by.meaning) if word in table), None)
        if by.meaning in DATES and by.label not in OWN_LABELS:
            ways = None  # which of two things is the later one does not say what was done on the day
    if ways is None:
        return "", ""
    return (ways[0], ways[1]) if most else (ways[2], ways[3])


def higher(by: Attribute, most: bool) -> str:
    """`higher`, and of dates `later`: what the label of the one of two things is that has more."""
    words = ("later", "earlier") if by.meaning in DATES else ("higher", "lower")
    return words[0] if most else words[1]


def height(by: Attribute, most: bool) -> str:
    """`the highest rating`, `the fewest items`: for a field without a superlative of its own."""
    label = in_full(by)
    if by.meaning == "count" and grammar.is_plural(label):
        return f"the {'most' if most else 'fewest'} {label}"
    if by.meaning in ("date", "datetime", "year"):
        return f"the {'latest' if most else 'earliest'} {label}"
    return f"the {'highest' if most else 'lowest'} {label}"
