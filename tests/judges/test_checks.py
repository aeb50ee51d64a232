"""What answers state: values in people's forms, with their own subjects."""

import cProfile
import json
from collections.abc import Sequence

import pytest

from mcprl.judges.checks import asks_for, declines, polarity, says_missing, shows
from mcprl.judges.facts import Asked, misses
from mcprl.judges.mentions import read
from mcprl.judges.values import places
from mcprl.judges.verifier import Verifier
from mcprl.types import Call, CallRecord, Fact, Meaning, Scalar, Scenario, StateHolds, ToolResult, Trajectory


def states(answer: str, fact: Fact, request: str = "", facts: Sequence[Fact] = ()) -> bool:
    return not misses(answer, fact, Asked(request, tuple(facts)))


@pytest.mark.parametrize(
    ("text", "value", "meaning", "unit"),
    [
        ("1,200 of them", 1200, "number", ""),
        ("1.200,00", 1200, "number", ""),
        ("twelve", 12, "count", ""),
        ("a hundred and five", 105, "count", ""),
        ("none left", 0, "count", ""),
        ("EUR 35.45", 35.45, "money", "EUR"),
        ("35.45 euros", 35.45, "money", "EUR"),
        ("€35,45", 35.45, "money", "EUR"),
        ("$12.50", 12.5, "money", "USD"),
        ("March 8, 2026", "2026-03-08", "date", ""),
        ("the 8th of March", "2026-03-08", "date", ""),
        ("13/3/2026", "2026-03-13", "date", ""),
        ("Sunday 8 Mar 2026", "Sun Mar 8 14:30:05 2026 +0100", "datetime", ""),
        ("2:30 PM", "14:30", "time", ""),
        ("11:30 pm in Tokyo", "2026-03-08T23:30:00+09:00", "datetime", ""),
        ("14:30 UTC", "2026-03-08T23:30:00+09:00", "datetime", ""),
        ("8 hours ahead", "+8.0h", "duration", ""),
        ("eight hours behind", "-8.0h", "duration", ""),
        ("90 minutes", 1.5, "duration", "h"),
        ("an hour and a half", 1.5, "duration", "hours"),
        ("1200 g", 1.2, "measure", "kg"),
        ("15 %", 0.15, "percent", ""),
        ("Novak, Ana", "Ana Novák", "person", ""),
        ("in progress", "in_progress", "status", ""),
        ("in README.md", "/a/b/README.md", "path", ""),
        ("https://x.example/a.", "https://x.example/a", "url", ""),
        ("commit a1b2c3d4", "a1b2c3d4" + "0f" * 16, "identifier", ""),
        ("about 3.14", 3.14159, "number", ""),
        ("since May 2014", 2014, "year", ""),
    ],
)
def test_a_value_is_found_in_the_forms_that_people_write(text: str, value: Scalar, meaning: Meaning, unit: str) -> None:
    assert places(read(text), value, meaning, unit)


@pytest.mark.parametrize(
    ("text", "value", "meaning", "unit"),
    [
        ("yesterday", "2026-03-08", "date", ""),
        ("8/3/2026", "2026-03-08", "date", ""),
        ("March 8, 2025", "2026-03-08", "date", ""),
        ("March 8 at 9 am", "2026-03-08T23:30:00+09:00", "datetime", ""),
        ("23:30 UTC", "2026-03-08T23:30:00+09:00", "datetime", ""),
        ("8 hours behind", "+8.0h", "duration", ""),
        ("1.5 minutes", 1.5, "duration", "h"),
        ("$35.45", 35.45, "money", "EUR"),
        ("15 %", 15, "count", ""),
        ("0.15", 15, "percent", "%"),
        ("order O-12", 12, "count", ""),
        ("O-179", "O-17", "identifier", ""),
        ("C++", "C", "text", ""),
        ("2:30 AM", "14:30", "time", ""),
        ("https://x.example/a/b", "https://x.example/a", "url", ""),
        ("12 units", 12, "money", "EUR"),
    ],
)
def test_what_only_looks_like_the_value_is_not_it(text: str, value: Scalar, meaning: Meaning, unit: str) -> None:
    assert not places(read(text), value, meaning, unit)


