# ruff: noqa: E501 - rows of data read better on one line
"""Intents about imagined servers: a library, a clinic, a bike rental, a warehouse, a school, git, files, a database."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mcprl.scenarios import intents as say
from mcprl.scenarios.intents import Attribute, Intent, Reference, Value
from mcprl.scenarios.meaning import infer
from mcprl.types import Scalar


@dataclass(frozen=True)
class Domain:
    """A collection of records with the verbs that write it."""

    noun: str
    rows: Sequence[dict[str, Scalar]]
    named_by: str
    key: str
    writes: tuple[tuple[str, str, str], ...] = ()

    def attribute(self, name: str) -> Attribute:
        """The attribute that the column's values suggest."""
        return infer(name, [row[name] for row in self.rows])

    def attributes(self) -> list[Attribute]:
        """All attributes but the key."""
        return [self.attribute(name) for name in self.rows[0] if name != self.key]


DOMAINS = (
    Domain(
        "book",
        [
            {"isbn": "978-1", "title": "The Glass Harbour", "author": "Mara Lind", "year": 2011, "genre": "crime", "copies": 4, "shelf": "C-12", "due_date": "2026-03-09", "language": "English"},
            {"isbn": "978-2", "title": "Winter Bees", "author": "Ola Berg", "year": 1998, "genre": "nature", "copies": 1, "shelf": "N-03", "due_date": "2026-04-01", "language": "Swedish"},
            {"isbn": "978-3", "title": "Salt Roads", "author": "Ines Prado", "year": 2020, "genre": "crime", "copies": 2, "shelf": "C-02", "due_date": "2026-03-21", "language": "English"},
        ],
        "title", "isbn",
        (("renew_loan", "Extends the loan of a book.", "act"), ("remove_book", "Removes a book from the catalogue.", "remove"), ("update_book", "Update a book.", "set"), ("add_book", "Adds a book to the catalogue.", "create")),
    ),
    Domain(
        "appointment",
        [
            {"id": 4411, "patient_name": "Jon Vale", "doctor": "Dr. Amiri", "date": "2026-05-04", "start_time": "14:30", "duration_min": 20, "room": "B2", "status": "confirmed", "reason": "knee pain"},
            {"id": 4412, "patient_name": "Lea Marsh", "doctor": "Dr. Chen", "date": "2026-05-04", "start_time": "09:00", "duration_min": 45, "room": "A1", "status": "cancelled", "reason": "check-up"},
            {"id": 4413, "patient_name": "Tom Reed", "doctor": "Dr. Amiri", "date": "2026-05-06", "start_time": "11:15", "duration_min": 30, "room": "B2", "status": "confirmed", "reason": "vaccination"},
        ],
        "id", "id",
        (("cancel_appointment", "Cancel an appointment.", "remove"), ("update_appointment", "Change an appointment.", "set"), ("book_appointment", "Book a new appointment.", "create")),
    ),
    Domain(
        "bike",
        [
            {"bikeId": "BK-07", "model": "Gravel 3", "frame_size_cm": 54, "hourlyRate": 6.5, "currency": "EUR", "is_available": True, "station": "Old Harbour", "lastService": "2026-01-17", "weight_kg": 11.2},
            {"bikeId": "BK-11", "model": "City Light", "frame_size_cm": 50, "hourlyRate": 4.0, "currency": "EUR", "is_available": False, "station": "Museum", "lastService": "2025-11-02", "weight_kg": 14.9},
        ],
        "bikeId", "bikeId",
        (("return_bike", "Marks a bike as returned.", "act"), ("set_rate", "Sets the hourly rate.", "set")),
    ),
    Domain(
        "product",
        [
            {"sku": "SKU-321", "name": "oak shelf", "unit_price": 35.45, "currency": "EUR", "qty_in_stock": 12, "supplier": "Lumina", "warehouse": "Porto", "category": "furniture", "weight_kg": 8.4},
            {"sku": "SKU-340", "name": "brass lamp", "unit_price": 59.0, "currency": "EUR", "qty_in_stock": 0, "supplier": "Norrlys", "warehouse": "Lyon", "category": "lighting", "weight_kg": 2.1},
        ],
        "name", "sku",
        (("update_product", "Updates a product.", "set"), ("discontinue_product", "Discontinues a product.", "act"), ("create_product", "Creates a product.", "create"), ("delete_product", "Delete a product", "remove")),
    ),
    Domain(
        "order",
        [
            {"order_id": "O-2046", "customer": "Ana Sousa", "placed_on": "2026-03-03", "total": 120.5, "currency": "EUR", "status": "open", "item_count": 3, "ship_to_city": "Porto", "cust_email": "ana@mail.example"},
            {"order_id": "O-2047", "customer": "Ben Ode", "placed_on": "2026-02-11", "total": 18.0, "currency": "EUR", "status": "shipped", "item_count": 1, "ship_to_city": "Lyon", "cust_email": "ben@mail.example"},
        ],
        "order_id", "order_id",
        (("update_order_status", "Sets the status of an order.", "set"), ("cancel_order", "Cancels an order.", "remove"), ("refund_order", "Refunds an order in full.", "act")),
    ),
    Domain(
        "student",
        [
            {"student_no": 1207, "full_name": "Noor Haddad", "class_name": "7B", "birth_date": "2013-08-19", "email": "noor@school.example", "phone": "+44 20 7946 0100", "enrolled": True, "absences": 3, "city": "Leeds"},
            {"student_no": 1210, "full_name": "Max Ott", "class_name": "8A", "birth_date": "2012-02-02", "email": "max@school.example", "phone": "+44 20 7946 0177", "enrolled": False, "absences": 11, "city": "York"},
        ],
        "full_name", "student_no",
        (("update_student", "Update a student's record.", "set"), ("enroll_student", "Adds a student.", "create")),
    ),
    Domain(
        "commit",
        [
            {"hash": "a1b2c3d", "author": "Kim Ito", "authored_at": "2026-02-02T10:20:00Z", "message": "Fix the login form", "files_changed": 3, "insertions": 41},
            {"hash": "9f8e7d6", "author": "Sam Roe", "authored_at": "2026-02-05T16:45:10Z", "message": "Add a dark theme", "files_changed": 9, "insertions": 320},
        ],
        "hash", "hash",
    ),
    Domain(
        "file",
        [
            {"path": "notes/todo.txt", "size_bytes": 812, "modified": "2026-06-01", "type": "text", "owner": "root"},
            {"path": "src/app.py", "size_bytes": 20480, "modified": "2026-06-11", "type": "code", "owner": "kim"},
        ],
        "path", "path",
        (("delete_file", "Delete a file.", "remove"), ("write_file", "Write text to a file.", "set")),
    ),
    Domain(
        "issue",
        [
            {"number": 17, "title": "Login fails on Safari", "state": "open", "priority": "high", "assignee": "Kim Ito", "comments_count": 4, "created_at": "2026-01-09", "url": "https://git.example/i/17"},
            {"number": 23, "title": "Typos in the manual", "state": "closed", "priority": "low", "assignee": "Sam Roe", "comments_count": 0, "created_at": "2026-01-29", "url": "https://git.example/i/23"},
        ],
        "number", "number",
        (("close_issue", "Closes an issue.", "act"), ("assign_issue", "Assigns an issue.", "set"), ("create_issue", "Create a new issue.", "create"), ("add_comment", "Adds a comment to an issue.", "create")),
    ),
)  # fmt: skip

