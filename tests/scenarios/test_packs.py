"""Packs by hand: what a line may hold, what its errors say, and what becomes of tables and chat logs."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT

from mcprl.config import Config, ScenarioConfig, ServerConfig, ToolPolicy
from mcprl.errors import ScenarioError
from mcprl.events import Event, Note
from mcprl.judges.checks import squash
from mcprl.judges.scoring import score_held_out
from mcprl.judges.verifier import Verifier
from mcprl.scenarios.derivable import derivable
from mcprl.scenarios.generate import generate
from mcprl.scenarios.packs.exclusion import excluded_values, without
from mcprl.scenarios.packs.imports import add_task, import_tasks
from mcprl.scenarios.packs.pack import Pack, load_pack, load_test_pack, misfits, require_tools
from mcprl.scenarios.packs.shorthand import parts, read_calls, read_facts, read_states, scalar
from mcprl.scenarios.packs.standing import standing
from mcprl.scenarios.prepare import read_test_pack
from mcprl.servers.server import connect
from mcprl.servers.sharing import one_at_a_time
from mcprl.types import (
    AsksBack,
    Call,
    CallMade,
    Declines,
    Fact,
    Group,
    SaysMissing,
    Scenario,
    StateHolds,
    Tool,
    Trajectory,
)

TABLE = """\
request,expect,calls,state,missing,asks,declines
Where is O-2046?,status=packed,get_order(order_id='O-2046'),,,,
"How much is the oak shelf, the big one?",EUR 35.45; 2026-03-08,,,,,

