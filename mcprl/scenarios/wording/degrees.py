"""Words for more and most of something: `cheaper`, `the newest`, `the highest rating`."""

from mcprl.scenarios.intents import Attribute
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.modifiers import in_full
from mcprl.scenarios.wording.template import data
from mcprl.text import singular


def superlative(by: Attribute, most: bool) -> str:
    """`cheapest`, `newest`, empty if there is no word for it."""
    return degree(by, most)[1]


def degree(by: Attribute, most: bool) -> tuple[str, str]:
    """The comparative and the superlative for a field, empty if there are none."""
    table = data("thesaurus")["degrees"]
    ways = table.get(by.label)
    if ways is None:
        last = [singular(word) for word in by.label.split()]
        ways = next((table[word] for word in (*reversed(last), by.meaning) if word in table), None)
    if ways is None:
        return "", ""
    return (ways[0], ways[1]) if most else (ways[2], ways[3])


def height(by: Attribute, most: bool) -> str:
    """`the highest rating`, `the fewest items`: for a field without a superlative of its own."""
    label = in_full(by)
    if by.meaning == "count" and grammar.is_plural(label):
        return f"the {'most' if most else 'fewest'} {label}"
    return f"the {'highest' if most else 'lowest'} {label}"
