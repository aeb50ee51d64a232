"""How far a write takes a status, by the order in which the tool lists them: open, paid, shipped, delivered."""

from mcprl.scenarios.fields import scalars
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Filled
from mcprl.text import stems
from mcprl.types import Json, Scalar

FINAL = frozenset(
    (
        "done processed shipped closed cancelled canceled delivered completed finished resolved refunded returned paid "
        "merged sold"
    ).split()
)
"""States in which nothing is for a time only."""


def steps_on(planner: Planner, slot: Slot, now: Scalar, value: Scalar) -> int | None:
    """How many steps further a value of the slot is than the value now. `None` if the slot's values have no order, as a
    list by the alphabet has none."""
    order = [str(choice) for choice in planner.catalog.slot(slot).choices]
    if order == sorted(order) or not {str(now), str(value)} <= {*order}:
        return None
    return order.index(str(value)) - order.index(str(now))


def reopens(planner: Planner, filled: Filled, record: Json) -> bool:
    """Whether a write takes the thing of a record back from a final status: nobody asks to pay what is delivered."""
    for slot, value in filled:
        for path, now in scalars(record):
            is_final = str(now).lower() in FINAL and stems(path[-1]) == stems(slot.key)
            if is_final and (steps_on(planner, slot, now, value) or 0) < 0:
                return True
    return False