O-2047 has left the house,,,"get_order(order_id='O-2047') => 'shipped', not 'open'",,,
Is there an O-9?,,get_order(order_id='O-9'),,yes,,
Order two for me,,,,,product; item,
Book me a flight,,,,,,yes
What would you recommend?,,,,,,
"""


pytestmark = pytest.mark.usefixtures("probed_once")


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


# --- lines ------------------------------------------------------------------------------------------------------------


def test_a_table_of_requests_is_read_with_a_check_for_each_short_form(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(TABLE)
    tasks = load_test_pack(path)
    get = ("get_order", {"order_id": "O-2046"})
    assert [task.checks for task in tasks] == [
        (CallMade(*get), Fact("packed", "status", derived=True)),
        (Fact(35.45, "", "money", "EUR", derived=True), Fact("2026-03-08", "", "date", derived=True)),
        (StateHolds("get_order", {"order_id": "O-2047"}, ("shipped",), ("open",)),),
        (CallMade("get_order", {"order_id": "O-9"}, failed=True), SaysMissing()),
        (AsksBack(("product", "item")),),
        (Declines(),),
        (),
    ]
    assert tasks[0].plan == (Call(*get),)
    assert tasks[0].values == ("O-2046",)
    assert [task.kind for task in tasks] == ["lookup", "lookup", "write", "missing", "asks", "declines", "open"]
    assert {(task.split, task.suite) for task in tasks} == {("test", "people")}
    assert len({task.id for task in tasks}) == len(tasks)


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_table_may_be_what_a_spreadsheet_saves(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(b"\xef\xbb\xbf" + f'Request{delimiter}Expect\r\n"Where is O-1; now?"{delimiter}3\r\n'.encode())
    (task,) = load_pack(path)
    assert (task.request, task.checks) == ("Where is O-1; now?", (Fact(3, "", "number", derived=True),))


def test_whole_tasks_and_short_forms_may_stand_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    whole = {
        "request": "When does it leave?",
        "plan": [{"tool": "get", "arguments": {"n": 7}}],
        "checks": [{"value": "2026-03-08", "name": "leaves", "meaning": "date", "rivals": ["2026-03-09"]}],
        "split": "train",
        "kind": "lookup",
    }
    short = {"request": "How many?", "expect": {"pieces": 3, "open": True}, "plan": "get(n=7)"}
    path.write_text(f"{json.dumps(whole)}\n\n{json.dumps(short)}\n")
    one, other = load_pack(path)
    assert one.checks == (Fact("2026-03-08", "leaves", "date", rivals=("2026-03-09",)),)
    assert (one.split, other.split) == ("train", "test")
    assert other.plan == one.plan == (Call("get", {"n": 7}),)
    assert other.checks == (Fact(3, "pieces", "number", derived=True), Fact(True, "open", "flag", derived=True))


WRONG: dict[str, Any] = {
    "line 2, checks.0.meaning: 'moni' is none of money, count": {"checks": [{"value": 3, "meaning": "moni"}]},
    "line 2, checks.0.kind: 'fct' is none of fact, call, state": {"checks": [{"kind": "fct"}]},
    "line 2, checks.0: unknown field 'vale'; did you mean 'value'?": {"checks": [{"vale": 3}]},
    "line 2, checks.0.tool: missing": {"checks": [{"kind": "call"}]},
    "line 2, checks.0: a state needs values": {"checks": [{"kind": "state", "tool": "t", "arguments": {}}]},
    "line 2: unknown field 'expct'; did you mean 'expect'?": {"expct": "3"},
    "line 2, request: missing; expected what a person asks for": {"request": None},
    "line 2, plan.0.tool: 3; expected a valid string": {"plan": [{"tool": 3}]},
    "line 2, calls: 'get' is not a call; expected one like get_order": {"calls": "get"},
    "line 2, calls: 'get(7)': its arguments cannot be read; expected name=value": {"calls": "get(7)"},
    "line 2, state: 'get()' is not a state; expected one like": {"state": "get()"},
    "line 2, missing: 'maybe'; expected yes or no": {"missing": "maybe"},
    "line 2, asks: ''; expected words": {"asks": ""},
    "line 2, expect: None is not a value; expected 35.45 or status=shipped": {"expect": {"price": None}},
    "line 2, split: 'tset' is none of train, val, test": {"split": "tset"},
    "line 2, id: 'a' is the task of line 1 again": {"id": "a"},
}


@pytest.mark.parametrize("message", WRONG)
def test_an_error_names_the_file_the_line_the_field_the_value_and_what_was_expected(
    tmp_path: Path, message: str
) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(f'{{"id": "a", "request": "Fine?"}}\n{json.dumps({"request": "What?"} | WRONG[message])}')
    with pytest.raises(ScenarioError) as caught:
        load_pack(path)
    assert str(caught.value).startswith(f"{path}, {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.jsonl", '{"request": }', "line 1 is not JSON: Expecting value at column 13"),
        ("a.jsonl", "[1]\n", "line 1: [1] is not a task"),
        ("a.csv", "question,expect\nWhy?,3\n", "line 1: no column is called request"),
        ("a.csv", "request,expcet\nWhy?,3\n", "line 1: unknown column 'expcet'; did you mean 'expect'?"),
        ("a.csv", "request,calls\nWhy?,get(a=1,b=2)\n", "line 2 has 3 cells, the header 2 columns; put cells"),
        ("a.txt", "Why?", "tasks are read from .jsonl, .json or .csv files"),
        ("a.csv", "request\n", "holds no task; write one request a line"),
    ],
)
def test_a_file_that_is_no_table_is_an_error_that_says_what_to_do(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ScenarioError) as caught:
        load_test_pack(tmp_path / name)
    assert message in str(caught.value)


def test_a_folder_by_hand_needs_no_head_and_its_files_decide_the_split(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="holds no scenario pack"):
        load_pack(tmp_path)
    (tmp_path / "train.csv").write_text("request,expect\nHow much is it?,3\n")
    (tmp_path / "test.jsonl").write_text('{"request": "How many are there?", "split": "train"}\n')
    pack = load_pack(tmp_path)
    assert ([t.request for t in pack.train], [t.request for t in pack.test]) == (
        ["How much is it?"],
        ["How many are there?"],
    )
    (tmp_path / "test.jsonl").write_text('{"request": "How much is it?", "expect": "3"}\n')
    with pytest.raises(ScenarioError, match="stands in test and in train"):
        load_pack(tmp_path)


def test_a_pack_without_a_fingerprint_fits_any_server_that_has_its_tools() -> None:
    task = Scenario("a", "Where is it?", (), plan=(Call("get_order", {"order_id": "O-1"}),))
    assert Pack((task,)).fits([Tool("get_order"), Tool("more")])
    assert not Pack((task,), tool_hash="0").fits([Tool("get_order")])
    (sentence,) = misfits([task], [Tool("get_orders")])
    assert sentence == (
        "the task 'Where is it?' calls 'get_order', which the server does not offer; did you mean 'get_orders'?"
    )
    with pytest.raises(ScenarioError, match=r"mine: the task 'Where is it\?' calls 'get_order'"):
        require_tools([task], [Tool("other")], "mine")


def test_short_forms_are_read_as_people_write_them() -> None:
    assert read_calls("get-it(a='x; y', b=[1, 2], c=true); now() ; put {\"n\": null}") == (
        Call("get-it", {"a": "x; y", "b": [1, 2], "c": True}),
        Call("now"),
        Call("put", {"n": None}),
    )
    facts = read_facts("it's there; unit price=$1,250.50; '007'; 12 %; 9:30; yes=no; a@b.org")
    assert [(fact.name, fact.value, fact.meaning) for fact in facts] == [
        ("", "it's there", "text"),
        ("unit price", 1250.5, "money"),
        ("", "007", "text"),
        ("", 12, "percent"),
        ("", "9:30", "time"),
        ("yes", "no", "text"),
        ("", "a@b.org", "email"),
    ]
    (state,) = read_states("get(a=1) => 3, 'x, y', not 4")
    assert (state.values, state.gone) == ((3, "x, y"), (4,))
    assert [scalar(text) for text in ("007", "-1.5", "True", "'3'", "3")] == ["007", -1.5, True, "3", 3]
    assert list(parts("a;; b ;", ";")) == ["a", "b"]


# --- values in people's forms -----------------------------------------------------------------------------------------

GIVEN = [
    ("2026-03-03", "on 3 March please"),
    ("2026-03-03", "March 3rd, 2026"),
    ("2026-03-08", "by the 8th of March"),
    ("2026-03-08", "03/08/2026 at the latest"),
    ("2026-03-08T15:00:00", "Mar 8 at 3 pm"),
    ("15:30", "at 3:30pm"),
    ("12:00", "at noon"),
    (12, "a dozen of them"),
    (25, "twenty-five"),
    (2000, "2k or so"),
    ("5", "five"),
    ("SKU-340", "sku 340"),
    ("O-2046", "order 2046"),
    ("new_york", "New York"),
    ("São Paulo", "in sao paulo"),
    (True, "whatever"),
]
NOT_GIVEN = [
    ("2026-03-03", "3 March 2025"),
    ("2026-03-03", "13 March"),
    ("15:30", "3:30 am"),
    (12, "129"),
    ("SKU-340", "SKU-3401"),
    ("O-2046", "12046"),
    ("Ana", "Anabel"),
    ("Berlin", "Bern"),
]


@pytest.mark.parametrize(("value", "text"), GIVEN)
def test_a_value_may_stand_in_a_persons_form(value: Any, text: str) -> None:
    assert derivable(value, text)


@pytest.mark.parametrize(("value", "text"), NOT_GIVEN)
def test_another_value_is_not_taken_for_it(value: Any, text: str) -> None:
    assert not derivable(value, text)


# --- a test pack beside a generated one -------------------------------------------------------------------------------


async def test_no_value_of_the_test_pack_is_used_by_a_generated_training_task(
    shop: ServerConfig, tmp_path: Path
) -> None:
    small = ScenarioConfig(train=12, val=4, test=4, test_forms=0, probe_calls=120, repeat_after_s=0.1)
    async with connect([shop], ToolPolicy()) as server:
        plain = await generate(server, small, 3)
        value = next(value for task in plain.train for value in task.values)
        (tmp_path / "mine.csv").write_text(f"request,expect\nWhat about {value} then?,\n")
        people = read_test_pack(ScenarioConfig(test_pack=str(tmp_path / "mine.csv")), server.tools)
        apart = await generate(server, small, 3, excluded=excluded_values(people, server.tools))
    assert [task for task in apart if task.split != "test" and squash(value) in map(squash, task.values)] == []
    assert len(apart.train) >= len(plain.train)  # others take their places
    assert len(apart.val) >= len(plain.val)


async def test_customers_named_with_their_city_are_trained_on_though_all_cities_stand_in_the_test_pack(
    shop: ServerConfig, tmp_path: Path
) -> None:
    small = ScenarioConfig(train=80, val=2, test=4, test_forms=0, probe_calls=120, repeat_after_s=0.1)
    cities = "Turin Tartu Split Cork Ghent Graz Malmo Porto Bilbao Bergen Krakow Uppsala".split()
    lines = "".join(f"Who lives in {city}?,\n" for city in cities)
    (tmp_path / "mine.csv").write_text(f"request,expect\n{lines}")
    async with connect([shop], ToolPolicy()) as server:
        people = read_test_pack(ScenarioConfig(test_pack=str(tmp_path / "mine.csv")), server.tools)
        apart = await generate(server, small, 0, excluded=excluded_values(people, server.tools))
    listed = [task for task in apart.train if any(call.tool == "list_customers" for call in task.plan)]
    assert len(listed) > 1, "customers are found by their city and their name"
    alone = [task for task in listed if {*task.values} and {*task.values} <= {*cities}]
    assert alone == [], "what is about a city alone is the test's"


def test_what_is_stated_of_three_things_is_a_category_and_gives_no_test_task_away() -> None:
    """A test that asks for a supplier once had taken all questions for suppliers out of training."""

    def stated(fact: str, *values: str) -> Scenario:
        return Scenario(fact + "".join(values), f"What about {values}?", (Fact(fact),), values=values)

    suppliers = [stated("Lumina", f"SKU-{n}") for n in range(3)]
    shelf = [stated("H-39", "SKU-1"), stated("H-39", "SKU-1", "Oak Skillet"), stated("H-39", "Oak Skillet", "SKU-1")]
    count = [Scenario(f"{n}", f"{n}?", (Fact("417"),), (Call("count_all", {}),)) for n in range(4)]  # of nothing named
    people = [Scenario("p", "What is it?", (Fact("Lumina"), Fact("H-39"), Fact("417")))]
    assert without([*suppliers, *shelf, *count], excluded_values(people, ())) == suppliers
    assert without(suppliers[1:], excluded_values(people, ())) == []


async def test_a_task_with_nothing_expected_has_no_score_unless_a_judge_reads() -> None:
    group = Group(
        Scenario("s", "Any idea?", ()), (Trajectory("t", "s", ({"role": "assistant", "content": "No."},), ()),)
    )
    assert await score_held_out(group, Verifier(), Verifier()) == []


def test_a_missing_test_pack_is_an_error_before_a_run_begins(tmp_path: Path) -> None:
    from mcprl.train import checked

    config = Config(runs_dir=str(tmp_path), scenarios=ScenarioConfig(test_pack=str(tmp_path / "no.csv")))
    with pytest.raises(ScenarioError, match=r"no\.csv"):
        checked(config, lambda event: None)
    assert list(tmp_path.iterdir()) == []


# --- import and add ---------------------------------------------------------------------------------------------------


async def test_an_import_executes_each_plan_and_lists_what_does_not_hold(shop: ServerConfig, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(
        TABLE
        + "Where is O-2050?,status=eaten,get_order(order_id='O-2050'),,,,\n"
        + "Is there an O-2046?,,get_order(order_id='O-2046'),,yes,,\n"
        + "Count them,,count_orders(),,,,\n"
    )
    async with connect([shop], ToolPolicy()) as server:
        status = json.loads(await _text(server, "get_order", order_id="O-2046"))["status"]
        path.write_text(path.read_text().replace("status=packed", f"status={status}"))
        imported = await import_tasks(path, server, 0, repeat_after_s=0.0)
    left_out = dict(imported.left_out)
    assert "says that something is missing, but get_order finds it" in left_out["line 11"]
    assert "expects status 'eaten', but get_order says" in left_out["line 10"]
    assert left_out["line 12"].startswith("calls 'count_orders', which the server does not offer")
    where = imported.pack.scenarios[0]
    fact = next(check for check in where.checks if isinstance(check, Fact))
    assert (fact.value, fact.name, fact.derived) == (status, "status", False)
    assert where.answer == f"status {status}"
    imported.pack.save(tmp_path / "pack")
    assert load_pack(tmp_path / "pack").scenarios == imported.pack.scenarios


def conversation(request: str, call: tuple[str, dict[str, Any], str], answer: str) -> str:
    tool, arguments, result = call
    made = {"id": "c", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    messages = [
        {"role": "system", "content": "Serve."},
        {"role": "user", "content": [{"type": "text", "text": request}]},
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": "c", "content": result},
        {"role": "assistant", "content": answer},
        {"role": "user", "content": "And the next one?"},
    ]
    return json.dumps({"messages": messages}) + "\n"


async def test_chat_logs_become_tasks_with_the_facts_that_their_answers_state(tmp_path: Path) -> None:
    row = '[{"id": "O-7", "status": "paid", "day": "2026-03-08"}, {"id": "O-8", "status": "open", "day": "2026-03-09"}]'
    path = tmp_path / "log.jsonl"
    path.write_text(
        conversation("where's order O-7?", ("list_orders", {"of": "O-7"}, row), "It is paid.")
        + conversation("is there an O-900?", ("get_order", {"id": "O-900"}, "Error: none"), "There is no such order.")
        + conversation("set O-8 to paid", ("set_status", {"id": "O-8", "status": "paid"}, '{"done": 1}'), "Done.")
        + conversation("and her?", ("get_customer", {"id": "C-1057"}, '{"name": "Ana"}'), "She is Ana.")
        + '{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello"}]}\n'
    )
    imported = await import_tasks(path, None, 0, "auto")
    lookup, missing, write = imported.pack
    assert lookup.request == "where's order O-7?"
    assert lookup.checks == (Fact("paid", "status", rivals=("open",)),)
    assert lookup.answer == "It is paid."
    assert missing.checks == (CallMade("get_order", {"id": "O-900"}, failed=True), SaysMissing())
    assert write.checks == (CallMade("set_status", {"id": "O-8", "status": "paid"}),)
    assert imported.left_out == [
        ("line 4", "calls get_customer with 'C-1057', which neither its request nor a result gives"),
        ("line 5", "has no tool call in answer to the first message of the user"),
    ]


async def test_a_task_is_added_to_a_folder_or_a_file_once(tmp_path: Path) -> None:
    tree = {"request": "Book me a flight", "declines": True}
    added = await add_task(tmp_path / "pack", tree, None, "test")
    assert load_test_pack(tmp_path / "pack") == (added,)
    with pytest.raises(ScenarioError, match="has the task 'Book me a flight' already"):
        await add_task(tmp_path / "pack", tree, None, "test")
    await add_task(tmp_path / "pack", {"request": "How many?", "expect": "3"}, None, "train")
    assert [task.request for task in load_pack(tmp_path / "pack").train] == ["How many?"]
    (tmp_path / "one.jsonl").write_text('{"request": "Why?"}')
    await add_task(tmp_path / "one.jsonl", tree, None, "test")
    assert [task.request for task in load_pack(tmp_path / "one.jsonl")] == ["Why?", "Book me a flight"]
    with pytest.raises(ScenarioError, match=r"^the new task, calls: 'get\(' is not a call"):
        await add_task(tmp_path / "pack", {"request": "Why?", "calls": "get("}, None, "test")


async def _text(server: Any, tool: str, **arguments: Any) -> str:
    async with server.session() as session:
        return (await session.call(tool, arguments)).text


def test_people_write_tasks_that_survive_saving(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(TABLE)
    tasks = load_test_pack(path)
    Pack(tasks).save(tmp_path / "pack")
    assert load_pack(tmp_path / "pack").scenarios == tuple(replace(task, split="test") for task in tasks)


def test_a_request_of_the_test_pack_is_not_trained_on_though_it_names_nothing() -> None:
    asked = Scenario("p", "Which order do you mean?", ())
    assert without([replace(asked, id="t", split="train")], excluded_values([asked], ())) == []


def test_a_table_and_the_tasks_added_to_it_are_one_pack_and_columns_have_names_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "test.csv").write_text("request,expect\nhow much is SKU-318?,EUR 35.45\n")
    (tmp_path / "test.jsonl").write_text('{"request": "how much is SKU-319?", "expect": "EUR 36.45"}\n')
    assert len(load_pack(tmp_path).test) == 2
    (tmp_path / "test.csv").write_text("request,expect,expect\nhow much is SKU-318?,EUR 35.45,x\n")
    with pytest.raises(ScenarioError, match="two columns are called expect"):
        load_pack(tmp_path)


async def test_tasks_whose_data_have_changed_since_they_were_made_are_told(tmp_path: Path) -> None:
    file = tmp_path / "notes.json"
    file.write_text(json.dumps({name: f"text {name}" for name in "abcd"}))
    reads = {name: Call("get_note", {"name": name}) for name in "abcd"}
    asked = [
        Scenario(name, f"what is in {name}?", (Fact(f"text {name}", "note"),), (call,), f"{name} has: text {name}.")
        for name, call in reads.items()
    ]
    unplayed = Scenario("any", "any advice?", ())
    program = ROOT / "tests" / "support" / "servers" / "shared_notes.py"
    notes: list[Event] = []
    async with connect([ServerConfig(target=f"{sys.executable} {program} {file}")]) as server:
        assert await standing(server, [*asked, unplayed], notes.append) == 1.0
        assert await standing(server, [unplayed], notes.append) is None
        assert not notes
        file.write_text(json.dumps(json.loads(file.read_text()) | {"c": "another"}))
        assert await standing(server, [*asked, unplayed], notes.append) == 0.75
    [note] = notes
    assert isinstance(note, Note)
    assert note.text.startswith("1 of 4 tasks made before did not pass with their own plan and answer, such as 'what")


@pytest.mark.parametrize(("reset_tool", "played"), [("", None), ("clear_notes", 1.0)])
async def test_tasks_made_before_that_write_are_played_only_if_that_is_undone(
    tmp_path: Path, reset_tool: str, played: float | None
) -> None:
    file = tmp_path / "notes.json"
    call, check = Call("set_note", {"name": "a", "text": "b"}), StateHolds("get_note", {"name": "a"}, ("b",))
    scenario = Scenario("write", "set note a to b", (check,), (call,), "Done.")
    program = ROOT / "tests" / "support" / "servers" / "shared_notes.py"
    notes = ServerConfig(target=f"{sys.executable} {program} {file}", reset_tool=reset_tool)
    async with connect([notes]) as server:
        assert await standing(server, [scenario], lambda event: None) == played
        said = one_at_a_time(server, [scenario, replace(scenario, checks=(), plan=())])
    assert file.exists() == (played is not None)
    assert bool(said) == bool(reset_tool)
    if said:
        assert said.startswith("1 of 2 training tasks may write to what all sessions share")
        assert "{scratch:DIR}" in said
