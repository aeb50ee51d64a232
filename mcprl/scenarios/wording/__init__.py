"""Requests and answers in English: an intent becomes what a person types, and what a plan proved becomes the answer.

The constructions are in `data/*.toml`. A request's form is the id of its construction, with the persona that asks
behind a plus: `lookup.money/how-much-cost+greeting`.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

from mcprl.scenarios.intents import (
    Adjust,
    Change,
    Compare,
    Compute,
    Connected,
    Count,
    Each,
    Extreme,
    Intent,
    Lacking,
    Listing,
    Lookup,
    Missing,
    Relation,
    Total,
    Unserved,
)
from mcprl.scenarios.wording.answers import answer
from mcprl.scenarios.wording.changes import adjust_options, change_options
from mcprl.scenarios.wording.computes import compute_options, lacking_options, unserved_options
from mcprl.scenarios.wording.extremes import extreme_options
from mcprl.scenarios.wording.groups import compare_options, count_options, listing_options, total_options
from mcprl.scenarios.wording.links import link_options
from mcprl.scenarios.wording.lookups import each_options, lookup_options, missing_options, relation_options
from mcprl.scenarios.wording.personas import PLAIN, dress, persona
from mcprl.scenarios.wording.template import Option, fill, unmark

__all__ = ["Worded", "answer", "say"]

MAX_LETTERS = 300
_PERSONAS_DRAWN = 3
_OPTIONS = {
    Lookup: lookup_options,
    Missing: missing_options,
    Relation: relation_options,
    Each: each_options,
    Extreme: extreme_options,
    Compare: compare_options,
    Count: count_options,
    Total: total_options,
    Listing: listing_options,
    Connected: link_options,
    Compute: compute_options,
    Change: change_options,
    Adjust: adjust_options,
    Lacking: lacking_options,
    Unserved: unserved_options,
}


@dataclass(frozen=True)
class Worded:
    """A request and the id of its construction."""

    request: str
    form: str


def say(intent: Intent, rng: random.Random, allowed: Callable[[str], bool]) -> Worded | None:
    """A request for the intent in an allowed form, `None` if there is none. `allowed` gets whole ids."""
    found: list[Option] = _OPTIONS[type(intent)](intent, rng)  # pyright: ignore[reportArgumentType]
    ranked = sorted(found, key=lambda option: rng.random() ** (1 / option.weight), reverse=True)
    for option in ranked:
        for name in [*(persona(rng) for _ in range(_PERSONAS_DRAWN)), PLAIN]:
            form = option.form if name == PLAIN else f"{option.form}+{name}"
            if allowed(form) and (request := _request(option, name, rng)):
                return Worded(request, form)
    return None


def _request(option: Option, name: str, rng: random.Random) -> str | None:
    text = fill(rng.choice(option.patterns), option.slots, rng)
    if text is None:
        return None
    request = unmark(dress(name, text, rng))
    return request if len(request) <= MAX_LETTERS else None
