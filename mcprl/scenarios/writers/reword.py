"""Puts composed tasks into the words of a writer, where what it wrote passes the vetting."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from mcprl.events import Emit, Note
from mcprl.judges.checks import squash
from mcprl.scenarios.brief import Brief, lacking
from mcprl.scenarios.packs.handwritten import task_id
from mcprl.scenarios.writers import Writer
from mcprl.scenarios.writers.vet import counted_reasons, vet
from mcprl.text import counted, words
from mcprl.types import Scenario

DRAWS = 3
"""Requests that are written for a brief."""
_WRITTEN = ("lookup", "chain", "list", "write", "missing")
"""Kinds of briefs that writers are asked for."""
_OWN_WORDS = ("conditional", "whether", "action")
"""Kinds of tasks whose point is their wording, and calls of which nobody knows what they are for."""


async def in_other_words(
    scenarios: Sequence[Scenario], briefs: Mapping[str, Brief], writer: Writer, emit: Emit
) -> list[Scenario]:
    """The tasks, each in words of the writer where one of its requests passes."""
    chosen = [n for n, each in enumerate(scenarios) if _can_be_written(each, briefs.get(each.id))]
    asked = [briefs[scenarios[n].id] for n in chosen]
    written = [
        [with_folders(request, scenarios[n], brief) for request in requests]
        for n, brief, requests in zip(chosen, asked, await writer.write(asked, DRAWS), strict=True)
    ]
    vetted = await vet(asked, written, writer)
    worded, requests = list(scenarios), {squash(each.request) for each in scenarios}
    kept, refused = dict[int, str](), list[tuple[int, str]]()
    for n, each, drawn in zip(chosen, vetted, written, strict=True):
        if each.request is None:
            refused += [(n, request) for request in drawn if request]
        if each.request is None or squash(each.request) in requests:
            continue
        requests.add(squash(each.request))
        worded[n] = replace(scenarios[n], request=each.request, form=f"written/{writer.name}")
        worded[n] = replace(worded[n], id=task_id(worded[n]))
        kept[n] = each.request
    reasons = "; ".join(f"{count} {reason}" for reason, count in counted_reasons(vetted).items())
    emit(Note(f"{len(kept)} of {counted(len(scenarios), 'request')} in the {writer.name} writer's words; {reasons}"))
    emit(Note(_shares(scenarios, chosen, kept, refused)))
    return worded


def _shares(
    scenarios: Sequence[Scenario], chosen: Sequence[int], kept: Mapping[int, str], refused: Sequence[tuple[int, str]]
) -> str:
    """What became of the tasks that a writer was asked for by kind and by number of calls, and whether the vetting
    prefers what says the same in the same words."""

    def by(group: Callable[[Scenario], str]) -> str:
        asked, passed = (Counter(group(scenarios[n]) for n in some) for some in (chosen, kept))
        return ", ".join(f"{name} {passed[name]} of {count}" for name, count in sorted(asked.items()))

    def alike(requests: Iterable[tuple[int, str]]) -> str:
        shared = [_overlap(scenarios[n].request, request) for n, request in requests]
        return f"{fmean(shared):.0%}" if shared else "none"

    return (
        f"written, by kind: {by(lambda task: task.kind)}; by calls: {by(lambda task: str(len(task.plan)))}; "
        f"words shared with the plain request: kept {alike(kept.items())}, refused {alike(refused)}"
    )


def _overlap(one: str, other: str) -> float:
    """The share of all different words of two requests that both have (Jaccard's index)."""
    first, second = {*words(one)}, {*words(other)}
    return len(first & second) / max(1, len(first | second))


def with_folders(request: str, scenario: Scenario, brief: Brief) -> str:
    """A request that lacks only the folders at the end of the plain one, with them: a writer seldom says where."""
    lacks = [str(value) for value in lacking(request, brief)]
    at_end = scenario.request.rstrip(".?!").endswith(f" in {' and '.join(lacks)}")
    if not request or not lacks or not at_end or not all(value.startswith("/") for value in lacks):
        return request
    mark = request[-1:] if request[-1:] in ".?!" else ""
    return f"{request.removesuffix(mark)} in {' and '.join(lacks)}{mark}"


def _can_be_written(scenario: Scenario, brief: Brief | None) -> bool:
    taught = brief is not None and brief.kind in _WRITTEN and bool(brief.steps)
    return taught and scenario.kind not in _OWN_WORDS
