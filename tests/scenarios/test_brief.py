"""A brief says what the request of an executed plan must give and must not give away."""

import json

from mcprl.scenarios.brief import brief, given, lacking, leaking, style_of, written_for
from mcprl.types import Call, CallRecord, Fact, Scenario, Tool, ToolResult

FIND = Tool(
    "find_room",
    "Find a room by its name. Returns its id.",
    {"type": "object", "properties": {"name": {"type": "string"}}},
)
GET = Tool(
    "get_room",
    "The size of a room.",
    {"type": "object", "properties": {"roomId": {"type": "string"}, "unit": {"enum": ["metric", "imperial"]}}},
)
TOOLS = {tool.name: tool for tool in (FIND, GET)}


def record(turn: int, tool: str, arguments: dict[str, object], result: object) -> CallRecord:
    return CallRecord(turn, tool, arguments, ToolResult(json.dumps(result), result))  # pyright: ignore[reportArgumentType]


RECORDS = (
    record(0, "find_room", {"name": "Library"}, {"room_id": "R-12"}),
    record(1, "get_room", {"roomId": "R-12", "unit": "metric"}, {"room_id": "R-12", "floor": 2, "square_metres": 34}),
)
SCENARIO = Scenario(
    "s",
    "How big is the library?",
    (Fact(34, "square_metres"),),
    tuple(Call(each.tool, each.arguments or {}) for each in RECORDS),
    "It has 34 square metres.",
    kind="chain",
)
BRIEF = brief(SCENARIO, RECORDS, TOOLS)


def test_what_no_call_finds_must_be_said_and_what_one_finds_must_not() -> None:
    assert BRIEF.said == ("Library",)
    assert BRIEF.meant == ("metric",), "an option of the schema can be said in other words"
    assert BRIEF.unsaid == ("R-12", 34, "find_room", "get_room", "roomId")
    assert BRIEF.asked == (("square_metres", 34),)
    request = "how big is the library, in metres?"
    assert (lacking(request, BRIEF), leaking(request, BRIEF)) == ([], [])
    assert lacking("How big is it?", BRIEF) == ["Library"]
    assert leaking("How many of its 34 square metres has the library R-12?", BRIEF) == ["R-12", 34]
    assert leaking("Use get_room for the library", BRIEF) == ["get_room"]


def test_the_writer_reads_the_calls_and_what_of_their_results_matters() -> None:
    assert written_for(BRIEF).splitlines() == [
        "find_room(name='Library')  # Find a room by its name.",
        "-> room_id='R-12'",
        "get_room(roomId='R-12', unit='metric')  # The size of a room.",
        "-> square_metres=34",
        "kind: chain",
        "asked: square_metres",
        "answer: It has 34 square metres.",
    ]


def test_of_a_query_its_literals_are_what_must_be_said() -> None:
    query = "SELECT name FROM animals WHERE owner = 'O''Neil' AND weight > 4.5 AND kind LIKE '%cat%'"
    assert given({"query": query}) == ["O'Neil", "4.5", "cat"]
    assert given({"text": "5 'x'", "n": 0, "none": None, "empty": ""}) == ["5 'x'", 0]


def test_what_the_request_must_say_is_no_leak() -> None:
    records = (record(0, "get_room", {"roomId": "12"}, {"floor": 12}),)
    scenario = Scenario("s", "", (Fact(12, "floor"),), (), "On floor 12.")
    assert leaking("Which floor is room 12 on?", brief(scenario, records, TOOLS)) == []


def test_a_style_is_a_length_and_a_care() -> None:
    assert style_of("price of SKU-3") == "short casual"
    assert style_of("Could you please tell me what SKU-3 costs us at the moment, with taxes?") == "long careful"
