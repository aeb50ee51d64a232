"""Requests and answers in English: an intent becomes what a person types, and what a plan proved becomes the answer.

The constructions are in `data/*.toml`. A request's form is the id of its construction, with the persona that asks
behind a plus: `lookup.money/how-much-cost+greeting`.
"""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from mcprl.scenarios.intents import (
    Absent,
    Adjust,
    Both,
    Change,
    Combine,
    Compare,
    Compute,
    Conditional,
    Connected,
    Count,
    Each,
    Extreme,
    Forbidden,
    Intent,
    Lacking,
    Likewise,
    Listing,
    Lookup,
    Missing,
    Relation,
    Scaled,
    Total,
    Unserved,
)
from mcprl.scenarios.wording.answers import answer
from mcprl.scenarios.wording.changes import adjust_options, change_options
from mcprl.scenarios.wording.computes import compute_options, lacking_options, unserved_options
from mcprl.scenarios.wording.conditions import conditional_options
from mcprl.scenarios.wording.extremes import extreme_options
from mcprl.scenarios.wording.groups import (
    combine_options,
    compare_options,
    count_options,
    listing_options,
    total_options,
)
from mcprl.scenarios.wording.links import link_options
from mcprl.scenarios.wording.lookups import each_options, lookup_options, missing_options
from mcprl.scenarios.wording.personas import PLAIN, dress, mood, persona, sentence, small
from mcprl.scenarios.wording.relations import relation_options
from mcprl.scenarios.wording.scaled import likewise_options, scaled_options
from mcprl.scenarios.wording.template import Option, data, fill, in_brackets, options, unmark

__all__ = ["Worded", "answer", "say"]

MAX_LETTERS = 300
_PERSONAS_DRAWN = 3
_IDLE = ("idle", "next", "urgent", "sorry")
"""Personas that have a say before the request: too much before two of them."""
_WRITES = (Absent, Adjust, Change, Conditional, Forbidden, Likewise)
_STORIES = frozenset(
    "before-call quick-check have-here lost-note customer-asks form-to-fill colleague boss not-sure say-quick "
    "looking-at came-up bet decide dont-know form-both heard remind".split()
)
"""Constructions that tell why somebody asks: no part of a message with two requests."""
_ASKS_TO_DO = re.compile(r"(?:can|could|would) you ", re.IGNORECASE)
_OPTIONS = {
    Lookup: lookup_options,
    Missing: missing_options,
    Relation: relation_options,
    Each: each_options,
    Extreme: extreme_options,
    Compare: compare_options,
    Combine: combine_options,
    Scaled: scaled_options,
    Count: count_options,
    Total: total_options,
    Listing: listing_options,
    Connected: link_options,
    Compute: compute_options,
    Change: change_options,
    Adjust: adjust_options,
    Conditional: conditional_options,
    Likewise: likewise_options,
    Lacking: lacking_options,
    Unserved: unserved_options,
    Absent: lambda intent, rng: change_options(intent.change, rng),
    Forbidden: lambda intent, rng: change_options(intent.change, rng),
}


@dataclass(frozen=True)
class Worded:
    """A request and the id of its construction."""

    request: str
    form: str


def say(intent: Intent, rng: random.Random, allowed: Callable[[str], bool]) -> Worded | None:
    """A request for the intent in an allowed form, `None` if there is none. `allowed` gets whole ids."""
    for option in _ranked(intent, rng, allowed):
        names = [*(persona(rng) for _ in range(_PERSONAS_DRAWN)), PLAIN]
        for name in names if not isinstance(intent, Both) else [name for name in names if name not in _IDLE]:
            form = option.form if name == PLAIN else f"{option.form}+{name}"
            if allowed(form) and (request := _request(option, name, rng, intent)):
                return Worded(request, form)
    return None


def _ranked(intent: Intent, rng: random.Random, allowed: Callable[[str], bool]) -> list[Option]:
    """The constructions for an intent in random order, heavy ones first more often."""
    found = (
        _both_options(intent, rng, allowed) if isinstance(intent, Both) else _OPTIONS[type(intent)](intent, rng)  # pyright: ignore[reportArgumentType]
    )
    return sorted(found, key=lambda option: rng.random() ** (1 / option.weight), reverse=True)


def _both_options(intent: Both, rng: random.Random, allowed: Callable[[str], bool]) -> list[Option]:
    """Two requests in one message, each a full sentence in an allowed construction of its own."""
    texts: list[str] = []
    for part in intent.parts:
        ranked = (o for o in _ranked(part, rng, allowed) if o.form.rpartition("/")[2] not in _STORIES)
        options_ = (option for option in ranked if allowed(option.form))
        filled = (fill(rng.choice(option.patterns), option.slots, rng) for option in options_)
        texts += [in_brackets(next((said for text in filled if text and mood(said := sentence(text))), ""))]
    slots = {"first": texts[0], "second": small(texts[1])}
    slots["order"] = small(texts[1]) if mood(texts[1]) == "order" or _ASKS_TO_DO.match(texts[1]) else ""
    return options(data("groups")["both"], "both", slots)


def _request(option: Option, name: str, rng: random.Random, intent: Intent) -> str | None:
    text = fill(rng.choice(option.patterns), option.slots, rng)
    writes, works = isinstance(intent, _WRITES), isinstance(intent, Compute | Lacking | Unserved)
    short = option.form.rpartition("/")[2].startswith(("fragment", "quick-check"))
    dressed = dress(name, text, rng, writes=writes, looks=not works, short=short) if text else None
    request = unmark(dressed) if dressed else ""
    return request if 0 < len(request) <= MAX_LETTERS else None
