"""Requests to change what stands in a document: they say the new text as it is to be written."""

import random

from mcprl.scenarios.intents import Change
from mcprl.scenarios.wording.fields import label_slots
from mcprl.scenarios.wording.phrases import phrase
from mcprl.scenarios.wording.template import Option, data, mark, options
from mcprl.scenarios.wording.values import plain, quoted, shown


def edit_options(intent: Change, rng: random.Random) -> list[Option]:
    """Requests to edit a value of a document, to append a line to it, or to tick a point off."""
    slots = phrase(intent.thing, rng).slots() if intent.thing else {}
    if intent.effect == "tick" or not intent.values:
        return options(data("changes")["tick"], "change.tick", slots)
    value = intent.values[0]
    if intent.effect == "append":
        return options(data("changes")["append"], "change.append", {**slots, "q": quoted(value, rng)})
    slots["joint"] = "of" if intent.thing and len(intent.thing.values) > 1 else "in"  # of a row, in a document
    dated = value.attribute.meaning in ("date", "datetime")
    slots |= label_slots(value.attribute, rng) | {"v": shown(value, rng) if dated else mark(plain(value.value))}
    by_path = any(named.attribute.meaning == "path" for named in (intent.thing.values if intent.thing else ()))
    tables = ["edit"] if value.attribute.meaning != "status" or by_path else ["edit_status", "edit"]  # no file is open
    return [option for name in tables for option in options(data("changes")[name], f"change.{name}", slots)]
