"""Questions that take a number of the request and one of a result: what twelve cost, what is left of a budget."""

import math
from collections.abc import Set
from functools import partial

from mcprl.scenarios.english import grammar
from mcprl.scenarios.english.nouns import is_deal, is_goods, is_person, spoken
from mcprl.scenarios.intents import Reference, Scaled
from mcprl.scenarios.kinds.rows import STOCKS
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.steps import Field, Grounded
from mcprl.types import Session

_PRICES = frozenset("price fare".split())
_CHARGES = frozenset("cost fee rate".split())  # a price of what is sold; of a role or a case nobody takes 5 % off


async def scaled(planner: Planner, session: Session, state: State) -> Grounded | None:
    """What a number of things cost, a price with a percentage off, what a purchase leaves of a budget, how many things
    are left or short of a number."""
    found = await planner.finder.thing(session, state)
    noun = grammar.one(spoken(found.reference.noun)) if found else ""
    if found is None or is_deal(noun) or is_person(noun):
        return None
    prices = _PRICES | _CHARGES if is_goods(noun) else _PRICES
    fields = planner.choice.fields(found, 1, partial(_is_scalable, prices))
    value = fields[0].value if fields else None
    if not isinstance(value, int | float):
        return None
    intent, result = _drawn(planner, found.reference, fields[0], value)
    asked = Field(fields[0].attribute, result, (value, intent.amount), derived=True)
    return planner.question("scaled", intent, found.plan, [asked], state, found.entities)


def _is_scalable(prices: Set[str], field: Field) -> bool:
    named = {*field.attribute.label.split()}
    number = isinstance(field.value, int | float) and not isinstance(field.value, bool) and field.value > 2
    price = field.attribute.meaning == "money" and bool(named & prices)
    stock = field.attribute.meaning == "count" and bool(named & STOCKS) and isinstance(field.value, int)
    return number and not field.live and (price or stock)


def _drawn(planner: Planner, thing: Reference, field: Field, value: int | float) -> tuple[Scaled, int | float]:
    """An intent with a number that a person would say, and its result."""
    rng, of = planner.rng, field.attribute
    if of.meaning == "count":
        how = rng.choice(("less", "short")) if isinstance(value, int) and value > 3 else "short"
        if how == "less":
            amount = rng.randint(2, int(value) - 1)
            return Scaled(thing, of, amount, "less"), value - amount
        amount = int(value) + rng.randint(2, 30)
        return Scaled(thing, of, amount, "short"), amount - value
    bought = of.label == "price" or is_goods(grammar.one(spoken(thing.noun)))
    match rng.choice(("times", "times", "off", "change") if bought else ("off", "change")):
        case "times":
            amount = rng.choice((2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30))
            return Scaled(thing, of, amount, "times"), round(amount * value, 2)
        case "off":
            amount = rng.choice((5, 10, 15, 20, 25, 30))
            return Scaled(thing, of, amount, "off"), round(value * (100 - amount) / 100, 2)
        case _:
            step = 10 if value < 80 else 50 if value < 400 else 100
            amount = step * (math.floor(value / step) + rng.randint(1, 3))
            return Scaled(thing, of, amount, "change"), round(amount - value, 2)
