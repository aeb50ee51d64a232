"""Requests for a write under a condition: `if O-17 is still open, mark it as paid, otherwise tell me the status`."""

import random
from dataclasses import replace

from mcprl.scenarios.intents import Change, Conditional, Value
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.fields import FINAL
from mcprl.scenarios.wording.modifiers import is_adjective, noun_label, shortened
from mcprl.scenarios.wording.phrases import Phrase, phrase, spoken
from mcprl.scenarios.wording.template import Option, data, options
from mcprl.scenarios.wording.values import STAGES, at_work, quoted, shown


def conditional_options(intent: Conditional, rng: random.Random) -> list[Option]:
    """Requests for a write if a field has a value, and for the field if not."""
    change = intent.change
    if change.thing is None:
        return []
    thing = phrase(change.thing, rng)
    noun = grammar.one(spoken(change.thing.noun))
    condition = replace(intent.condition, attribute=shortened(intent.condition.attribute, noun))
    slots = {
        **thing.slots(),
        "cond": _stated(condition, thing, rng),
        "if_cond": _stated(condition, Phrase(thing.pronoun, thing.pronoun, thing.plural, thing.person), rng),
        "do": _imperative(change, thing.slots()["object"], "", noun, rng),
        "do_it": _imperative(change, thing.text, f" of {thing.text}", noun, rng),
        "ask": rng.choice(("tell me the {}", "just tell me its {}")).format(noun_label(condition.attribute)),
    }
    return options(data("changes")["conditional"], "conditional", slots)


def _stated(condition: Value, thing: Phrase, rng: random.Random) -> str:
    """That the thing has the value: `order O-17 is still open`, `its city is Porto`."""
    attribute = condition.attribute
    be = "are" if thing.plural or thing.person else "is"
    if thing.text not in ("it", "they"):
        be = "are" if thing.plural else "is"
    if attribute.meaning == "flag" and is_adjective(attribute.label):
        return f"{thing.text} {be}{'' if condition.value else ' not'} {attribute.label}"
    text = shown(condition, rng)
    if attribute.meaning == "status":
        still = "" if str(condition.value).lower() in FINAL else rng.choice(("", " still"))
        return f"{thing.text} {be}{still} {at_work(attribute, text) or text}"
    label = noun_label(attribute)
    owner = f"{thing.own} {label}" if thing.text in ("it", "they") else f"the {label} of {thing.text}"
    return f"{owner} {'are' if grammar.is_plural(label) else 'is'} {text}"


def _imperative(change: Change, thing: str, owner: str, noun: str, rng: random.Random) -> str:
    """The write as an order: `mark it as paid`, `set the status of order O-17 to paid`."""
    attribute = shortened(change.values[0].attribute, noun)
    key = attribute.meaning == "identifier"  # the payment method, and not its id
    value = replace(change.values[0], attribute=replace(attribute, label=attribute.label.removesuffix(" id" * key)))
    label, text = f"{noun_label(value.attribute)}{owner}", quoted(value, rng)
    ways = (f"set the {label} to {text}", f"change the {label} to {text}")
    if value.attribute.meaning == "status":
        staged = value.attribute.label.split()[-1] in STAGES
        move = f"move {thing} to {text}" if staged else f"mark {thing} as {text}"
        ways = (f"set {thing} to {text}", move, f"change {thing} to {text}", *ways[:2])
    return rng.choice(ways)
