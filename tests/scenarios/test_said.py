"""What readers of generated tasks found awkward, said as people say it: each case is one that was read as awkward."""

import random
import re
from dataclasses import replace

import pytest

from mcprl.scenarios import intents
from mcprl.scenarios.beside import with_another
from mcprl.scenarios.fields import is_answer, truth
from mcprl.scenarios.intents import Attribute, Intent, Reference, Value
from mcprl.scenarios.meaning import infer
from mcprl.scenarios.probing.records import Records
from mcprl.scenarios.probing.values import stranger
from mcprl.scenarios.readers import read_text
from mcprl.scenarios.wording import Worded, answer, say
from mcprl.scenarios.wording.clocks import as_asked
from mcprl.scenarios.wording.personas import mood
from mcprl.scenarios.wording.template import data
from mcprl.scenarios.wording.values import forms
from mcprl.types import Call


def named(value: str, key: str = "name") -> Value:
    return Value(Attribute(key, key, "name"), value)


def all_said(intent: Intent) -> list[str]:
    """What thirty seeds say without a persona."""
    worded = [say(intent, random.Random(seed), lambda form: "+" not in form) for seed in range(30)]
    return [one.request for one in worded if one]


SINCE = Value(Attribute("target", "target", "identifier"), "d2861432")
DOCUMENT = Value(Attribute("file", "file", "path"), "docs/season.md")
LINES = Attribute("added", "added lines", "count")
SORT = Attribute("entityType", "entity type", "category")
NOTE = Value(Attribute("contents", "contents", "text"), "has 5 desks")
JOINED = Attribute("since", "since", "year")
FARID = Value(Attribute("insight", "insight", "text"), "Farid is away")
SHIPPED = Value(Attribute("status", "status", "status"), "delivered")
OWNER = Value(Attribute("customer_id", "customer number", "identifier"), "C-1032")
STAGE = Attribute("stage", "stage", "status")
JOB = Reference("job", (Value(Attribute("job", "job", "identifier"), 304),))
FRAME = Reference("part", (named("window frame"),))
SEALANT = Reference("part", (named("sealant"),))
UNITS = Attribute("units", "units", "count")
FILE = Attribute("file", "file", "path")
PRICE = Attribute("price", "price", "money")
STOCK = Attribute("stock", "stock", "count")
BOOKING = Reference("reservation", (Value(Attribute("reservation_id", "reservation", "identifier"), "WOQA9Q"),))
CATEGORY = Attribute("category", "category", "category")
MAIL = Attribute("email", "email", "email")
IN_ORDER = Value(Attribute("order_id", "order number", "identifier"), "O-1")
TIER = Attribute("membership", "membership", "category")
USER = Value(Attribute("user_id", "user id", "identifier"), "omar_1241")
OWNER_36 = Reference("owner", (Value(Attribute("id", "id", "identifier"), 36),))
TOWN = Attribute("town", "town", "place")
LEASE = Reference("file", (Value(Attribute("path", "path", "path"), "contracts/lease.txt"),))
LANDLORD = Attribute("landlord", "landlord", "person")
CUSTOMER = Attribute("customer", "customer", "person")
ULLA = Reference("animal", (named("Ulla"),))
PHONE = Attribute("phone", "phone", "phone")
LABRADOR = Value(Attribute("breed", "breed", "category"), "Labrador")
SIAMESE = Value(Attribute("breed", "breed", "category"), "Siamese")
COMMIT = Reference("commit", (Value(Attribute("revision", "revision", "identifier"), "d2861432"),))
DATE = Attribute("date", "date", "date")
MAILED = Reference("user", (Value(Attribute("email", "email", "email"), "ana@mail.example"),))
FLIGHT = Reference("flight", (Value(Attribute("flight_number", "flight number", "identifier"), "HAT086"),))
STATUS = Attribute("status", "flight status", "status")
CITY = Reference("city", (Value(Attribute("city", "city", "place"), "Chicago"),))
HUMIDITY = Attribute("humidity", "humidity", "percent")
CODE = Attribute("job", "job number", "identifier")
WAITING = Reference("job", (Value(Attribute("stage", "stage", "status"), "waiting"),))
AMOUNT = Value(Attribute("amount", "amount", "money"), 120)
CABIN = Value(Attribute("cabin", "cabin", "text", "", ("business", "basic_economy")), "basic_economy")
PAYMENT = Value(Attribute("payment_id", "payment id", "identifier"), "card_77")
ZONE = Value(Attribute("timezone", "time zone", "category"), "Europe/Lisbon")
CLOCK = Attribute("time", "time", "time")
WAY = tuple(Value(Attribute(key, key, "place"), place) for key, place in (("origin", "SEA"), ("destination", "JFK")))
SORTED = (
    Value(Attribute("resourceType", "resource type", "category"), "Text"),
    Value(Attribute("resourceId", "resource number", "identifier"), 7),
)
SHELF = Attribute("shelf", "shelf", "place")
PRODUCTS = tuple(Reference("product", (Value(Attribute("sku", "SKU", "identifier"), code),)) for code in ("S-1", "S-2"))
CUSTOMERS = tuple(Reference("customer", (replace(OWNER, value=code),)) for code in ("C-1", "C-2"))
ORDERS = tuple(
    Reference("order", (Value(Attribute("order_id", "order number", "identifier"), code),)) for code in ("O-1", "O-2")
)
COLUMN = Reference("column", (named("paid"), Value(Attribute("table_name", "table name", "name"), "invoices")))
BORN = Attribute("hired", "hiring date", "date")
RUG = tuple(
    Reference("product", (named(name), Value(Attribute("category", "category", "category"), "textiles")))
    for name in ("Cobalt Rug", "Oak Blanket")
)
OF_PRODUCT = Value(Attribute("product_id", "product number", "identifier"), "6942297802")
TRIP = Attribute("flight_type", "flight type", "category", "", ("one_way", "round_trip"))
CARDS = Value(Attribute("source", "source", "category"), "gift_card")
IN_ADDRESS = Attribute("city", "city in the address", "place")
ITEM = Value(Attribute("item_ids", "item number", "identifier"), "I-9")
SUMMARY = Value(Attribute("summary", "summary", "text"), "Hugo Novak would like a call back")
CHEAPEST = Reference("item", (OF_PRODUCT,), intents.Top(PRICE, most=False))
COLOUR = Attribute("color", "color", "category")
AVAILABLE = Attribute("available", "available", "flag")
ORDERED = Value(Attribute("customer_id", "customer number", "identifier"), "C-1018")
ITEM_ID = Attribute("item_id", "item number", "identifier")
RESERVATION = Attribute("reservation_id", "reservation id", "identifier")


