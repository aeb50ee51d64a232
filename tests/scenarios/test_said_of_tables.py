"""What readers found awkward about stocks, stages, animals and tables, said as people say it."""

import random
import re

import pytest

from mcprl.scenarios import intents
from mcprl.scenarios.intents import Attribute, Intent, Reference, Value
from mcprl.scenarios.probing.values import stranger
from mcprl.scenarios.wording import answer, say


def named(value: str, key: str = "name") -> Value:
    return Value(Attribute(key, key, "name"), value)


def all_said(intent: Intent, persona: str = "") -> list[str]:
    """What thirty seeds say with a persona, by default without one."""
    worded = [say(intent, random.Random(seed), lambda form: form.partition("+")[2] == persona) for seed in range(30)]
    return [one.request for one in worded if one]


BOLT, HINGE = (Reference("part", (named(name),)) for name in ("bolt M6", "hinge"))
STOCK, PRICE = Attribute("stock", "stock", "count"), Attribute("price", "price", "money", "EUR")
STAGES = ("waiting", "cutting", "done")
STAGE = Attribute("stage", "stage", "status", "", STAGES)
DUE = Attribute("due", "due date", "date")
MARA = Value(Attribute("for", "for", "person"), "Mara Lund")
JOB = Reference("job", (Value(Attribute("job", "job", "identifier"), 304),))
HERS = Reference("job", (Value(STAGE, "waiting"), MARA))
SET_CUTTING = intents.Change("set", "", "set", JOB, (Value(STAGE, "cutting"),))
DOG = Value(Attribute("species", "species", "category"), "dog")
WEIGHT, DAY = Attribute("weight_kg", "weight", "measure", "kg"), Attribute("day", "day", "date")
NAME, TYPE = Attribute("name", "name", "name"), Attribute("type", "type", "category")
OWNERS = Value(Attribute("table_name", "table name", "name"), "owners")
PHONE = Reference("column", (named("phone"), OWNERS))
BOOKED = Value(Attribute("status", "status", "status"), "booked")
NUMBER, PAID = Attribute("id", "id", "identifier"), Attribute("paid", "paid", "flag")
INVOICE = Reference("invoice", (Value(NUMBER, 17),))
OLIVE = Reference("animal", (named("Olive"),))
HIRED = Value(Attribute("hired", "hiring date", "date"), "2014-02-01")
SIZE = Attribute("combined_size", "combined size", "text")
FOLDER = Reference("folder", (Value(Attribute("path", "path", "path"), "contracts/archive"),))
ENTRIES = tuple(Reference("entity", (named(name),)) for name in ("Orchard", "Staging server"))
FOUND = Value(Attribute("query", "mention", "name"), "tanaka")


@pytest.mark.parametrize(
    ("intent", "pattern", "never"),
    [
        (intents.Lookup(BOLT, (STOCK,)), "M6 bolt", r"bolt M6|many of the M6 bolt\b"),
        (intents.Scaled(BOLT, STOCK, 3, "less"), "3", "of the M6|bolt M6"),
        (intents.Compare((BOLT, HINGE), STOCK, most=False), "fewer", "less of|M6 bolt\\b"),
        (intents.Lookup(HINGE, (PRICE,)), "hinge", "would some|would a customer"),
        (intents.Lookup(HERS, (DUE,)), "job for Mara Lund that is waiting", "waiting job|waiting (is )?due|is on"),
        (intents.Lookup(JOB, (STAGE,)), "304", "(304|is it|still) cutting"),
        (SET_CUTTING, "cutting", "as cutting|(#304|^Job 304|it) (is|should be)( now)? cutting"),
        (intents.Change("set", "", "set", HERS, (Value(STAGE, "done"),)), "waiting", "is done|is now|should|wrong"),
        (intents.Extreme("animal", (DOG,), WEIGHT, True, (NAME,)), "heaviest", "(show|need|for|'s) the heav|me the"),
        (intents.Extreme("appointment", (BOOKED,), DAY, True, (NUMBER,)), "comes last", "latest"),
        (intents.Count("column", (Value(TYPE, "TEXT"), OWNERS)), "TEXT columns", "type"),
        (intents.Lookup(PHONE, (TYPE,)), "phone column", "type for"),
        (intents.Lookup(INVOICE, (PAID,)), "17", "right now|at the moment"),
        (intents.Relation(OLIVE, ("owner",), (NAME,)), "Olive", "what the name|in front of me|They want"),
        (intents.Change("add_vet", "", "create", None, (named("Ana Ruiz"), HIRED)), ", Ana Ruiz|name", "called|create"),
        (intents.Lookup(FOLDER, (SIZE,)), "archive", "what combined size"),
        (intents.Each(ENTRIES, Attribute("entityType", "entity type", "category")), "Orchard", "types? of"),
        (intents.Listing("entity", (FOUND,), NAME), "tanaka", "anything|everything|where"),
    ],
)  # fmt: skip
def test_it_is_said_as_people_say_it(intent: Intent, pattern: str, never: str) -> None:
    said = all_said(intent)
    assert len({*said}) > 4
    for request in said:
        assert re.search(pattern, request), request
        assert not re.search(never, request, re.IGNORECASE), request


def test_a_fragment_greets_nobody() -> None:
    for request in all_said(intents.Lookup(JOB, (DUE,)), "greeting"):
        assert re.search(r"\b(when|what|what's|which|can|could|would|do|any|tell|give|need|know|find)\b", request, re.I)


def test_while_you_are_at_it_something_is_to_be_done() -> None:
    for request in all_said(intents.Both((intents.Lookup(HINGE, (PRICE,)), intents.Lookup(JOB, (STAGE,))))):
        assert not re.search(r"while you're at it, (what|is|how|do|where|are)", request), request


def test_a_table_that_does_not_exist_might_exist() -> None:
    made = {stranger("owners", random.Random(seed), noun="table") for seed in range(40)}
    assert made & {"suppliers", "payments"}
    assert not made & {"oak", "prairie"}


def test_a_column_and_a_part_are_named_in_answers_as_in_requests() -> None:
    rng = random.Random(0)
    same = (PHONE, Reference("column", (named("id"), OWNERS)))
    assert answer(intents.Each(same, TYPE), ("TEXT", "INTEGER"), rng).startswith("The phone column's type is TEXT")
    assert answer(intents.Compare((BOLT, HINGE), PRICE, most=False), ("hinge",), rng) == "The hinge is cheaper."


def test_whoever_counts_kinds_of_goods_says_so_and_does_not_seem_to_count_the_pieces() -> None:
    assert all("different parts" in request for request in all_said(intents.Count("part", ())))
    assert not any("different" in request for request in all_said(intents.Count("job", ())))