COMPUTED = (
    ("add", "Adds two numbers together", {"a": 12, "b": 30}),
    ("echo", "Echoes back the input string", {"message": "blue door"}),
    ("convert_time", "Convert time between timezones", {"source_timezone": "Europe/Oslo", "time": "14:00", "target_timezone": "Asia/Tokyo"}),
    ("get_current_time", "Get current time in a specific timezone", {"timezone": "America/Lima"}),
    ("convert_currency", "Converts an amount from one currency to another.", {"amount": 80, "from_currency": "EUR", "to_currency": "CHF"}),
    ("get_forecast", "Get the weather forecast for a city", {"city": "Bergen", "days": 3}),
    ("reverse_text", "Reverse the given text", {"text": "stone bridge"}),
    ("git_status", "Shows the working tree status", {}),
    ("search_notes", "Search notes by keyword", {"query": "garden"}),
    ("plan_route", "Plan a route between two stops", {"from_stop": "Elm Street", "to_stop": "Harbour"}),
)  # fmt: skip


def value(domain: Domain, name: str, row: dict[str, Scalar]) -> Value:
    """A row's value with its attribute."""
    currency = {"currency": row["currency"]} if "currency" in row else {}
    return Value(infer(name, [one[name] for one in domain.rows], "", currency), row[name])