PRICE = Fact(35.45, "price", "money", "EUR", rivals=(12, "B-3", "furniture"))


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("The Oak Shelf costs EUR 35.45; there are 12 left.", True),
        ("EUR 12", False),
        ("35.45 or 12", False),
        ("EUR 35.45, or maybe EUR 36", False),
        ("35.45, 12, B-3, furniture", False),
        ("It costs EUR 12 and there are 35.45 left.", False),
        ("It does not cost EUR 35.45.", False),
        ("Is it EUR 35.45?", False),
    ],
)
def test_a_neighbouring_detail_is_polite_and_a_rival_in_its_place_is_wrong(answer: str, right: bool) -> None:
    assert states(answer, PRICE, "how much is the oak shelf?") is right


def test_values_of_the_request_are_no_rivals() -> None:
    assert states("Of the 12 you want, each costs EUR 35.45.", PRICE, "what do 12 oak shelves cost each?")


EACH = [Fact(5, "price", "money", subject="SKU-1"), Fact(7, "price", "money", subject="SKU-2")]


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("SKU-1 costs 5 and SKU-2 costs 7.", True),
        ("5 and 7, respectively", True),
        ("5 for SKU-1, 7 for SKU-2", True),
        ("SKU-2 is 7; the other one is 5.", True),
        ("| SKU-1 | SKU-2 |\n|---|---|\n| 5 | 7 |", True),
        ("SKU-1 costs 7 and SKU-2 costs 5.", False),
        ("7 and 5, respectively", False),
        ("SKU-2 and SKU-1 cost 5 and 7.", False),
        ("SKU-1 and SKU-2 both cost 5.", False),
    ],
)
def test_each_value_belongs_to_its_owner(answer: str, right: bool) -> None:
    assert all(states(answer, fact, "prices of SKU-1 and SKU-2?", EACH) for fact in EACH) is right


@pytest.mark.parametrize(
    ("request_", "text", "none"),
    [
        ("Has C-27 ever bought anything?", "No, C-27 has no orders.", True),
        ("Has C-27 ever bought anything?", "C-27 has never bought anything.", True),
        ("Has C-27 ever bought anything?", "No, C-27 has never joined.", False),
        ("Has C-27 ever bought anything?", "Yes, but nothing this year.", False),
        ("any garden thing under 30 euros??", "No, nothing in garden costs less than 30 euros.", True),
        ("do we have anybody in Hamburg?", "No, we have no customers in Hamburg.", True),
        ("do we have anybody in Hamburg?", "I can't help with that: I have no tool for it.", False),
        ("any garden thing under 30 euros??", "It's the Oak Trellis.", False),
        ("any idea what SKU-9 costs?", "There is no price for it.", False),
        ("What does SKU-9 cost?", "It has no price.", False),
    ],
)
def test_that_there_are_none_answers_whether_there_are_any(request_: str, text: str, none: bool) -> None:
    assert says_missing(text, request_) is none


@pytest.mark.parametrize(
    ("text", "label", "said"),
    [
        ("There are none.", "order", False),
        ("There are 3 paid orders.", "order", True),
        ("Yes, it is.", "open", True),
        ("still open: no", "open", False),
        ("It isn't in stock.", "in_stock", False),
        ("The stock is 0.", "in_stock", False),
        ("The stock is 10.", "in_stock", True),
        ("The shop is open.", "open", True),
        ("I don't know.", "open", None),
        ("There's no order O-9.", "paid", None),
    ],
)
def test_yes_and_no(text: str, label: str, said: bool | None) -> None:
    assert polarity(text, label) is said


