"""Kinds of tasks on servers like a repository, a graph of notes and a folder of files, in process."""

import json
import random
from dataclasses import replace

import pytest

from mcprl.config import ServerConfig
from mcprl.scenarios.catalog import Catalog
from mcprl.scenarios.intents import Attribute, Change, Connected, Count, Reference, Value
from mcprl.scenarios.kinds.computes import _listed
from mcprl.scenarios.kinds.parts import _edges
from mcprl.scenarios.meaning import infer, refined
from mcprl.scenarios.naming import stateless
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.probing.sharing import without_moments
from mcprl.scenarios.readers import read_text
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Step, in_order
from mcprl.scenarios.wording import answer, say
from mcprl.servers.settings import command_values
from mcprl.types import Call, Tool, ToolResult


def knowledge(*tools: Tool) -> Knowledge:
    slots = {
        tool.name: [
            Slot(tool.name, (name,), schema, name in tool.input_schema.get("required", ()), "")
            for name, schema in tool.input_schema["properties"].items()
        ]
        for tool in tools
    }
    return Knowledge({tool.name: tool for tool in tools}, slots)


def tool(name: str, *parameters: str) -> Tool:
    properties = {parameter: {"type": "string"} for parameter in parameters}
    return Tool(name, "", {"type": "object", "properties": properties, "required": list(parameters)})


def test_settings_in_a_shells_script() -> None:
    script = "sh -c 'cp -r /data/x {scratch}/x && MODE=fast exec /opt/server --repository {scratch}/x'"
    assert command_values(ServerConfig(target=script)) == {"repository": ["/scratch/x"], "mode": ["fast"]}


def test_an_echoed_setting_is_a_setting() -> None:
    known = knowledge(tool("log", "repo"), tool("status", "repo"))
    known.base.add(("from", "command line", "repository"), "/data/x")
    known.base.add(("from", "log", "repo"), "/data/x")
    known.sources["log", ("repo",)] = [("from", "command line", "repository")]
    known.sources["status", ("repo",)] = [("from", "log", "repo")]
    assert all(known.is_setting(known.slots[name][0]) for name in ("log", "status"))
    known.calls += 1
    known.base.add(("from", "log", "repo"), "/data/y")
    assert not known.is_setting(known.slots["status"][0])


def test_moments_prove_no_write() -> None:
    text = "size: 4\nmodified: Sun Nov 22 2026 08:47:37 GMT\nseen 2026-11-22T08:47:37Z"
    assert without_moments(text) == without_moments(text.replace("08:47:37", "09:01:02"))
    assert without_moments("size: 4") != without_moments("size: 5")


def test_nouns_come_from_the_key_of_a_row() -> None:
    tools = (tool("git_log"), tool("git_show", "revision"), tool("git_diff_staged"))
    catalog = Catalog(knowledge(*tools))
    commit = {"commit": "1c55c83fa7a232b81b455d8769f16c3fe6e16c92", "author": "Ana"}
    assert catalog.noun(tools[0], (), commit) == "commit"
    assert catalog.noun(tools[2], (), {"file": "a/b.txt", "added_lines": 3}) == "staged file"


def test_a_path_is_said_from_the_folder_that_is_served() -> None:
    known = knowledge(tool("read_file", "path"))
    known.base.add(("from", "command line", "argument"), "/scratch/files")
    catalog = Catalog(known)
    assert catalog.from_root("/scratch/files/notes/a.md") == "notes/a.md"
    assert catalog.from_root("/elsewhere/a.md") == "/elsewhere/a.md"
    assert catalog.thing("/scratch/files/notes/a.md") == catalog.thing("notes/a.md")


def test_edges_are_rows_with_two_ends_and_a_verb() -> None:
    record = {"relations": [{"from": "Ana", "to": "Atlas", "relationType": "works_on"}, {"from": "a", "to": "b"}]}
    assert _edges(record) == [("Ana", "works_on", "Atlas")]
    assert _edges({"from": "a", "to": "b", "type": "flight"}) == []


@pytest.mark.parametrize("intent", [Connected("works_on", "Ana", None), Connected("works_on", None, "Atlas")])
def test_relations_are_asked_by_their_verb(intent: Connected) -> None:
    requests = {worded.request for n in range(60) if (worded := say(intent, random.Random(n), lambda _: True))}
    assert any("work" in request.lower() for request in requests)
    assert len(requests) > 10


