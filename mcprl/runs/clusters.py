"""Which test tasks stand together: the ways in which tasks are clustered for an interval."""

from collections.abc import Callable, Hashable, Sequence
from typing import Final

from mcprl.types import CallMade, Fact, Scenario

FEWEST: Final = 8
"""A clustering other than by task or by form and tools needs this many clusters: fewer say too little about new ones,
and the figures then hold for these forms, plans or entities alone."""


def tools_of(scenario: Scenario) -> list[str]:
    """The tools of the task's plan, or, without a plan, those whose calls its checks require."""
    planned = {call.tool for call in scenario.plan}
    return sorted(planned or {check.tool for check in scenario.checks if isinstance(check, CallMade)})


def task(scenario: Scenario) -> Hashable:
    """What makes two tasks one, also if two runs have them under different ids."""
    return scenario.request, repr(scenario.plan), repr(scenario.setup)


def form(scenario: Scenario) -> Hashable:
    """The construction of the request. A task without a form is one of its own."""
    return scenario.form or task(scenario)


def form_and_tools(scenario: Scenario) -> Hashable:
    return form(scenario), tuple(tools_of(scenario))


def tools_and_fields(scenario: Scenario) -> Hashable:
    """The tools and what is asked for: the fields, else the kind of the task. A task without plan and tools is one of
    its own, and so is one that the server scores, whose plan is but one way."""
    if scenario.reward_check:
        return task(scenario)
    asked = sorted({check.name for check in scenario.checks if isinstance(check, Fact)}) or [scenario.kind]
    tools = tools_of(scenario)
    return (tuple(tools), tuple(asked)) if tools else task(scenario)


def plan_shape(scenario: Scenario) -> Hashable:
    """The tools of the plan in order. A task without plan and tools is one of its own, as is one that the server
    scores."""
    if scenario.reward_check:
        return task(scenario)
    return tuple(call.tool for call in scenario.plan) or tuple(tools_of(scenario)) or task(scenario)


def entity(scenario: Scenario) -> Hashable:
    """The first of the task's entity values. A task without one is one of its own."""
    return scenario.values[0] if scenario.values else task(scenario)


BY: Final[dict[str, Callable[[Scenario], Hashable]]] = {
    "task": task,
    "form and tools": form_and_tools,
    "form": form,
    "tools and fields": tools_and_fields,
    "plan shape": plan_shape,
    "entity": entity,
}


def clusterings(scenarios: Sequence[Scenario]) -> dict[str, list[Hashable]]:
    """The label of each task's cluster, by the name of the clustering.

    By task always; by form and tools if there are two clusters at least; by the others if there are `FEWEST`. A
    clustering in which every task is a cluster of its own says nothing new and is left out.
    """
    found: dict[str, list[Hashable]] = {}
    for name, label in BY.items():
        labels = [label(scenario) for scenario in scenarios]
        fewest = 2 if name == "form and tools" else FEWEST
        if name == "task" or fewest <= len(set(labels)) < len(labels):
            found[name] = labels
    return found
