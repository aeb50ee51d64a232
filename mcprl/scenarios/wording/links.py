"""Questions about named relations: who works on the project, what does Ana manage."""

import random

from mcprl.scenarios.intents import Connected
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.template import Option, data, mark, options
from mcprl.text import words


def link_options(intent: Connected, rng: random.Random) -> list[Option]:
    """Requests for the other end of a relation."""
    head, *rest = words(intent.verb)
    tail = " ".join(rest)
    if intent.subject is None:
        slots = {"verb": " ".join([head, *rest]), "it": mark(str(intent.object))}
        return options(data("groups")["link_to"], "link.to", slots)
    it = mark(intent.subject)
    if head == "is":
        slots = {"ask": f"what is {it} {tail}".strip(), "clause": f"what {it} is {tail}".strip(), "it": it}
    else:
        base = grammar.infinitive(head)
        slots = {
            "ask": f"what does {it} {base} {tail}".strip(),
            "clause": f"what {it} {head} {tail}".strip(),
            "it": it,
        }
    return options(data("groups")["link_from"], "link.from", slots)