def test_the_answer_to_a_relation() -> None:
    assert answer(Connected("works_on", "Ana", None), ("Atlas",), random.Random(0)) == "Ana works on Atlas."


def test_a_connection_that_a_search_found_is_told_as_its_flights() -> None:
    legs = [[{"number": "HAT039"}, {"number": "HAT021"}], [{"number": "HAT039"}, {"number": "HAT100"}]]
    result = ToolResult(json.dumps(legs))
    step = Step(tool("search"), [], Call("search", {}), result, legs)
    assert _listed(step) == ["HAT039 then HAT021", "HAT039 then HAT100"]
    assert _listed(replace(step, record=[*legs[0], legs[1][1]])) == ["HAT039", "HAT021", "HAT100"]


def test_a_noun_has_no_state_beside_a_status() -> None:
    waiting = Value(Attribute("stage", "stage", "status"), "waiting")
    assert stateless("open job", [waiting]) == "job"
    assert stateless("open job", []) == "open job"


def test_a_number_under_the_name_of_a_thing_identifies_it() -> None:
    assert refined(infer("job", [301, 309]), [301, 309], {"job"}).meaning == "identifier"
    assert refined(infer("job", [301, 309]), [301, 309], {"part"}).meaning != "identifier"
    assert refined(infer("rating", [3, 5]), [3, 5], {"rating"}).meaning == "number"


def test_days_of_a_period_are_in_order_and_said_as_one() -> None:
    between = tool("jobs_due_between", "first_day", "last_day")
    known = knowledge(between)
    known.slots[between.name] = [
        Slot(between.name, (name,), {"type": "string"}, True, "a date, YYYY-MM-DD")
        for name in ("first_day", "last_day")
    ]
    first, last = known.slots[between.name]
    filled = in_order([(first, "2026-03-01"), (last, "2026-02-01")])
    assert filled == [(first, "2026-02-01"), (last, "2026-03-01")]
    (said,) = Planner(Catalog(known), "train", "entities", 0, 4).said(filled)
    worded = [say(Count("job", (said,)), random.Random(seed), lambda form: "+" not in form) for seed in range(30)]
    requests = [one.request for one in worded if one]
    assert all("due between 1 February 2026 and 1 March 2026" in request for request in requests)
    assert any("jobs are due between" in request for request in requests)
    assert not any("there due" in request or "there are due" in request for request in requests)


def test_a_made_up_day_is_near_those_that_results_show() -> None:
    due = Slot("jobs_due", ("day",), {"type": "string"}, True, "a date, YYYY-MM-DD")
    known = knowledge(tool("jobs_due", "day"))
    known.base.pool[("from", "job_sheet", "due")] = {"2031-02-03": None, "2031-03-09": None, "waiting": None}
    days = [known.made_up(due, random.Random(seed)) for seed in range(40)]
    assert {day[:4] for day in days} == {"2031"}
    assert all("2031-01-03" <= day <= "2031-04-09" for day in days)


def test_cities_are_no_begin_and_end() -> None:
    start, end = (Slot("find", (name,), {"type": "string"}, True, "") for name in ("from", "to"))
    assert in_order([(start, "Turin"), (end, "Bilbao")]) == [(start, "Turin"), (end, "Bilbao")]


def test_an_old_and_a_new_text_are_a_replacement() -> None:
    values = (
        Value(Attribute("oldText", "old text"), "ten o'clock"),
        Value(Attribute("newText", "new text"), "noon today"),
    )
    file = Reference("file", (Value(Attribute("path", "path", "path"), "notes/plan.md"),))
    for seed in range(8):
        request = say(Change("edit_file", "Edits.", "set", file, values), random.Random(seed), lambda _: True)
        assert request
        assert '"ten o\'clock"' in request.request
        assert "old text" not in request.request


def test_git_status_tells_what_is_staged() -> None:
    text = "On branch main\nChanges not staged for commit:\n\tmodified:   a.txt\n\nUntracked files:\n\tb.txt\n"
    assert read_text(text) == {
        "branch": "main",
        "files": [
            {"file": "a.txt", "change": "modified", "status": "unstaged"},
            {"file": "b.txt", "status": "untracked"},
        ],
    }
