"""What things and values are called: nouns of servers, documents, relations, persons, addresses, zones, strangers."""

import random
import re
import zoneinfo

import pytest

from mcprl.config import ServerConfig
from mcprl.scenarios.addresses import as_address, as_person
from mcprl.scenarios.askable import is_no_noun
from mcprl.scenarios.catalog import Catalog
from mcprl.scenarios.documents import title_of
from mcprl.scenarios.english.nouns import data
from mcprl.scenarios.fields import is_answer
from mcprl.scenarios.intents import Attribute, Value
from mcprl.scenarios.meaning import infer, refined
from mcprl.scenarios.names import noun
from mcprl.scenarios.naming import stateless
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.probing.values import stranger
from mcprl.scenarios.slots import slots
from mcprl.scenarios.writers.plain import thing_of
from mcprl.servers.settings import command_values
from mcprl.types import Scalar, Tool


def knowledge(*tools: Tool) -> Knowledge:
    return Knowledge({tool.name: tool for tool in tools}, {tool.name: slots(tool) for tool in tools})


def tool(name: str, *parameters: str) -> Tool:
    properties = {parameter: {"type": "string"} for parameter in parameters}
    return Tool(name, "", {"type": "object", "properties": properties, "required": list(parameters)})


def values(**given: Scalar) -> tuple[Value, ...]:
    return tuple(Value(infer(key, [value]), value) for key, value in given.items())


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


def test_nouns_come_from_the_key_of_a_row() -> None:
    tools = (tool("git_log"), tool("git_show", "revision"), tool("git_diff_staged"))
    catalog = Catalog(knowledge(*tools))
    commit = {"commit": "1c55c83fa7a232b81b455d8769f16c3fe6e16c92", "author": "Ana"}
    assert catalog.noun(tools[0], (), commit) == "commit"
    assert catalog.noun(tools[2], (), {"file": "a/b.txt", "added_lines": 3}) == "staged file"


@pytest.mark.parametrize(
    ("name", "parameter", "called"),
    [
        ("vendor-card", "vendor", "vendor"),
        ("get_order_record", "order_id", "order"),
        ("library_card", "card_no", "library card"),
        ("find_place", "name", "place"),
    ],
)
def test_what_a_tool_looks_up_is_called_as_the_thing(name: str, parameter: str, called: str) -> None:
    assert noun(tool(name, parameter)) == called


def test_a_noun_has_no_state_beside_a_status() -> None:
    waiting = Value(Attribute("stage", "stage", "status"), "waiting")
    assert stateless("open job", [waiting]) == "job"
    assert stateless("open job", []) == "open job"


def test_a_number_under_the_name_of_a_thing_identifies_it() -> None:
    assert refined(infer("job", [301, 309]), [301, 309], {"job"}).meaning == "identifier"
    assert refined(infer("job", [301, 309]), [301, 309], {"part"}).meaning != "identifier"
    assert refined(infer("rating", [3, 5]), [3, 5], {"rating"}).meaning == "number"


@pytest.mark.parametrize(
    ("label", "asked"),
    [("free shipping from", False), ("depends on", False), ("on call", False), ("date checked in", True)],
)
def test_a_label_that_is_no_noun_is_not_asked_for(label: str, asked: bool) -> None:
    assert is_no_noun(Attribute(label, label, "text"), "SUP-14") is not asked


@pytest.mark.parametrize(
    ("answer", "said", "asked"),
    [
        ("Liam", "liam_thomas_8955", False),
        ("Ana Ruiz", "ana.ruiz@mail.example", False),
        ("Thomas", "liam_8955", True),
        ("14", "room 14b", True),
        ("Harbor Cafe", "invoices/INV-1041-harbor-cafe.txt", False),
        ("Harbor Hotel", "invoices/INV-1041-harbor-cafe.txt", True),
        ("2026-03-01", "notes/2026-03-01-standup.md", True),
    ],
)
def test_what_the_request_gives_away_is_no_answer(answer: str, said: str, asked: bool) -> None:
    assert is_answer(answer, [said]) is asked


def test_a_path_is_said_from_the_folder_that_is_served() -> None:
    known = knowledge(tool("read_file", "path"))
    known.base.add(("from", "command line", "argument"), "/scratch/files")
    catalog = Catalog(known)
    assert catalog.from_root("/scratch/files/notes/a.md") == "notes/a.md"
    assert catalog.from_root("/elsewhere/a.md") == "/elsewhere/a.md"
    assert catalog.thing("/scratch/files/notes/a.md") == catalog.thing("notes/a.md")


@pytest.mark.parametrize(
    ("path", "called", "sought"),
    [
        ("contracts/cleaning-service.txt", "the cleaning service contract", "cleaning"),
        ("contracts/lease-mill-lane.txt", "the mill lane lease", "mill"),
        ("invoices/INV-1044-brightside-gym.txt", "invoice INV-1044", "INV-1044"),
        ("lists/contacts.csv", "the contacts list", "contacts"),
        ("notes/moving_checklist.md", "the moving checklist", "moving"),
        ("notes/2026-03-09-standup.md", "the standup with date 2026-03-09", "2026-03-09"),
        ("README.txt", "the readme", "readme"),
    ],
)
def test_a_document_is_called_what_it_is(path: str, called: str, sought: str) -> None:
    title = title_of(path)
    assert title is not None
    assert thing_of(title.reference) == called
    assert title.sought == sought


@pytest.mark.parametrize("path", ["src/main", "a/x7-9.txt", "data/part-00001.csv", "misc/one two three four five.txt"])
def test_a_name_that_tells_nobody_anything_is_no_title(path: str) -> None:
    assert title_of(path) is None


def test_a_first_and_a_last_name_are_one_name() -> None:
    person = as_person(values(first_name="Ana", dob="1987-05-21", last_name="Ruiz"), "passenger")
    assert [(value.attribute.label, value.value) for value in person] == [
        ("passenger", "Ana Ruiz"),
        ("birth date", "1987-05-21"),
    ]
    assert as_person(values(first_name="Ana")) == values(first_name="Ana")


def test_the_parts_of_an_address_are_one_address() -> None:
    given = values(zip="80279", city="Denver", address1="1 Oak Lane", order_id="O-1")
    whole = as_address(given)
    assert [value.value for value in whole] == ["O-1", "1 Oak Lane, Denver, 80279"]
    assert whole[1].attribute == Attribute("address", "address", "place")
    assert as_address(given[:2]) == given[:2]


def test_a_stranger_has_a_day_that_there_is_or_letters_of_a_code() -> None:
    for seed in range(20):
        made = stranger("notes/2026-03-02-standup.md", random.Random(seed))
        assert re.fullmatch("[A-Z]{6}", stranger("EHGLPS", random.Random(seed)))
        assert re.fullmatch(r"notes/20\d\d-(0[1-9]|1[0-2])-[0-2]\d-standup\.md", made), made


def test_a_table_that_does_not_exist_might_exist() -> None:
    made = {stranger("owners", random.Random(seed), noun="table") for seed in range(40)}
    assert made & {"suppliers", "payments"}
    assert not made & {"oak", "prairie"}


def test_zones_are_named_by_cities_that_one_zone_has() -> None:
    cities = [zone.rpartition("/")[2] for zone in data()["zones"]]
    assert "Tokyo" in cities
    assert len(set(cities)) == len(cities)
    assert not {"Calcutta", "NSW", "Victoria"} & {*cities}
    assert all(zoneinfo.ZoneInfo(zone) for zone in data()["zones"])
