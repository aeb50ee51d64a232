"""What a pack is worth, measured before anyone trains on it, and the floor below which training does not begin."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from mcprl.errors import ScenarioError
from mcprl.runs.overlap import wording_overlap
from mcprl.scenarios.packs.handwritten import calls_of
from mcprl.scenarios.packs.pack import Pack
from mcprl.servers.digest import looks_like_error
from mcprl.text import counted
from mcprl.types import Fact, Scenario, Tool

LEAST_TOOLS = 0.5
"""The floor: the share of the tools that may be called which have a task."""
LEAST_TASKS = 60
"""The floor: the number of training tasks."""
_SEVERAL = 10
"""Training tasks of a parameter from which one value alone is told."""
_SHOWN = 6
"""Names of a list that a line shows."""
_ERROR = re.compile(
    r"\b(?:(?:error|exception)s?(?=\s*[:(]| (?:while|when|in|at|occurred|executing|calling)\b)|traceback|failed to|"
    r"invalid|not found|no such|denied|unable to|cannot|could not|must be|is required)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Quality:
    """Counts and shares (0..1) of a pack.

    `tools` and `parameters` are those of the tools that may be called; `uncovered` are the tools without a task.
    `alone` has the parameters to which all training tasks give the same value, with it: that value is what is learnt.
    `plan_lengths` counts tasks by their number of calls, `suites` the test tasks. `forms` is the number of
    constructions in training. `error_facts` are the requests of tasks whose fact reads like an error message.
    `overlap` is the share of the forms test's wordings that stand in training, values blanked; `None` without such a
    test. `standing` is the share of tasks made before that still hold (`packs.standing`); `None` if there are none.
    `adversaries` has the pass rate of each policy that cheats (`judges.adversaries`).
    """

    train: int
    val: int
    test: int
    tools: int
    covered_tools: int
    uncovered: tuple[str, ...]
    parameters: int
    covered_parameters: int
    kinds: dict[str, int]
    plan_lengths: dict[int, int]
    forms: int
    suites: dict[str, int]
    alone: tuple[str, ...] = ()
    error_facts: tuple[str, ...] = ()
    overlap: float | None = None
    standing: float | None = None
    adversaries: dict[str, float] = field(default_factory=dict[str, float])

    @property
    def tool_share(self) -> float:
        return self.covered_tools / max(1, self.tools)

    def as_toml(self) -> dict[str, Any]:
        """The numbers as `pack.toml` keeps them: nothing that was not measured, and keys that are text."""
        tree = {name: value for name, value in asdict(self).items() if value is not None}
        tree["plan_lengths"] = {str(length): count for length, count in self.plan_lengths.items()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in tree.items()}


def quality(
    pack: Pack,
    tools: Sequence[Tool],
    adversaries: Mapping[str, float] | None = None,
    standing: float | None = None,
) -> Quality:
    """Measure a pack for a server with `tools`. `adversaries` and `standing` are as in `Quality`."""
    used = {call.tool for scenario in pack for call in calls_of(scenario)}
    if any(scenario.reward_check for scenario in pack):
        used = {tool.name for tool in tools}  # no plan says which of them such a task takes
    named = {f"{call.tool}.{name}" for scenario in pack for call in calls_of(scenario) for name in call.arguments}
    parameters = {f"{tool.name}.{name}" for tool in tools for name in tool.input_schema.get("properties", {})}
    generated = [scenario for scenario in pack if scenario.suite != "people"]
    return Quality(
        train=len(pack.train),
        val=len(pack.val),
        test=len(pack.test),
        tools=len(tools),
        covered_tools=sum(tool.name in used for tool in tools),
        uncovered=tuple(tool.name for tool in tools if tool.name not in used),
        parameters=len(parameters),
        covered_parameters=len(parameters & named),
        kinds=dict(Counter(scenario.kind for scenario in generated).most_common()),
        plan_lengths=dict(sorted(Counter(len(scenario.plan) for scenario in generated).items())),
        forms=len({scenario.form for scenario in pack.train if scenario.form}),
        suites=dict(Counter(scenario.suite for scenario in pack.test)),
        alone=_alone(pack.train, tools),
        error_facts=tuple(scenario.request for scenario in generated if _states_an_error(scenario)),
        overlap=_overlap(pack),
        standing=standing,
        adversaries=dict(adversaries or {}),
    )


def saved_quality(pack: Pack) -> Quality | None:
    """The quality that a pack was saved with; `None` if it has none, or one of another version."""
    try:
        return TypeAdapter(Quality).validate_python(pack.quality)
    except ValidationError:
        return None


def reads_like_error(text: str) -> bool:
    """Whether a fact's text is a message about something that went wrong. A single word (a status) is none."""
    return len(text.split()) > 1 and (looks_like_error(text) or _ERROR.search(text) is not None)