@pytest.mark.parametrize(
    ("intent", "pattern", "never"),
    [
        (intents.Connected("sits_in", "Marek", None), r"where (does )?Marek sits?", "what"),
        (intents.Connected("manages", None, "Orchard"), r"who (was it that )?manages Orchard", "who or what"),
        (intents.Count("changed file", (SINCE,)), r"since commit d2861432", "files changed since .* are there"),
        (intents.Lookup(Reference("changed file", (DOCUMENT, SINCE)), (LINES,)), r"since commit d2861432", "compared"),
        (intents.Lookup(Reference("entity", (named("Orchard"),)), (SORT,)), r"Orchard", r"what is Orchard\b|entity"),
        (intents.Lookup(Reference("unstaged file", (DOCUMENT,)), (LINES,)), r"season.md in the unstaged", "number of"),
        (intents.Lookup(Reference("customer", (OWNER,)), (JOINED,)), r"C-1032", "starting year|joining year"),
        (intents.Change("append_insight", "Add it.", "create", None, (FARID,)), r"insight", "that says|I'd like an"),
        (
            intents.Change("set_status", "", "set", Reference("order", (OWNER,)), (SHIPPED,)),
            "C-1032",
            "got to the customer",
        ),
        (intents.Lookup(FRAME, (STOCK,)), "window frame", r"many of the window frame\b"),
        (intents.Lookup(FRAME, (STOCK, PRICE)), "window frame", r"many of the window frames?\b"),
        (intents.Scaled(FRAME, STOCK, 3, "less"), "window frame", r"of the window frame\b"),
        (intents.Scaled(FRAME, STOCK, 40, "short"), "40", "stock .* up to|get in so that"),
        (intents.Compare((FRAME, SEALANT), STOCK, True), "more", "higher stock"),
        (intents.Compare((FRAME, SEALANT), UNITS, True), "more", "higher stock"),
        (intents.Combine((FRAME, SEALANT), PRICE, "difference"), "price", "does the price|price of .* differ|gap"),
        (intents.Extreme("changed file", (SINCE,), LINES, True, (FILE,)), "lines added", "most added lines"),
        (intents.Relation(BOOKING, ("user",), (TIER,)), "customer", "what the membership"),
        (intents.Lookup(JOB, (STAGE,)), "304", r"stage (it|job|does|has)|have|\bhas\b"),
        (intents.Listing("reservation", (USER,), RESERVATION), "omar_1241", "we have|do we|have we"),
        (intents.Lookup(OWNER_36, (TOWN,)), r"live in|lives in|which town", "town of|town for"),
        (intents.Lookup(LEASE, (LANDLORD,)), "landlord", "the file|landlord (of|for)|'s landlord|what"),
        (intents.Lookup(JOB, (CUSTOMER,)), "304", r"placed|what('s| is) the customer"),
        (intents.Relation(ULLA, ("owner",), (PHONE,)), "owner", "goes with|about Ulla|number to call of"),
        (intents.Relation(BOOKING, ("user",), (TOWN,)), "customer", "the town|customer (of|behind)"),
        (intents.Count("animal", (LABRADOR,)), "Labradors", "breed|animal"),
        (intents.Count("animal", (SIAMESE,)), r"Siamese\b", "breed|animal"),
        (intents.Lookup(COMMIT, (DATE,)), "d2861432", "what date is on|commit date of commit|when is"),
        (intents.Lookup(JOB, (DATE,)), "304", r"when is|what date is (it |job [^ ]*\b)?on"),
        (intents.Missing(MAILED, None), "the user", "exist"),
        (intents.Lookup(FLIGHT, (STATUS,)), "HAT086", "doing|coming along|happened|became"),
        (intents.Lookup(CITY, (HUMIDITY,)), "Chicago", "humidity of|in percent"),
        (intents.Each((CITY, CITY), HUMIDITY), "Chicago", "humidities|that of"),
        (intents.Each((MAILED, MAILED), PHONE), "the user", "of with|for with|and with"),
        (intents.Lookup(BOOKING, (USER.attribute,)), "WOQA9Q", "user id of"),
        (intents.Lookup(WAITING, (CODE,)), "job that is waiting", "job number|job have"),
        (intents.Connected("runs_on", None, "Staging server"), "the Staging server", "do you know, please"),
        (intents.Change("delete_it", "", "remove", Reference("entity", (named("Ana"),))), "Ana", "rid of|made|gone"),
        (intents.Change("create_item", "", "create", None, (named("Apollo"), NOTE)), "Apollo", "make|down|I'd like"),
        (intents.Change("send_voucher", "", "create", Reference("user", (USER,)), (AMOUNT,)), "omar_1241", r"\badd\b"),
        (intents.Change("update_order", "", "set", BOOKING, (CABIN, PAYMENT)), "basic economy", "payment|c_e"),
        (intents.Compute("get_time", "Get the time in a zone.", (ZONE,), (CLOCK,)), "time", "they have"),
        (intents.Compute("search_flights", "Search for direct flights.", WAY), "direct flights", r"search from"),
        (intents.Lookup(PRODUCTS[0], (SHELF,)), "S-1", r"the shelf|shelf (of|for)"),
        (intents.Lookup(ORDERS[0], (Attribute("quantity", "quantity", "count"),)), "O-1", "quantit|pieces (of|for)"),
        (intents.Missing(Reference("table", (named("shadow"),)), None), "table", "anything on|record|know about"),
        (intents.Lookup(COLUMN, (SORT,)), "the paid column", "column paid|of the table"),
        (intents.Compare(CUSTOMERS, JOINED, True), "C-1", "which of"),
        (intents.Each(PRODUCTS, Attribute("supplier", "supplier", "category")), "S-2", "the supplier of S-1 and"),
        (intents.Lookup(Reference("animal", (named("Ruby"),)), (PHONE,)), "Ruby", "animal"),
        (
            intents.Likewise(intents.Change("set_status", "", "set", ORDERS[0], (SHIPPED,)), ORDERS[1]),
            "O-2",
            "copy|bring",
        ),
        (
            intents.Change("update", "", "set", ULLA, (Value(BORN, "2014-02-01"),)),
            "hiring date",
            r"(is|are) \S+ (\S+ )*now|new hiring",
        ),
        (intents.Compute("get_reference", "Get a resource reference.", SORTED), "text resource 7", "type|check"),
        (intents.Lookup(RUG[0], (SHELF,)), r"Rug \(textiles\)", "category"),
        (intents.Each(RUG, SHELF), r"Blanket \(textiles\)", r"category|Rug \("),
        (intents.Lookup(PRODUCTS[0], (CATEGORY,)), "S-1", "category .*(have|has)"),
        (intents.Count("item", (OF_PRODUCT,)), r"variants\b", "item"),
        (intents.Extreme("item", (OF_PRODUCT,), PRICE, False, (ITEM_ID,)), "variants? of product", "for product"),
        (intents.Lookup(BOOKING, (TRIP,)), "one way or round trip", "type|_"),
        (intents.Count("payment method", (CARDS, USER)), r"gift cards .*user omar_1241", "payment|for user"),
        (intents.Each(ORDERS, IN_ADDRESS), "cities are the addresses", "the address "),
        (intents.Relation(ORDERS[0], ("customer",), (MAIL,)), "customer", "customer for"),
        (intents.Extreme("order", (ORDERED,), DATE, True, (ITEM_ID,)), "from customer C-1018", "for customer"),
        (intents.Change("cancel_order", "", "remove", ORDERS[0]), "O-1", "call off|is off"),
        (intents.Change("return_items", "", "act", ORDERS[0], (ITEM, PAYMENT)), "refund it to card", "I think"),
        (intents.Change("transfer_to_human", "Transfer the user to a human.", "act", None, (SUMMARY,)), "note", "tell"),
        (intents.Lookup(CHEAPEST, (COLOUR,)), "variant of", "color for|in front of"),
        (intents.Lookup(PRODUCTS[0], (AVAILABLE, PRICE)), "available", "available status"),
        (intents.Total("item", (OF_PRODUCT,), PRICE, "average"), "variant", "averaged over|average it out"),
        (intents.Compute("search_onestop", "Search for one-stop flights.", WAY), "one-stop", "is there|customer asks"),
        (intents.Total("product", (IN_ORDER,), PRICE, "sum"), "O-1", "put the|if you take|they have"),
    ],
)  # fmt: skip
def test_it_is_said_as_people_say_it(intent: Intent, pattern: str, never: str) -> None:
    said = all_said(intent)
    assert len({*said}) > 4
    for request in said:
        assert re.search(pattern, request, re.IGNORECASE), request
        assert not re.search(never, request), request


