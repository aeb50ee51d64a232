"""Questions about groups: counts, totals, lists, and which of several things has the most."""

import random
from dataclasses import replace

from mcprl.scenarios.intents import Combine, Compare, Count, Listing, Total
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.degrees import degree
from mcprl.scenarios.wording.lookups import label_slots
from mcprl.scenarios.wording.modifiers import in_full, noun_label
from mcprl.scenarios.wording.phrases import alike, definite, group, spoken
from mcprl.scenarios.wording.template import Option, data, options

_BILLED = ("price", "cost", "fee", "fare", "rent", "charge", "amount")


def count_options(intent: Count, rng: random.Random) -> list[Option]:
    """Requests for the number of things."""
    return options(data("groups")["count"], "count", {"group": group(intent.noun, intent.where, rng).text})


def total_options(intent: Total, rng: random.Random) -> list[Option]:
    """Requests for a sum or an average."""
    things = group(intent.noun, intent.where, rng)
    one = group(intent.noun, intent.where, rng, more=False)
    slots = {**label_slots(intent.of, rng), "group": things.text, "the_group": definite(things.text), "is": "is"}
    slots["a_one"] = grammar.a(one.text) if "\x03's" not in one.text else f"one of {definite(things.text)}"
    how = intent.how
    if how == "sum" and slots["label"].startswith("total "):
        slots["label"] = slots["label"].removeprefix("total ")
    if slots["label"] == "total":
        slots["label"] = "total amount" if how == "average" else "amount"
    found = options(data("groups")[how], how, slots)
    if intent.of.meaning == "money":
        found += options(data("groups")[f"{how}_money"], f"{how}.money", slots)
    return found


def listing_options(intent: Listing, rng: random.Random) -> list[Option]:
    """Requests for all things with some values."""
    asked = intent.asked
    asked = replace(asked, label=asked.label.removeprefix(f"{grammar.one(spoken(intent.noun))} "))
    slots = {**label_slots(asked, rng), "group": group(intent.noun, intent.where, rng).text}
    # Files are listed by their names, not the files of the files.
    own = intent.asked.label == intent.noun.split()[-1]
    found = [] if own else options(data("groups")["listing_of"], "listing.of", slots)
    if own or intent.asked.meaning in ("name", "identifier", "path"):
        found += options(data("groups")["listing"], "listing", slots, weight=1.6)
    return found


def compare_options(intent: Compare, rng: random.Random) -> list[Option]:
    """Requests for the thing of several that has the most or least of a field."""
    things = [thing.text for thing in alike(intent.things, rng)]
    more, most = degree(intent.by, intent.most)
    counted = intent.by.meaning == "count" and grammar.is_plural(in_full(intent.by))
    label = in_full(intent.by)
    slots = {
        "things": grammar.listed(things, "or"),
        "all": grammar.listed(things),
        "pair": grammar.listed(things),
        "first": things[0],
        "last": things[-1] if len(things) == 2 else "",
        "more": more if len(things) == 2 else "",
        "rank": f"the {most}" if most else "",
        "height": _height(counted, intent.most, len(things) == 2),
        "higher": ("higher" if intent.most else "lower") if len(things) == 2 and not counted else "",
        "what": label,
        "label": label,
    }
    if not most:
        return options(data("groups")["compare_has"], "compare.has", slots)
    found = options(data("groups")["compare_most"], "compare.most", slots)
    if len(things) == 2:
        found = options(data("groups")["compare_word"], "compare.word", slots)
    if intent.by.meaning in ("date", "datetime", "year"):
        return found
    return found + options(data("groups")["compare_has"], "compare.has", slots, weight=0.2)


def _height(counted: bool, most: bool, two: bool) -> str:
    if counted:
        return ("more" if most else "fewer") if two else ("the most" if most else "the fewest")
    return f"the {'highest' if most else 'lowest'}" if not two else f"the {'higher' if most else 'lower'}"


def combine_options(intent: Combine, rng: random.Random) -> list[Option]:
    """Requests for the sum or the difference of two things' fields."""
    label = in_full(intent.of)
    slots = {"pair": grammar.listed([thing.text for thing in alike(intent.things, rng)]), "label": label}
    if intent.how == "difference":
        slots["label"] = noun_label(intent.of)
        return options(data("groups")["combine_difference"], "combine.difference", slots)
    if intent.of.meaning == "money" and label.split()[-1] in _BILLED:
        return options(data("groups")["combine_sum_money"], "combine.cost", slots)
    if intent.of.meaning == "count" and grammar.is_plural(label):
        return options(data("groups")["combine_sum_count"], "combine.count", slots)
    return options(data("groups")["combine_sum"], "combine.sum", {**slots, "label": noun_label(intent.of)})