def _overlap(pack: Pack) -> float | None:
    tasks, same = wording_overlap(pack.test, pack.train).get("forms", (0, 0))
    return same / tasks if tasks else None


def _alone(scenarios: Sequence[Scenario], tools: Sequence[Tool]) -> tuple[str, ...]:
    """The free texts that plans begin with and that have but one value in all of many tasks. A path is where the
    server's data are."""
    texts = {
        (tool.name, name)
        for tool in tools
        for name in tool.input_schema.get("required", ())
        if (schema := tool.input_schema["properties"].get(name, {})).get("type") == "string" and "enum" not in schema
    }
    values: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for first in (scenario.plan[0] for scenario in scenarios if scenario.plan):
        for name in first.arguments:
            values[first.tool, name][str(first.arguments[name])] += 1
    found = ((*where, [*values[where]]) for where in sorted(texts & {*values}) if values[where].total() >= _SEVERAL)
    return tuple(
        f"{tool}.{name} ({known[0]})" for tool, name, known in found if len(known) == 1 and "/" not in known[0]
    )


def _states_an_error(scenario: Scenario) -> bool:
    facts = [check.value for check in scenario.checks if isinstance(check, Fact)]
    return any(isinstance(value, str) and reads_like_error(value) for value in facts)


# --- the table --------------------------------------------------------------------------------------------------------


def as_table(measured: Quality) -> str:
    """The quality as a few lines of text, each a name and what was measured."""
    return "\n".join(f"{name:<12} {text}" for name, text in _rows(measured))


def _rows(measured: Quality) -> Iterator[tuple[str, str]]:
    without = f"; none for {_listed(measured.uncovered)}" if measured.uncovered else ""
    yield "tools", f"{measured.covered_tools} of {measured.tools} have tasks{without}"
    alone = f"; one value alone for {_listed(measured.alone)}: --values names more" if measured.alone else ""
    yield "parameters", f"{measured.covered_parameters} of {measured.parameters} are used by a task{alone}"
    yield "kinds", _shares(measured.kinds)
    lengths = {counted(length, "call"): count for length, count in measured.plan_lengths.items()}
    yield "plans", _shares(lengths)
    suites = ", ".join(f"{count} {suite}" for suite, count in measured.suites.items())
    yield "tests", f"{measured.test} ({suites or 'none'})"
    forms = f"{measured.forms} in training"
    if measured.overlap is not None:
        forms += f"; {measured.overlap:.0%} of the forms test's wordings stand in training (values blanked)"
    yield "forms", forms
    facts = f"{counted(len(measured.error_facts), 'task')} with an error message as a fact"
    if measured.standing is not None:
        facts += f"; {measured.standing:.0%} of a sample made before hold"
    yield "facts", facts
    if measured.adversaries:
        rates = ", ".join(f"{name} {rate:.0%}" for name, rate in measured.adversaries.items())
        yield "adversaries", f"{rates} of the tasks passed by cheating; each should stay below 10 %"


def _shares(counts: Mapping[str, int]) -> str:
    total = max(1, sum(counts.values()))
    return ", ".join(f"{name} {count / total:.0%}" for name, count in counts.items()) or "none"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


# --- the floor --------------------------------------------------------------------------------------------------------


def lacking(measured: Quality) -> list[str]:
    """Why the pack is below the floor, in sentences; empty if it is not."""
    reasons: list[str] = []
    if measured.tool_share < LEAST_TOOLS:
        reasons.append(
            f"only {measured.covered_tools} of {measured.tools} tools have tasks, half are needed (none for "
            f"{_listed(measured.uncovered)})"
        )
    if measured.train < LEAST_TASKS:
        reasons.append(f"only {counted(measured.train, 'training task')}, {LEAST_TASKS} are needed")
    if measured.error_facts:
        what = counted(len(measured.error_facts), "task")
        verb = "states" if len(measured.error_facts) == 1 else "state"
        reasons.append(f"{what} {verb} an error message as a fact, such as {measured.error_facts[0]!r}")
    return reasons


def require_floor(measured: Quality) -> None:
    """Raise `ScenarioError` with what the pack lacks and what the user can add, if it is below the floor."""
    if reasons := lacking(measured):
        raise ScenarioError(
            f"the tasks are not worth training on: {'; '.join(reasons)}. Give the generator more to work with: values "
            "that the tools take (--values), a request with its calls (--example), recorded calls (--traffic), tools "
            "that may be called (--allow-tool), data in the server, or tasks of your own (--pack); --small-pack goes "
            "on anyway"
        )