def test_two_files_are_named_without_saying_twice_that_they_are_files() -> None:
    files = tuple(Reference("file", (replace(DOCUMENT, value=path),)) for path in ("docs/season.md", "README.fr.md"))
    said = all_said(intents.Compare(files, LINES, most=True))
    assert said
    assert not any("the file docs" in request for request in said)


def test_the_file_with_the_most_of_something_is_named() -> None:
    file = Attribute("file", "file", "path")
    assert answer(intents.Extreme("file", (), LINES, True, (file,)), ("a.md",), random.Random(0)) == "It's a.md."


def test_of_two_customers_none_is_older() -> None:
    told = answer(intents.Compare(CUSTOMERS, JOINED, most=False), ("C-1",), random.Random(0))
    assert told == "C-1 has been with us longer."


def test_nobody_asks_for_a_word_of_what_they_say() -> None:
    assert not is_answer("Liam", ["liam_thomas_8955"])
    assert not is_answer("Ana Ruiz", ["ana.ruiz@mail.example"])
    assert is_answer("Thomas", ["liam_8955"])
    assert is_answer("14", ["room 14b"])


@pytest.mark.parametrize(("value", "told"), [("yes", "Yes, it has insurance."), ("no", "No, it has no insurance.")])
def test_yes_and_no_are_a_flag(value: str, told: str) -> None:
    insurance = infer("insurance", ["yes", "no"])
    said = all_said(intents.Lookup(JOB, (insurance,)))
    assert not any("what" in request.lower() for request in said)
    assert answer(intents.Lookup(JOB, (insurance,)), (truth(value),), random.Random(0)) == told


