"""Named relations, asked for and written: who works on the project, what does Ana manage, Ana manages the project."""

import random

from mcprl.scenarios.intents import Change, Connected
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.keys import JOINTS
from mcprl.scenarios.wording.phrases import is_person
from mcprl.scenarios.wording.template import Option, data, mark, options
from mcprl.scenarios.wording.values import called, plain
from mcprl.text import words

SUBJECTS = frozenset("from source subject start parent src tail".split())
OBJECTS = frozenset("to target object end child destination dst head".split())
VERBS = frozenset("relation type predicate verb label kind relationship edge link name".split())
"""Words of the fields of a relation: who or what it leads from and to, and its verb."""


_OF_PEOPLE = frozenset(
    "manages works mentors leads organizes organises owns knows reports teaches writes wrote runs supervises attends "
    "lives likes sits hosts coaches trains reviews maintains assists supports founded created built hired studies "
    "prefers".split()
)
"""Verbs whose subject is a person."""
_TO_PEOPLE = frozenset("mentors knows reports supervises coaches trains assists hired".split())
"""Verbs whose object is a person."""


def link_options(intent: Connected, rng: random.Random) -> list[Option]:
    """Requests for the other end of a relation."""
    head, *rest = words(intent.verb)
    tail = " ".join(rest)
    if intent.subject is None and head == "is" and " ".join(rest) in JOINTS:
        return []  # nobody asks what is for somebody
    if intent.subject is None:
        of_people = head in _OF_PEOPLE and (head, *rest) != ("runs", "on")
        who = "who" if of_people or is_person(" ".join(rest[:1])) else "what"
        slots = {"verb": " ".join([head, *rest]), "it": called(str(intent.object)), "who": who}
        return options(data("groups")["link_to"], "link.to", slots)
    it = called(intent.subject)
    what = "who" if head in _TO_PEOPLE or (head, *rest) == ("is", "for") else "what"
    if rest and rest[-1] in ("in", "at"):  # where does Ana work, and not: what does Ana work at
        what, tail = "where", " ".join(rest[:-1])
    if head == "is":
        slots = {"ask": f"{what} is {it} {tail}".strip(), "clause": f"{what} {it} is {tail}".strip(), "it": it}
    else:
        base = grammar.infinitive(head)
        slots = {
            "ask": f"{what} does {it} {base} {tail}".strip(),
            "clause": f"{what} {it} {head} {tail}".strip(),
            "it": it,
        }
    return options(data("groups")["link_from"], "link.from", slots)


def is_verb(text: str) -> bool:
    """Whether a relation reads as a verb in the third person: `works_at`, `is for`, `manages`."""
    head = (words(text) or ("",))[0]
    return head in ("is", "has") or (head.endswith("s") and not head.endswith("ss") and len(head) > 3)


def linked(intent: Change) -> str:
    """The sentence that a write of one relation makes so: `Ana manages Apollo`. Empty if it writes something else."""
    sides: dict[str, str] = {}
    values = (*(intent.thing.values if intent.thing else ()), *intent.values)
    for value in values:
        named = {*words(value.attribute.key)}
        side = next((name for name, own in _SIDES.items() if named & own), "")
        if not side or side in sides or not isinstance(value.value, str):
            return ""
        sides[side] = plain(value.value)
    if {*sides} != {*_SIDES} or not is_verb(sides["verb"]):
        return ""
    return f"{called(sides['subject'])} {mark(' '.join(words(sides['verb'])))} {called(sides['object'])}"


_SIDES = {"subject": SUBJECTS, "object": OBJECTS, "verb": VERBS}