def reference(domain: Domain, row: dict[str, Scalar], rng: random.Random) -> Reference:
    """The row by its key, its name or a description."""
    way = rng.random()
    if way < 0.4:
        return Reference(domain.noun, (value(domain, domain.key, row),))
    if way < 0.75:
        return Reference(domain.noun, (value(domain, domain.named_by, row),))
    others = [name for name in row if name not in (domain.key, domain.named_by, "currency", "url")]
    others = [name for name in others if not (isinstance(row[name], str) and len(str(row[name])) > 25)]
    return Reference(domain.noun, tuple(value(domain, name, row) for name in rng.sample(others, rng.choice((1, 2)))))


def random_intent(rng: random.Random, domains: Sequence[Domain] = DOMAINS) -> Intent:
    """An intent of any kind about any of the domains."""
    domain = rng.choice(domains)
    return rng.choice(_MAKERS)(domain, rng)


def _asked(domain: Domain, rng: random.Random, avoid: Reference | None = None) -> Attribute:
    keys = {one.attribute.key for one in avoid.values} if avoid else set[str]()
    row = domain.rows[0]
    names = [name for name in row if name not in (domain.key, domain.named_by, "currency") and name not in keys]
    return value(domain, rng.choice(names), row).attribute


def _lookup(domain: Domain, rng: random.Random) -> Intent:
    thing = reference(domain, rng.choice(domain.rows), rng)
    first = _asked(domain, rng, thing)
    second = _asked(domain, rng, thing)
    return say.Lookup(thing, (first, second) if rng.random() < 0.25 and first != second else (first,))


def _each(domain: Domain, rng: random.Random) -> Intent:
    things = tuple(Reference(domain.noun, (value(domain, domain.key, row),)) for row in domain.rows[:2])
    return say.Each(things, _asked(domain, rng))


def _ordered(domain: Domain, rng: random.Random) -> Attribute:
    fitting = [
        one
        for one in domain.attributes()
        if one.meaning in ("money", "count", "measure", "date", "datetime", "year", "duration")
    ]
    return rng.choice(fitting)


def _compare(domain: Domain, rng: random.Random) -> Intent:
    things = tuple(Reference(domain.noun, (value(domain, domain.key, row),)) for row in domain.rows)
    return say.Compare(things, _ordered(domain, rng), rng.random() < 0.5)


def _where(domain: Domain, rng: random.Random) -> tuple[Value, ...]:
    row = rng.choice(domain.rows)
    names = [
        name
        for name in row
        if value(domain, name, row).attribute.meaning in ("person", "category", "status", "place", "date", "flag")
    ]
    names = [name for name in names if name != "currency"]
    return tuple(value(domain, name, row) for name in rng.sample(names, min(len(names), rng.choice((0, 1, 1, 2)))))


def _count(domain: Domain, rng: random.Random) -> Intent:
    return say.Count(domain.noun, _where(domain, rng))