def test_nobody_asks_what_is_for_somebody() -> None:
    assert not all_said(intents.Connected("is for", None, "Baltic Ferries"))


def test_those_at_the_other_end_of_a_relation_are_named_with_their_verb() -> None:
    intent = intents.Connected("sits_in", None, "Gdansk office")
    assert answer(intent, ("Ana", "Tom"), random.Random(0)) == "Ana and Tom sit in the Gdansk office."


@pytest.mark.parametrize(
    ("noun", "asked", "value", "told"),
    [
        ("entity", infer("entityType", ["project"]), "project", "It is listed as a project."),
        ("customer", infer("since", [2024]), 2024, "They joined in 2024."),
        ("environment", Attribute("SHELL", "SHELL", "path"), "/bin/bash", "SHELL is /bin/bash."),
        ("contract", infer("fee", ["79 euros"]), "79 euros", "The fee is 79 euros."),
        ("commit", Attribute("date", "date", "datetime"), "2025-06-02T08:30", "It was made on 2 June 2025 at 08:30."),
        ("order", Attribute("city", "city in the address", "place"), "Malmo", "The city is Malmo."),
        ("customer", Attribute("city", "city", "place"), "Malmo", "They live in Malmo."),
        ("part", Attribute("shelf", "shelf", "place"), "H-39", "It is on shelf H-39."),
        ("part", Attribute("shelf", "shelf", "place"), "yard", 'The shelf is "yard".'),
        ("pet", Attribute("species", "species", "category"), "cat", "It is a cat."),
        ("job", Attribute("stage", "stage", "status"), "cutting", "It is at the cutting stage."),
        ("file", Attribute("size", "size", "measure", "bytes"), 111, "It is 111 bytes."),
    ],
)
def test_an_answer_does_not_read_out_a_record(noun: str, asked: Attribute, value: str | int, told: str) -> None:
    assert answer(intents.Lookup(Reference(noun), (asked,)), (value,), random.Random(0)) == told


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("-8.0h", "It's 8 hours behind."),
        ("+1.0h", "It's 1 hour ahead."),
        ("+12.75h", "It's 12 hours and 45 minutes ahead."),
        ("+0.0h", "It's 0 hours ahead."),
    ],
)
def test_a_clock_is_so_many_hours_ahead_or_behind(value: str, told: str) -> None:
    difference = Attribute("time_difference", "time difference", "text")
    assert answer(intents.Compute("convert_time", "", (), (difference,)), (value,), random.Random(0)) == told


