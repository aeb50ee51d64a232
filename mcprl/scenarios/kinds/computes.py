"""Questions for what a tool works out of its arguments, and calls that are asked for themselves."""

import re
from collections.abc import Collection, Iterable, Mapping

from mcprl.judges.checks import leaves
from mcprl.scenarios.askable import askable, is_guessable
from mcprl.scenarios.english import grammar
from mcprl.scenarios.fields import text_facts
from mcprl.scenarios.filling import is_anchored
from mcprl.scenarios.intents import Attribute, Compute, Value
from mcprl.scenarios.naming import said
from mcprl.scenarios.parameters import is_paging
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.steps import Field, Filled, Grounded, Step
from mcprl.text import words
from mcprl.types import CallMade, Json, Session, Tool

_SEARCHING = frozenset("search find query browse".split())
_CODE = re.compile(r"(?=.*[A-Za-z])(?=.*\d)[A-Za-z\d_-]{3,16}")
"""A name of a thing that stands in no field called so: `HAT204`."""
_MOST_FOUND = 16
_MOST_DIGITS = 7
_MOST_LETTERS = 600
"""Letters of a text that an answer repeats."""


async def compute(planner: Planner, session: Session, state: State) -> Grounded | None:
    """What a tool works out of values that name no thing of the server."""
    tool = planner.choice.tool(lambda tool: planner.catalog.computes(tool) and not planner.choice.is_given_up(tool))
    step = await _read_of_split(planner, session, state, tool) if tool else None
    if tool is None or step is None:
        return None
    fields, values = _worked_out(planner, step), tuple(said(planner.catalog, step.filled))
    texts = [value.value for value in values if isinstance(value.value, str)]
    if len({*texts}) < len(texts):
        return None  # nobody asks how far a place is from itself
    if not all(is_anchored(planner.known, slot, value) for slot, value in step.filled):
        return None
    if any(isinstance(value.value, float) and len(str(value.value)) > _MOST_DIGITS for value in values):
        return None  # nobody says such a number: it came out of another call
    if not fields or (_is_search(tool) and fields[0].attribute.key == "result"):  # a number of what it found
        planner.choice.barren[tool.name] += 1
        return None
    entities = [_combination(values)]
    own = ("result", *words(tool.name))  # an add tool's `add` is its result
    asked = () if fields[0].attribute.key == "result" or fields[0].attribute.label in own else (fields[0].attribute,)
    intent = Compute(tool.name, tool.title or tool.description, values, asked)
    task = planner.question("compute", intent, [step.call], [fields[0]], state, entities)
    planner.choice.barren[tool.name] -= task is not None
    return task


async def act(planner: Planner, session: Session, state: State) -> Grounded | None:
    """A call that is asked for itself, since nothing that could be asked stands in its result."""
    tool = planner.choice.tool(planner.choice.is_plain)
    step = await _read_of_split(planner, session, state, tool) if tool else None
    if tool is None or step is None:
        return None
    if planner.catalog.computes(tool) and not _is_search(tool) and _worked_out(planner, step):
        return None
    if _leaves_out_which(planner, tool, step) or not all(is_anchored(planner.known, *pair) for pair in step.filled):
        return None
    values = tuple(value for value in said(planner.catalog, step.filled, paging=True))
    entities = [_combination(values)] if values else []
    intent = Compute(tool.name, tool.title or tool.description, values)
    checks = (CallMade(tool.name, step.call.arguments),)
    text = step.result.text.strip()
    text = f"{text} none" if text.endswith(":") else text  # a heading with nothing below it
    outcome = (text,)
    if not _is_search(tool) and not _is_told(text):
        return None  # whoever asks for a result wants to have it
    if _is_search(tool) and not _is_short(step.result.text):
        listed = _listed(step)
        if not listed:
            return None  # whoever searches wants to know what was found
        outcome = (f"I found {grammar.listed(listed)}.",)
    return planner.task("action", intent, outcome, (step.call,), checks, state, entities)


def _combination(values: Iterable[Value]) -> str:
    """What is held out of a call whose values name no thing of the server: their combination."""
    return ", ".join(str(value.value) for value in values)


async def _read_of_split(planner: Planner, session: Session, state: State, tool: Tool) -> Step | None:
    """A call whose combination of values belongs to the split."""

    def fits(filled: Filled) -> bool:
        values = said(planner.catalog, filled, paging=True)
        return not values or planner.allowed(_combination(values))

    return await planner.calls.read(session, state, tool, {}, fits)


def _leaves_out_which(planner: Planner, tool: Tool, step: Step) -> bool:
    """Whether a call leaves the number of a thing at its default: whoever asks for it says which they mean."""
    given = {slot for slot, _ in step.filled}
    left = (slot for slot in planner.known.slots[tool.name] if slot not in given and not is_paging(slot))
    return any({*words(slot.key)[1:]} & {"id", "number", "code"} for slot in left)


def _listed(step: Step) -> list[str]:
    """What names the things that a search found; empty if they have no names or are many. Of a list of lists each is
    one thing: a connection is its flights, one after another."""
    given = {str(value) for _, value in step.filled}
    parts = step.record if isinstance(step.record, list) else []
    if parts and all(isinstance(part, list) for part in parts):
        found = [" then ".join(_names(part, given)) for part in parts]
    else:
        found = _names(step.record, given)
    return found if 0 < len(found) <= _MOST_FOUND and all(found) else []


def _is_no_difference(entry: Field) -> bool:
    """Whether a field says that two things do not differ: who asks how far they are apart knows that they are."""
    return "difference" in words(entry.attribute.key) and bool(
        re.fullmatch(r"[+-]?0(?:[.:]0+)?\s?\w*", str(entry.value))
    )


def _names(found: Json, given: Collection[str]) -> list[str]:
    """The names, else the codes, in a part of a result, however deep; those that are not `given`."""
    texts = [(path, value) for path, value in leaves(found) if isinstance(value, str) and value]
    named = [value for path, value in texts if path and path[-1] in ("name", "title")]
    named = named or [value for _, value in texts if _CODE.fullmatch(value)]
    return [name for name in dict.fromkeys(named) if name not in given]


def _is_search(tool: Tool) -> bool:
    """Whether a tool looks for things, so that its answer is what it found."""
    return bool({*words(tool.name)} & _SEARCHING)


def _is_told(text: str) -> bool:
    """Whether a result can be repeated as it is: it is short, or a text of some lines."""
    return _is_short(text) or (len(text) <= _MOST_LETTERS and not re.match(r"\s*[\[{<]", text))


def _is_short(text: str) -> bool:
    return len(text) < 80 and "\n" not in text and "[" not in text


def _worked_out(planner: Planner, step: Step) -> list[Field]:
    """What a computation returned: a field of its record, else what varies in its text; a random one first."""
    given = [value for _, value in step.filled]
    record = step.rows[0] if len(step.rows) == 1 else step.record
    if isinstance(record, Mapping):
        fields = list(askable(planner.catalog, step, record, (), given))  # pyright: ignore[reportUnknownArgumentType]
        fields = [entry for entry in fields if not is_guessable(planner.known, step.tool.name, entry)]
        fields = [entry for entry in fields if not _is_no_difference(entry)]
        planner.rng.shuffle(fields)
        return fields
    texts = planner.known.texts.get(step.tool.name, [])
    facts = text_facts(texts, step.result.text, {str(value).casefold() for value in given})
    meaning = "number" if facts and not isinstance(facts[0], str) else "text"
    return [Field(Attribute("result", "result", meaning), value) for value in facts[:1]]