def _total(domain: Domain, rng: random.Random) -> Intent:
    fitting = [one for one in domain.attributes() if one.meaning in ("money", "count", "measure", "duration")]
    return say.Total(domain.noun, _where(domain, rng), rng.choice(fitting), rng.choice(("sum", "average")))


def _extreme(domain: Domain, rng: random.Random) -> Intent:
    asked = domain.attribute(domain.named_by) if rng.random() < 0.5 else _asked(domain, rng)
    where = tuple(one for one in _where(domain, rng) if one.attribute.key != asked.key)
    return say.Extreme(domain.noun, where, _ordered(domain, rng), rng.random() < 0.5, (asked,))


def _listing(domain: Domain, rng: random.Random) -> Intent:
    return say.Listing(domain.noun, _where(domain, rng), domain.attribute(domain.named_by))


def _missing(domain: Domain, rng: random.Random) -> Intent:
    thing = Reference(domain.noun, (value(domain, domain.key, domain.rows[0]),))
    return say.Missing(thing, _asked(domain, rng) if rng.random() < 0.7 else None)


def _relation(domain: Domain, rng: random.Random) -> Intent:
    order, customer = DOMAINS[4], DOMAINS[5]
    start = reference(order, rng.choice(order.rows), rng)
    return say.Relation(start, ("customer",), (_asked(customer, rng),))


def _compute(domain: Domain, rng: random.Random) -> Intent:
    tool, description, arguments = rng.choice(COMPUTED)
    values = tuple(Value(infer(name, [one]), one) for name, one in arguments.items())
    return say.Compute(tool, description, values)


def _change(domain: Domain, rng: random.Random) -> Intent:
    domain = rng.choice([one for one in DOMAINS if one.writes])
    tool, description, effect = rng.choice(domain.writes)
    row, other = rng.sample(list(domain.rows), 2)
    names = [name for name in row if name not in (domain.key, "currency", "authored_at")]
    if effect == "create":
        values = tuple(value(domain, name, row) for name in rng.sample(names, min(3, len(names))))
        return say.Change(tool, description, "create", Reference(domain.noun), values)
    thing = Reference(domain.noun, (value(domain, rng.choice((domain.key, domain.named_by)), row),))
    if effect == "set":
        keys = [name for name in names if name != domain.named_by]
        chosen = rng.sample(keys, 2 if rng.random() < 0.2 else 1)
        return say.Change(tool, description, "set", thing, tuple(value(domain, name, other) for name in chosen))
    return say.Change(tool, description, "remove" if effect == "remove" else "act", thing)


def _adjust(domain: Domain, rng: random.Random) -> Intent:
    domain = DOMAINS[3]
    thing = reference(domain, domain.rows[0], rng)
    by = rng.choice((5, -2, 20))
    return say.Adjust("set_stock", "Sets the stock.", thing, domain.attribute("qty_in_stock"), by, 12 + by)


def _lacking(domain: Domain, rng: random.Random) -> Intent:
    if rng.random() < 0.4:
        change = _change(domain, rng)
        assert isinstance(change, say.Change)
        if change.values and change.thing is not None:
            return say.Lacking(change, change.values[0].attribute)
        if change.thing is not None:
            return say.Lacking(change, change.thing.values[0].attribute)
    return say.Lacking(say.Lookup(Reference(domain.noun), (_asked(domain, rng),)), domain.attribute(domain.key))


def _unserved(domain: Domain, rng: random.Random) -> Intent:
    return say.Unserved((domain.noun,))


_MAKERS: tuple[Callable[[Domain, random.Random], Intent], ...] = (
    _lookup, _lookup, _lookup, _lookup, _lookup, _lookup, _change, _change, _change, _each, _compare, _count, _total, _extreme, _listing,
    _missing, _relation, _compute, _compute, _adjust, _lacking, _unserved,
)  # fmt: skip