def test_of_several_places_each_has_its_time() -> None:
    zones = [Value(Attribute("timezone", "timezone", "category"), name) for name in ("Europe/Paris", "Asia/Tokyo")]
    things = tuple(Reference("time", (zone,)) for zone in zones)
    each = intents.Each(things, Attribute("datetime", "time", "time"))
    assert answer(each, ("10:05", "18:05"), random.Random(0)) == "It's 10:05 in Paris and 18:05 in Tokyo."


@pytest.mark.parametrize(
    ("zone", "clock", "value", "told"),
    [
        ("America/La_Paz", "13:15", "22:15", "That's 22:15 in La Paz, the day before."),
        ("Asia/Tokyo", "13:15", "11:15", "That's 11:15 in Tokyo."),
        ("Asia/Tokyo", "", "-2.0h", "Tokyo is 2 hours behind."),
        ("Asia/Tokyo", "29:15", "11:15", "That's 11:15 in Tokyo."),
    ],
)
def test_a_clock_of_another_place_is_told_with_its_day(zone: str, clock: str, value: str, told: str) -> None:
    keys = [("source_timezone", "Australia/Brisbane"), ("time", clock), ("target_timezone", zone)]
    given = tuple(Value(Attribute(key, key, "category"), text) for key, text in keys if text)
    asked = Attribute("time", "time", "time") if clock else Attribute("time_difference", "time difference", "text")
    assert answer(intents.Compute("convert_time", "", given, (asked,)), (value,), random.Random(0)) == told


