"""Keeps the values of the tasks that a person wrote to test with out of the generated training tasks."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache

from mcprl.judges.checks import holds, leaves, squash
from mcprl.scenarios.slots import slots
from mcprl.types import CallMade, Fact, Scalar, Scenario, StateHolds, Tool

_CATEGORY_THINGS = 3
"""A fact that is stated of so many different things is a category (a status, a supplier), which gives no test task
away."""


def excluded_values(scenarios: Iterable[Scenario], tools: Iterable[Tool]) -> frozenset[str]:
    """What must not stand in training if `scenarios` are to test it: their values, facts and requests.

    Values that a tool's schema lists are left out: every task may use them.
    """
    listed = {squash(str(choice)) for tool in tools for slot in slots(tool) for choice in slot.choices}
    excluded: set[str] = set()
    for scenario in scenarios:
        excluded.add(squash(scenario.request))
        excluded.update(map(squash, scenario.values))
        for check in scenario.checks:
            if isinstance(check, Fact) and not isinstance(check.value, bool):
                excluded.add(squash(str(check.value)))
            elif isinstance(check, CallMade | StateHolds):
                excluded.update(_texts(check.arguments))
    return frozenset(value for value in excluded - listed if len(value) > 1)


def taken(excluded: frozenset[str]) -> Callable[[str], bool]:
    """Whether a value (`squash`ed) is an excluded one, or stands in an excluded text (a request)."""
    texts = [value for value in excluded if " " in value]
    return cache(lambda value: value in excluded or any(holds(text, value) for text in texts))


def without(scenarios: Iterable[Scenario], excluded: frozenset[str]) -> list[Scenario]:
    """The scenarios, except those of training and validation that use an excluded value, or ask an excluded request.

    An entity value is used if it is `taken`; a fact is used if it equals an excluded value, unless it is stated of so
    many things that it is a category.
    """
    scenarios = list(scenarios)
    is_taken = taken(excluded)
    things: dict[str, list[frozenset[str]]] = {}
    for scenario in scenarios:
        for fact in _facts(scenario) & excluded:
            others, named = things.setdefault(fact, []), frozenset(scenario.values or map(str, scenario.plan))
            if all(named.isdisjoint(other) for other in others):
                others.append(named)
    facts = {value for value in excluded if len(things.get(value, ())) < _CATEGORY_THINGS}
    return [
        scenario
        for scenario in scenarios
        if scenario.split == "test"
        or not (
            squash(scenario.request) in excluded
            or any(is_taken(squash(value)) for value in scenario.values)
            or _facts(scenario) & facts
        )
    ]


def _facts(scenario: Scenario) -> set[str]:
    return {squash(str(check.value)) for check in scenario.checks if isinstance(check, Fact)}


def _texts(arguments: Mapping[str, Scalar]) -> set[str]:
    return {squash(value) for _, value in leaves(arguments) if isinstance(value, str)}
