"""Puts composed tasks into the words of a writer, where what it wrote passes the vetting."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcprl.events import Emit, Note
from mcprl.judges.checks import squash
from mcprl.scenarios.brief import Brief, lacking
from mcprl.scenarios.packs.handwritten import task_id
from mcprl.scenarios.writers import Writer
from mcprl.scenarios.writers.vet import counted_reasons, vet
from mcprl.text import counted
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
    kept = Counter[str]()
    for n, each in zip(chosen, vetted, strict=True):
        if each.request is None or squash(each.request) in requests:
            continue
        requests.add(squash(each.request))
        worded[n] = replace(scenarios[n], request=each.request, form=f"written/{writer.name}")
        worded[n] = replace(worded[n], id=task_id(worded[n]))
        kept[scenarios[n].kind] += 1
    reasons = "; ".join(f"{count} {reason}" for reason, count in counted_reasons(vetted).items())
    emit(Note(f"{kept.total()} of {counted(len(scenarios), 'request')} in the {writer.name} writer's words; {reasons}"))
    return worded


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