def test_what_was_done_to_a_file_is_told_as_such() -> None:
    file = Reference("file", (DOCUMENT,))
    assert answer(intents.Lookup(file, (LINES,)), (0,), random.Random(0)) == "No lines were added."
    both = intents.Both((intents.Lookup(file, (LINES,)), intents.Lookup(file, (LINES,))))
    told = answer(both, ((1,), (3,)), random.Random(0))
    assert told == "1 line was added to docs/season.md. 3 lines were added to docs/season.md."
    count = intents.Count("changed file", (SINCE,))
    assert answer(count, (1,), random.Random(0)) == "1 file has changed since commit d2861432."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("07:30", "half past seven in the morning"),
        ("20:45", "quarter to nine in the evening"),
        ("12:00", "noon"),
        ("00:00", "midnight"),
        ("16:20", "4:20 pm"),
    ],
)
def test_the_clock_is_said_in_words(text: str, said: str) -> None:
    assert said in forms(Value(Attribute("time", "time", "time"), text))


@pytest.mark.parametrize(
    ("zone", "country"),
    [("Asia/Tokyo", "Japan"), ("Asia/Manila", "the Philippines"), ("Europe/Berlin", ""), ("America/New_York", "")],
)
def test_a_zone_that_is_its_countrys_only_one_may_be_named_by_it(zone: str, country: str) -> None:
    said = forms(Value(Attribute("timezone", "time zone", "place"), zone))
    assert [way for way in said[1:-1] if way not in data("cities")[zone]] == ([country] if country else [])


def test_one_moment_is_asked_for_in_two_places() -> None:
    zones = [Value(Attribute("target", "target", "place"), zone) for zone in ("Asia/Dubai", "Africa/Lagos")]
    given = (
        Value(Attribute("source", "source", "place"), "Asia/Singapore"),
        Value(Attribute("time", "time", "time"), "09:00"),
    )
    things = tuple(Reference("zone", (zone,)) for zone in zones)
    for request in all_said(intents.Each(things, Attribute("datetime", "time", "time"), given)):
        assert re.search("Dubai and Lagos", request), request
        assert re.search("Singapore", request), request
    difference = Attribute("time_difference", "time difference", "time")
    assert not all_said(intents.Each(things, difference, given))


