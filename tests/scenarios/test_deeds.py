"""What is done to a part of a thing, to a pair of an old and a new one, and what a person says as one."""

import random

import pytest

from mcprl.scenarios.addresses import as_address, as_person
from mcprl.scenarios.intents import Attribute, Change, Reference, Value
from mcprl.scenarios.meaning import infer
from mcprl.scenarios.probing.records import Records
from mcprl.scenarios.probing.sources import place
from mcprl.scenarios.wording.deeds import deed
from mcprl.types import Scalar

ORDER = Reference("order", (Value(infer("order_id", ["O-77"]), "O-77"),))


def values(**given: Scalar) -> tuple[Value, ...]:
    return tuple(Value(infer(key, [value]), value) for key, value in given.items())


def said(tool: str, **given: Scalar) -> str:
    text = deed(Change(tool, "Request it.", "act", ORDER, values(**given)), random.Random(1))
    return text.replace("\x02", "").replace("\x03", "").replace("order O-77", "O-77")


@pytest.mark.parametrize(
    ("tool", "joint"),
    [
        ("exchange_order_items", "exchange item A-1 from O-77 for item B-2"),
        ("replace_order_items", "replace item A-1 from O-77 with item B-2"),
        ("modify_order_items", "change item A-1 in O-77 to item B-2"),
    ],
)
def test_an_old_value_and_the_new_one_in_its_place_are_said_as_a_pair(tool: str, joint: str) -> None:
    assert said(tool, item_ids="A-1", new_item_ids="B-2") == joint


def test_what_is_done_to_a_part_names_the_part() -> None:
    text = said("return_order_items", item_ids="A-1", payment_method_id="card_9")
    assert text == "return item A-1 from O-77 and refund it to card_9"


def test_a_first_and_a_last_name_are_one_name_and_the_parts_of_an_address_one_address() -> None:
    person = as_person(values(first_name="Ana", dob="1987-05-21", last_name="Ruiz"), "passenger")
    assert [(value.attribute.label, value.value) for value in person] == [
        ("passenger", "Ana Ruiz"),
        ("birth date", "1987-05-21"),
    ]
    assert as_person(values(first_name="Ana")) == values(first_name="Ana")
    address = as_address(values(zip="80279", city="Denver", address1="1 Oak Lane", order_id="O-1"))
    assert [value.value for value in address] == ["O-1", "1 Oak Lane, Denver, 80279"]
    assert address[1].attribute == Attribute("address", "address", "place")


def test_values_of_one_record_are_found_together() -> None:
    records = Records()
    records.add("get_user", {"id": "a"}, {"name": {"first": "Ana", "last": "Ruiz"}, "zip": "80279"})
    records.add("get_user", {"id": "b"}, {"name": {"first": "Bo", "last": "Lund"}, "zip": "10083"})
    places = [[place("get_user", ("name", "first"))], [place("get_user", ("zip",))]]
    assert records.together(places) == [("Ana", "80279"), ("Bo", "10083")]
    assert not records.together([*places, [place("get_user", ("none",))]])


def test_the_user_who_is_handed_over_is_the_customer() -> None:
    summary = values(summary="The parcel is late")
    text = deed(
        Change("transfer_to_agent", "Transfer the user to a human agent.", "act", None, summary), random.Random(1)
    )
    assert text == 'transfer the customer to a human agent with the note \x02"The parcel is late"\x03'