@pytest.mark.parametrize(
    "text",
    [
        "There's no order O-9",
        "O-9 doesn't seem to be in our system",
        "I looked but came up empty",
        "Sorry, that one isn't listed",
        "We don't carry that product.",
        "Nobody by that name is registered.",
    ],
)
def test_a_missing_thing_is_told_by_grammar(text: str) -> None:
    assert says_missing(text)


@pytest.mark.parametrize("text", ["There is no discount on O-9", "no problem, it is open", "O-9 has no notes."])
def test_a_thing_that_lacks_something_exists(text: str) -> None:
    assert not says_missing(text)


@pytest.mark.parametrize(
    ("asked", "text", "none"),
    [
        ("jonas costa's email?", "There is no e-mail address on file for Jonas Costa.", True),
        ("what has C-1033 ordered? list_orders", "I can't find any orders for Rosa Lindt, C-1033.", True),
        ("jonas costa's email?", "There is no phone number on file for Jonas Costa.", False),
        ("jonas costa's email?", "It's no trouble: jonas@costa.example.", False),
        ("", "There is no e-mail address on file for Jonas Costa.", False),  # whether there is a Jonas was the question
    ],
)
def test_of_a_thing_that_is_there_what_is_asked_may_be_missing(asked: str, text: str, none: bool) -> None:
    assert says_missing(text, "jonas costa's email?", asked) is none


CHEAPER = Fact("SKU-307", "sku", "identifier", rivals=("SKU-309",), derived=True)
WINNER = Fact("Ana Sousa", "rider", "person", rivals=("Bo Lund",))
LOSS = Fact(1.5, "loss", "measure", "kg", derived=True, rivals=(38.4, 36.9))
FRONT = Fact(2.4, "front_bar", "measure", "bar", rivals=(2.9,))
CHANGE = Fact(143.27, "price", "money", rivals=(256.73, 400), derived=True)
OFF = Fact(24.52, "price", "money", rivals=(27.25, 10), derived=True)
MEAN = Fact(6.0, "price", "money", rivals=(5.0, 7.0), derived=True)
NEWER = Fact("56ba67bd", "commit", "identifier", rivals=("47297093",), derived=True)
NOTE = Fact("pays within 14 days", "observation", "text")
LONGER = Fact("Ines", "name", "person", rivals=("Ada",))
FIRST = Fact("Dr. Szabo", "name", "person", rivals=("Dr. Mensah",))
WORTH = Fact(10180.0, "value", "money", "EUR", rivals=(80, 127.25), derived=True)
UNREACHED = Fact("Dmitri", "owner", "person", rivals=("Bo",))
UNPAID = Fact(0, "paid", "status", rivals=(1,))
TOLD: tuple[tuple[str, Fact, str, bool], ...] = (
    ("Which is cheaper, SKU-307 or SKU-309?", CHEAPER, "SKU-307 is cheaper.", True),
    ("Which is cheaper, SKU-307 or SKU-309?", CHEAPER, "SKU-307 has the lower price.", True),
    ("Who won stage 4?", WINNER, "Ana Sousa won, 23 seconds ahead of Bo Lund.", True),
    ("Who won stage 4?", WINNER, "Bo Lund finished 23 seconds behind Ana Sousa.", True),
    ("How much weight has it lost?", LOSS, "It lost 1.5 kg.", True),
    ("How much weight has it lost?", LOSS, "1.5 kg, it didn't gain any.", True),
    ("What's the front tyre pressure?", FRONT, "2.4 bar at the front and 2.9 bar at the rear.", True),
    ("What change of 400 do they get?", CHANGE, "They get 143.27, as the item costs 256.73.", True),
    ("What is it with 10% off?", OFF, "It's 27.25; less 10% is roughly 24.53.", True),
    ("What is it with 10% off?", OFF, "It's 27.25; less 10% is 24.53.", False),
    ("What do they cost on average?", MEAN, "They have the same size, and cost 6.00 on average.", True),
    ("Is 47297093 or 56ba67bd newer?", NEWER, "Newer one: 56ba67bd, a day after 47297093.", True),
    ("Is 47297093 or 56ba67bd newer?", NEWER, "Newer one: 47297093, a day after 56ba67bd.", False),
    ("Ines or Ada, who's been with us longer?", LONGER, "Ines: she joined in 2011, Ada only in 2013.", True),
    ("Ines or Ada, who's been with us longer?", LONGER, "Ada: she joined in 2011, Ines only in 2013.", False),
    ("Szabo or Mensah, who came first?", FIRST, "Dr. Szabo did, in May; Dr. Mensah followed on 20 November.", True),
    ("Szabo or Mensah, who came first?", FIRST, "Dr. Mensah did, in May; Dr. Szabo followed on 20 November.", False),
    ("What is the stock worth?", WORTH, "80 units at €127.25 make €10,180.00.", True),
    ("What is the stock worth?", WORTH, "€10,180.00, or maybe €127.25.", False),
    ("Who has no e-mail address?", UNREACHED, "We have no e-mail address for Dmitri and Greta.", True),
    ("Who has no e-mail address?", UNREACHED, "It is Greta, not Dmitri.", False),
    ("Is invoice 9 settled?", UNPAID, "No, invoice 9 has not been paid yet.", True),
    ("Is invoice 9 settled?", UNPAID, "It is still unpaid.", True),
    ("Is invoice 9 settled?", UNPAID, "Its paid flag is 0.", True),
    ("Is invoice 9 settled?", UNPAID, "Yes, invoice 9 has been paid.", False),
    ("What do we know about them?", NOTE, "They pay within 14 days.", True),
    ("What do we know about them?", NOTE, "They pay within 40 days.", False),
)


