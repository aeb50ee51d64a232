"""Computations, notes, searches and variables, said as people say them: each case is one that was read as awkward."""

import random
import re

import pytest

from mcprl.scenarios import intents
from mcprl.scenarios.fields import is_answer
from mcprl.scenarios.intents import Attribute, Intent, Reference, Value
from mcprl.scenarios.probing.values import invent
from mcprl.scenarios.slots import slots
from mcprl.scenarios.wording import say
from mcprl.scenarios.wording.values import forms
from mcprl.types import Tool


def value(key: str, told: str | float, meaning: str = "text") -> Value:
    return Value(Attribute(key, key.replace("_", " "), meaning), told)  # pyright: ignore[reportArgumentType]


def all_said(intent: Intent) -> list[str]:
    """What sixty seeds say without a persona."""
    worded = [say(intent, random.Random(seed), lambda form: "+" not in form) for seed in range(60)]
    return [one.request for one in worded if one]


SUM = (value("a", 416, "number"), value("b", 59, "number"))
DIFFERENCE = Attribute("time_difference", "time difference", "text")
ZONES = (
    value("source_timezone", "America/Halifax", "category"),
    value("time", "18:30", "time"),
    value("target_timezone", "Europe/Paris", "category"),
)
CLOCK = Attribute("time", "time", "time")
PLACES = tuple(
    Reference("target", (value("target_timezone", zone, "category"),)) for zone in ("America/Lima", "Asia/Tokyo")
)
TOWN = (value("location", "Oslo", "place"),)
TOWNS = tuple(Reference("place", (value("location", town, "place"),)) for town in ("Oslo", "Bergen"))
CONDITIONS, WARM = (
    Attribute("conditions", "conditions", "text"),
    Attribute("temperature", "temperature", "measure", "°C"),
)
TYPE = (value("messageType", "debug", "category"),)
FILE = Reference("file", (value("files", "notes.txt", "path"),))
BASED = (value("branch_name", "night", "name"), value("base_branch", "main", "name"))
SINCE, OF_COMMIT = value("target", "d2861432", "identifier"), value("revision", "d2861432", "identifier")
OTHER = Reference("commit", (value("revision", "ffab4a5a", "identifier"),))
LASTING = (value("duration", 3, "duration"),)
AWAY = (value("note", "away"),)
OFFICE = (value("name", "Mellow Plaza", "name"), value("note", "ask Ada for details"))
TOM = Reference("entity", (value("name", "Tom Okoro", "name"),))
COMMIT = Reference("commit", (value("revision", "d2861432", "identifier"),))
COMMITTED = Attribute("date", "date", "date")
AUTHOR, MESSAGE = Attribute("author", "author", "person"), Attribute("message", "message", "name")
USER = Reference("user", (value("user_id", "ana_ruiz_7", "identifier"),))
BORN = Attribute("dob", "birth date", "date")
BOOKING = Reference("reservation", (value("reservation_id", "WOQA9Q", "identifier"),))
CABIN = Attribute("cabin", "cabin", "text")
REPOSITORY = Reference("repository", (value("repo_path", "/tmp/repo", "path"),))
BRANCH = Attribute("branch", "branch", "category")
ENVIRONMENT = Reference("environment")
ABOUT = (value("about", "Pelican", "name"),)
NOTE = Attribute("contents", "note", "text")
TERM, HOME = Attribute("TERM", "TERM", "text"), Attribute("HOME", "HOME", "text")
INVOICE = Reference("file", (value("path", "invoices/1.txt", "path"),))
DUE, DATED = Attribute("due", "due date", "date"), Attribute("date", "date", "date")