def test_a_stranger_has_a_day_that_there_is_or_letters_of_a_code() -> None:
    for seed in range(20):
        made = stranger("notes/2026-03-02-standup.md", random.Random(seed))
        assert re.fullmatch("[A-Z]{6}", stranger("EHGLPS", random.Random(seed)))
        assert re.fullmatch(r"notes/20\d\d-(0[1-9]|1[0-2])-[0-2]\d-standup\.md", made), made


def test_the_items_of_an_invoice_are_a_list_of_its_record() -> None:
    text = "Customer: Harbor Cafe\nDate: 2026-01-12\nItem: House blend\nItem: Delivery\nTotal: 385.00 EUR\n"
    whole = {
        "Customer": "Harbor Cafe",
        "Date": "2026-01-12",
        "Item": ["House blend", "Delivery"],
        "Total": "385.00 EUR",
    }
    assert read_text(text) == whole


def test_texts_of_things_of_one_type_are_kin() -> None:
    records = Records()
    rows = [
        ("Sofia", "person", "joined in 2023"),
        ("Tom", "person", "allergic to nuts"),
        ("Porto", "office", "5 desks"),
    ]
    records.add("read", {}, [{"name": name, "type": sort, "notes": [note]} for name, sort, note in rows])
    assert records.kin("allergic to nuts", "Sofia")
    assert not records.kin("5 desks", "Sofia")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What's the price of it?", "ask"),
        ("Can you count the branches?", "ask"),
        ("Tell me how many there are.", "order"),
        ("I need the date of it.", "order"),
        ("Price of it?", ""),
        ("It came up in a call. What's the price?", ""),
        ("My boss wants to know the price.", ""),
    ],
)
def test_layers_go_by_whether_a_request_is_a_question_or_an_order(text: str, kind: str) -> None:
    assert mood(text) == kind


def test_two_requests_in_one_message_are_full_sentences() -> None:
    both = intents.Both((intents.Lookup(FRAME, (PRICE,)), intents.Lookup(JOB, (STAGE,))))
    said = all_said(both)
    assert len({*said}) > 4
    for request in said:
        assert not re.search(r"besides|on top of that|(?:also|and|oh),? job", request, re.IGNORECASE), request


def test_what_is_said_of_another_thing_fits_what_is_asked() -> None:
    worded = Worded("When is J-1 due?", "lookup/when")

    def beside(form: str, *, writes: bool) -> set[str]:
        one, pool = Worded(worded.request, form), [["J-1", "J-2"]]
        said = (
            with_another(one, ["J-1"], pool, random.Random(seed), lambda _: True, lambda _: True, writes=writes)
            for seed in range(200)
        )
        return {text.request for text, _ in said}

    assert any("leave J-2" in request for request in beside("set/mark", writes=True))
    assert not any("leave J-2" in request for request in beside("lookup/when", writes=False))
    assert beside("lookup/when+idle", writes=False) == {worded.request}
    assert all(request.endswith("due?") for request in beside("lookup/when+thanks", writes=False))


def test_of_two_commits_one_is_newer() -> None:
    hashes = [Value(Attribute("revision", "commit", "identifier"), text) for text in ("3f2a9c1", "56ba67b")]
    commits = tuple(Reference("commit", (value,)) for value in hashes)
    newer = intents.Compare(commits, Attribute("date", "date", "datetime"), True)
    assert answer(newer, ("56ba67b",), random.Random(0)) == "56ba67b is newer."


def test_a_place_is_called_in_the_answer_as_in_the_request() -> None:
    plan = [Call("get_current_time", {"timezone": "Europe/Vienna"})]
    assert as_asked("It's 09:10 in Vienna.", plan, "what's the time in Graz?") == "It's 09:10 in Graz."
    assert as_asked("It's 09:10 in Vienna.", plan, "time in vienna?") == "It's 09:10 in Vienna."


def test_a_region_is_no_time_zone() -> None:
    assert forms(Value(Attribute("region", "region", "category"), "Asia/Pacific")) == ("Asia/Pacific",)