@pytest.mark.parametrize(("request_", "fact", "answer", "right"), TOLD)
def test_a_choice_is_told_from_the_other_one_and_a_computed_value_from_what_it_is_computed_of(
    request_: str, fact: Fact, answer: str, right: bool
) -> None:
    assert states(answer, fact, request_, (fact,)) is right


def test_the_code_of_another_thing_is_no_order_number() -> None:
    facts = (Fact("O-2142", "order number", "identifier"), Fact("delivered", "status", "status"))
    said = "That's O-2142. And order O-2111 was delivered."
    assert all(states(said, fact, "Find the newest, and where is O-2111?", facts) for fact in facts)


@pytest.mark.parametrize(
    ("text", "asks"),
    [("Which one?", True), ("Sure, which one is it?", True), ("Do they have an order number?", True),
     ("That one is open.", False), ("Which one is cheaper, then?", False)],
)  # fmt: skip
def test_a_question_back_may_leave_the_noun_out(text: str, asks: bool) -> None:
    assert asks_for(text, ("order", "number")) is asks


def test_the_work_of_scoring_grows_with_the_results_and_not_faster() -> None:
    """Counted as calls, which no busy machine changes; seconds are for benchmarks."""

    def work(size: int) -> int:
        rows = [{"sku": f"SKU-{n}", "name": f"Oak Shelf {n}", "price": n + 0.5, "units": n * 3} for n in range(size)]
        calls = tuple(CallRecord(n, "list", {"page": n}, ToolResult(json.dumps(rows), rows)) for n in range(3))
        fact = Fact(7.5, "price", "money", "EUR", rivals=tuple(row["price"] for row in rows if row["price"] != 7.5))
        scenario = Scenario("s", "What does SKU-7 cost?", (fact,), (Call("list", {"page": 0}),))
        text = "Thank you for asking, customer. SKU-7, the Oak Shelf 7, costs EUR 7.50."
        profile = cProfile.Profile()
        profile.enable()
        verdict = Verifier().verify(
            scenario, Trajectory("t", "s", ({"role": "assistant", "content": text},), (), calls)
        )
        profile.disable()
        assert verdict.success
        return sum(entry.callcount for entry in profile.getstats())

    small, large = (min(work(size), work(size)) for size in (60, 240))  # what is read twice is read from a cache
    assert small < 100_000
    assert large < 4.5 * small


