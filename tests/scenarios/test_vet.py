"""What a writer wrote is taken only if it asks for what its brief says, and for nothing else."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from mcprl.scenarios.brief import Brief, BriefedCall
from mcprl.scenarios.writers.reword import with_folders
from mcprl.scenarios.writers.vet import fault, siblings, vet
from mcprl.types import Scenario

CALL = BriefedCall("get_order", "An order by its number.", {"order_id": "O-17"}, (("status", "sent"),))
BRIEF = Brief(
    "b",
    "lookup",
    (CALL,),
    "The status of order O-17 is sent.",
    (("status", "sent"),),
    ("O-17",),
    (),
    ("sent", "get_order"),
    (("carrier", "DHL"), ("city", "Graz")),
)


class Likelihoods:
    """Finds a request likely under a brief that asks for a word of it."""

    name = "words"

    async def write(self, briefs: Sequence[Brief], k: int) -> list[list[str]]:
        return [["" for _ in range(k)] for _ in briefs]

    async def margins(self, contrasts: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
        labels = [[brief.split("asked: ")[1].split("\n")[0] for brief in briefs] for _, briefs in contrasts]
        return [1.0 if own in request else -1.0 for (request, _), (own, *_) in zip(contrasts, labels, strict=True)]


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        ("what's the status of O-17?", ""),
        ("status of 17 please", "lacks a value"),
        ("is O-17 sent?", "gives something away"),
        ("use get_order for O-17", "gives something away"),
        ("status of O-17 for C-1041?", "a code or number of its own"),
        ("", "empty or too long"),
    ],
)
def test_by_rule_a_request_says_what_it_must_and_no_more(request_: str, why: str) -> None:
    assert fault(request_, BRIEF) == why


def test_a_sibling_asks_for_another_field_or_the_other_extreme() -> None:
    assert [(each.asked, each.answer) for each in siblings(BRIEF)] == [
        ((("carrier", "DHL"),), "The carrier of order O-17 is DHL."),
        ((("city", "Graz"),), "The city of order O-17 is Graz."),
    ]
    most = replace(BRIEF, kind="list", others=(), answer="The order with the highest price is O-17.")
    assert [each.answer for each in siblings(most)] == ["The order with the lowest price is O-17."]


def test_of_two_fields_one_alone_is_a_sibling() -> None:
    answer = "The status of order O-17 is sent and the city of order O-17 is Graz."
    call = replace(CALL, found=(("status", "sent"), ("cityName", "Graz")))
    both = replace(BRIEF, steps=(call,), answer=answer, asked=(("status", "sent"), ("city", "Graz")), others=())
    assert [(each.answer, each.steps[0].found) for each in siblings(both)] == [
        ("The status of order O-17 is sent.", (("status", "sent"),)),
        ("The city of order O-17 is Graz.", (("cityName", "Graz"),)),
    ]


def test_a_folder_that_the_plain_request_ends_with_is_put_behind() -> None:
    asked = replace(BRIEF, said=("/scratch",))
    plain = Scenario("s", "What is the status in /scratch?", (), (), "")
    assert with_folders("what's its status?", plain, asked) == "what's its status in /scratch?"
    assert with_folders("", plain, asked) == ""


def test_a_number_that_is_written_is_said_to_be_something() -> None:
    call = BriefedCall("update_row", "Changes a row.", {"birth_date": "1964-06-11"})
    written = replace(BRIEF, kind="write", steps=(call,), said=("1964-06-11",), unsaid=(), asked=())
    assert fault("that's now 11 June 1964", written) == "does not say what a value is"
    assert not fault("born 11 June 1964, update the birth date", written)


def test_an_option_that_is_not_named_is_told_by_another_in_its_place() -> None:
    call = BriefedCall("list_orders", "Orders.", {"states": ["sent"], "limit": 5})
    listed = replace(
        BRIEF, steps=(call,), answer="There are 4 sent orders.", meant=("sent",), others=(), instead=(("sent", "open"),)
    )
    (other,) = siblings(listed)
    assert (other.steps[0].arguments, other.answer) == (
        {"states": ["open"], "limit": 5},
        "There are 4 open orders.",
    )


@pytest.mark.parametrize(("request_", "lacks"), [("what's (80+17)*56", False), ("80 + 17 - 56?", True)])
def test_a_formula_is_said_with_its_signs(request_: str, lacks: bool) -> None:
    asked = replace(BRIEF, said=("(80 + 17) * 56",), asked=(), unsaid=(), others=())
    assert (fault(request_, asked) == "lacks a value") == lacks


async def test_the_request_that_fits_its_own_brief_best_is_taken() -> None:
    written = ["where does O-17 go, which city", "status of O-17?", "is O-17 sent?"]
    (chosen,) = await vet([BRIEF], [written], Likelihoods())
    assert chosen.request == "status of O-17?"
    assert sorted(chosen.refused) == ["fits a sibling as well", "gives something away"]


async def test_a_brief_of_which_no_request_passes_gets_none() -> None:
    (chosen,) = await vet([BRIEF], [["is it sent?", ""]], Likelihoods())
    assert chosen.request is None