@pytest.mark.parametrize(
    ("intent", "pattern", "never"),
    [
        (intents.Compute("get_sum", "Add two numbers.", SUM), "416", "irst 416|together, what do|^One is"),
        (intents.Compute("run_it", "Trigger Long Running Operation", LASTING), "3", "igger"),
        (intents.Compute("convert_time", "Convert.", ZONES, (DIFFERENCE,)), "6:30|18:30|half past", "apart\\?|We talk"),
        (intents.Compute("convert_time", "Convert.", ZONES, (CLOCK,)), "Halifax|Nova", "evening (Hal|Nova)|what half"),
        (intents.Each(PLACES, CLOCK, ZONES[:2]), "Lima", "clocks say|to the time in|I need [^t]"),
        (intents.Each(TOWNS, CONDITIONS), "weather", "^the conditions"),
        (intents.Compute("get_annotated_message", "Annotate.", TYPE), "annotated debug message", "of type"),
        (intents.Compute("get_weather", "Weather.", TOWN, (CONDITIONS,)), "weather", "form|forgot"),
        (intents.Compute("get_weather", "Weather.", TOWN, (WARM,)), "Oslo", "hot or cold|warm is Oslo"),
        (intents.Change("git_reset", "Unstages all staged changes", "act", None, ()), "unstage all changes", "all st"),
        (intents.Change("git_add", "Add to the staging area", "act", FILE, ()), "stage", "boss"),
        (intents.Change("create_branch", "", "create", None, BASED), "based on main", "compared"),
        (intents.Count("changed file", (SINCE,)), "since", "touched|number of files that changed|^[Ss]ince"),
        (intents.Count("file", (OF_COMMIT,)), "d2861432", "if so how many"),
        (intents.Lookup(COMMIT, (AUTHOR,)), "d2861432", "is (it|commit d2861432|d2861432) by"),
        (intents.Compare((COMMIT, OTHER), COMMITTED, True), "d2861432", "or is it"),
        (
            intents.Compute("diff_staged", "Shows changes that are staged for commit", ()),
            "staged for commit",
            "^[Tt]he changes|are the changes that",
        ),
        (intents.Change("add_office", "", "create", None, OFFICE), "Plaza", 'details"(?:,? please add| isn| into)'),
        (intents.Change("add_notes", "", "create", TOM, AWAY), "Tom Okoro", "found out|I just heard"),
        (intents.Connected("is for", "Pelican", None), r"\b[Ww]ho\b", "[Ww]hat"),
        (intents.Listing("note", ABOUT, NOTE), "note", "we know|everything we have"),
        (intents.Listing("entity", (value("mention", "polish"),), NOTE), "polish", 'anything (?:on|about) "'),
        (intents.Lookup(COMMIT, (COMMITTED,)), "d2861432", "committed"),
        (intents.Lookup(COMMIT, (AUTHOR, MESSAGE)), "d2861432", "[Ww]hat are"),
        (intents.Lookup(USER, (BORN,)), "ana_ruiz_7", "what day|which date"),
        (intents.Lookup(BOOKING, (CABIN,)), "cabin", "it have|it has |cabin (?:of|for)|'s cabin"),
        (intents.Lookup(REPOSITORY, (BRANCH,)), "branch", "it have|it has |branch (?:of|for)|'s branch"),
        (intents.Lookup(ENVIRONMENT, (TERM, HOME)), "TERM", "TERM of|HOME it|HOME .* in it"),
        (intents.Lookup(INVOICE, (DUE, DATED)), "date|due", "deadline|what is the date\\?"),
        (intents.Unserved(("commit",)), "", "commits? in the newspaper|about our commits|competitors|next year"),
    ],
)  # fmt: skip
def test_it_is_said_as_people_say_it(intent: Intent, pattern: str, never: str) -> None:
    said = all_said(intent)
    assert len({*said}) > 2
    for request in said:
        assert re.search(pattern, request, re.IGNORECASE), request
        assert not re.search(never, request), request


def test_what_all_its_words_give_away_is_no_answer() -> None:
    assert not is_answer("Harbor Cafe", ["invoices/INV-1041-harbor-cafe.txt"])
    assert is_answer("Harbor Hotel", ["invoices/INV-1041-harbor-cafe.txt"])
    assert is_answer("2026-03-01", ["notes/2026-03-01-standup.md"])


def test_nobody_makes_calls_at_night_or_hands_out_odd_amounts() -> None:
    schema = {"type": "object", "properties": {"time": {"type": "string"}, "amount": {"type": "integer"}}}
    clock, amount = slots(Tool("send_certificate", "", schema))
    for seed in range(40):
        assert "07" <= str(invent(clock, random.Random(seed))) < "23"
        assert int(invent(amount, random.Random(seed))) % 5 == 0


def test_a_zone_that_is_called_after_its_islands_is_said_with_their_article() -> None:
    assert forms(value("timezone", "Indian/Maldives", "category"))[0] == "the Maldives"