def test_right_answers_to_peoples_requests_that_were_refused_are_accepted() -> None:
    """Found by the gold answers of scenarios/people on git and sqlite, whose servers are installed by nothing here."""
    assert says_missing("I found no commit by Lukas Weber on main.")
    assert not says_missing("I found no discount on O-9.")
    assert declines("I can't open pull requests.")
    assert not declines("The order isn't open yet.")
    amount = Fact(480.0, "amount", "money", rivals=(487.5,))
    number = Fact(11, "id", "identifier", rivals=(18,))
    result = ToolResult('[{"id": 11, "amount": 480.0}]')
    calls = (CallRecord(0, "read_query", {"query": "SELECT id, amount FROM invoices"}, result),)
    task = Scenario("s", "the biggest invoice: how much is it and what number has it", (amount, number))

    def succeeds(answer: str) -> bool:
        messages = ({"role": "assistant", "content": answer},)
        return bool(Verifier().verify(task, Trajectory("t", "s", messages, (), calls)).success)

    assert succeeds("Invoice 11, over 480.00.")
    assert succeeds("It is over 480.00, number 11.")
    assert not succeeds("11 and 480.")


@pytest.mark.parametrize(
    ("result", "gone"),
    [
        (ToolResult("no such note", is_error=True), True),
        (ToolResult("Error: no answer within 30 s", is_error=True, unanswered=True), False),
        (ToolResult("[]"), True),
        (ToolResult('["N-7"]'), False),
    ],
)
def test_what_is_gone_is_not_found_and_no_answer_shows_nothing(result: ToolResult, gone: bool) -> None:
    assert shows(result, StateHolds("get_note", {}, (), ("N-7",))) is gone


BENCH = Fact(89.9, "price", "money", "EUR", rivals=(14, "garden", "Halden", "SKU-377"))
UNITS = Fact(14, "units", "count", rivals=(89.9, "garden", "Halden", "SKU-377"))
LESS = Fact("SKU-307", "sku", "identifier", rivals=("SKU-309",), derived=True)
SHIPPED = Fact("shipped", "status", "status", rivals=("Maren Voss", 84.5))
BOTH = "Which is cheaper, SKU-307 or SKU-309?"
WHERE = "what's the status of O-2231?"


@pytest.mark.parametrize(
    ("fact", "request_", "answer", "right"),
    [
        (BENCH, "how much is the cedar bench?", "Cedar Bench – €89.90", True),
        (BENCH, "how much is the cedar bench?", "- €89.90", True),
        (BENCH, "how much is the cedar bench?", "Cedar Bench (SKU-377) - EUR 89.90", True),
        (BENCH, "how much is the cedar bench?", "It is -€89.90.", False),
        (BENCH, "how much is the cedar bench?", "The Cedar Bench costs €89.90 (14 in stock).", True),
        (BENCH, "how much is the cedar bench?", "€89.90, 14 in stock", True),
        (BENCH, "how much is the cedar bench?", "€89.90 or 14 in stock", False),
        (UNITS, "how many cedar benches do we have?", "We have 14 Cedar Benches (SKU-377) in stock.", True),
        (UNITS, "how many cedar benches do we have?", "There are 14 of SKU-377 in stock.", True),
        (LESS, BOTH, "SKU-307 (€35.45) is cheaper than SKU-309 (€42.00).", True),
        (LESS, BOTH, "SKU-307 costs less than SKU-309.", True),
        (LESS, BOTH, "SKU-309 is cheaper than SKU-307.", False),
        (Fact(1_250_000, "population", "count"), "how many live there?", "1.25 million", True),
        (Fact(3.2e9, "revenue", "money", "USD"), "what did they earn?", "$3.2 billion", True),
        (Fact(5400, "duration", "duration", "s"), "how long?", "1h 30m", True),
        (Fact(5400, "duration", "duration", "s"), "how long?", "It takes 1h30.", True),
        (Fact(205, "duration", "duration", "s"), "how long?", "3m25s", True),
        (Fact(5400, "duration", "duration", "s"), "how long?", "1h 40m", False),
        (Fact("xterm", "TERM"), "what is TERM?", "TERM is `xterm-256color`.", False),
        (Fact("/bin/bash", "SHELL"), "what is SHELL?", "It's `/bin/bash`. Correction: it is `/bin/sh`.", False),
        (Fact("Iris", "name", derived=True), "who is lightest?", "Iris, but I can't say whether she is.", False),
        (SHIPPED, WHERE, "O-2231 has been shipped.", True),
        (SHIPPED, WHERE, "It hasn't been delivered yet, but it has shipped.", True),
        (SHIPPED, WHERE, "It will be shipped tomorrow.", False),
        (SHIPPED, WHERE, "O-2231 is pending and should be shipped soon.", False),
        (SHIPPED, WHERE, "I'm not sure whether O-2231 was shipped.", False),
        (SHIPPED, WHERE, "I don't think it has shipped", False),
        (SHIPPED, WHERE, "Shipped? No, it's still pending.", False),
        (SHIPPED, WHERE, "It's shipped. Wait, no, it's still pending.", False),
        (SHIPPED, WHERE, "It was cancelled; otherwise it would have shipped.", False),
    ],
)
def test_what_models_write_around_a_value(fact: Fact, request_: str, answer: str, right: bool) -> None:
    assert states(answer, fact, request_, (fact,)) is right


