"""The slots of a pattern that depend on the field that is asked for."""

import random
import re

from mcprl.scenarios.intents import Attribute
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.labels import PARTICLES, is_done
from mcprl.scenarios.wording.modifiers import either_of, in_full, noun_label, what_was_done
from mcprl.scenarios.wording.template import data, mark
from mcprl.scenarios.wording.values import UNIT_WORDS, at_work

FINAL = frozenset(
    (
        "done processed shipped closed cancelled canceled delivered completed finished resolved refunded returned paid "
        "merged sold"
    ).split()
)
"""States in which nothing is for a time only: no order is still delivered."""


def label_slots(asked: Attribute, rng: random.Random) -> dict[str, str]:
    """The slots of a pattern that depend on the field."""
    label = noun_label(asked)
    table = data("thesaurus")
    ways = table["labels"].get(asked.label, [label])
    labels = grammar.plural(in_full(asked))
    counted = asked.meaning == "count" and grammar.is_plural(in_full(asked))
    if asked.meaning == "count":
        ways = [label]  # the number of removed lines: the removed lines themselves would be a text
    verbs = date_verbs(asked)
    choice = rng.choice(asked.choices) if asked.choices else ""
    lasting = [str(one) for one in asked.choices if str(one).lower() not in FINAL]
    head, _, inside = label.partition(" in the ")
    told, still = (_state(asked, one) for one in (choice, rng.choice(lasting) if lasting else ""))
    return {
        "label": mark(label) if re.fullmatch(r"[A-Z][A-Z\d_]{2,}", label) else label,  # kept in small letters, too
        "labels": labels,
        "named_labels": "" if counted or grammar.is_mass(labels) else labels,
        # The author's address for a commit: it is not the commit's.
        "of": table["prepositions"].get(asked.label.split()[-1], "for" if "'s " in label else ""),
        "label_word": rng.choice(ways) if rng.random() < 0.5 else label,
        "are": "are" if grammar.is_plural(label) else "is",
        "verb": rng.choice(verbs) if verbs else "",
        "unit": unit_in_full(asked.unit),
        "flag": in_full(asked),
        "a_flag": grammar.a(in_full(asked)),
        "in": table["place_prepositions"].get(asked.label.split()[-1], "in"),
        "choice": told,
        "still": still,
        "a_choice": grammar.a(told) if told else "",
        "label_head": head,
        "label_inside": inside,
        "them": "" if asked.meaning == "person" else "them" if grammar.is_plural(label) else "it",
        "asks": "who" if asked.meaning == "person" else "",
        "either": " or ".join(either_of(asked)),
        **what_was_done(asked),
    }


def _state(asked: Attribute, choice: object) -> str:
    """A choice behind `is`: `in transit`, `at the cutting stage`."""
    text = str(choice).replace("_", " ").lower()
    return at_work(asked, text) or text


def unit_in_full(unit: str) -> str:
    """A unit as a word: `kilos`."""
    return UNIT_WORDS.get(unit, unit)


def date_verbs(asked: Attribute) -> list[str]:
    """The verbs of a date: `placed` for an order date, `created`."""
    if asked.meaning not in ("date", "datetime"):
        return []
    if asked.label.startswith("date ") and (is_done(asked.label.split()[-1]) or asked.label.split()[-1] in PARTICLES):
        return [asked.label.removeprefix("date ")]
    return data("thesaurus")["date_verbs"].get(asked.label, [])