@pytest.mark.parametrize(
    ("label", "answer", "told"),
    [
        ("in stock", "Certainly! Let me check that for you.", None),
        ("in stock", "Sure! Which lamp do you mean?", None),
        ("in stock", "Right, one moment.", None),
        ("in stock", "Sure, it is.", True),
        ("in stock", "Absolutely! The lamp is in stock.", True),
        ("in stock", "Absolutely.", True),
        ("discontinued", "Sure! The lamp has not been discontinued.", False),
        ("in stock", "The lamp is out of stock.", False),
        ("in stock", "It's sold out.", False),
        ("in stock", "Out of stock.", False),
        ("in stock", "No, it's sold out.", False),
        ("in stock", "The lamp is not out of stock.", True),
        ("order", "I couldn't find any paid orders for C-27.", False),
        ("order", "I couldn't find any information about orders.", None),
        ("order", "Unfortunately, no.", False),
        ("order", "I'm afraid not.", False),
        ("order", "There aren't any.", False),
        ("order", "According to the inventory, yes.", True),
        ("order", "The answer is yes.", True),
    ],
)
def test_yes_and_no_as_models_say_them(label: str, answer: str, told: bool | None) -> None:
    assert polarity(answer, label) is told


def test_a_polite_word_before_a_question_and_common_ways_to_decline() -> None:
    assert asks_for("Sure, which order would you like me to cancel?", ("order",))
    assert not asks_for("Would you like me to do anything else with the order?", ("order",))
    for answer in (
        "My tools don't allow me to send emails.",
        "None of the available functions can send emails.",
        "I'm not capable of sending emails.",
        "I'm limited to looking up orders.",
        "The tools I have do not include one for sending emails.",
        "Emailing is unavailable here.",
    ):
        assert declines(answer), answer


@pytest.mark.parametrize(
    ("answer", "missing"),
    [
        ("I was not able to find an order with the ID O-9. If you believe this is an error, try again later.", True),
        ("Order O-9 was not found. It's possible that there is a technical issue.", True),
        ("The system is down, I could not find it.", False),
        ("O-9 has not been shipped; there is no carrier yet.", False),
        ("I couldn't find out where it is.", False),
    ],
)
def test_an_excuse_that_is_merely_possible_takes_nothing_back(answer: str, missing: bool) -> None:
    assert says_missing(answer, "where is my parcel? order O-9") is missing
