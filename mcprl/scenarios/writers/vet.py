"""Keeps, of the requests that were written for a brief, the best that asks for just what the brief says.

By rule, every value that the plan needs is said, and nothing is given away. By likelihood, a request must fit its own
brief better than its siblings: the same calls with another option of a tool, another field of the result asked for, or
the other extreme.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcprl.scenarios.brief import Brief, BriefedCall, lacking, leaking, written_for
from mcprl.scenarios.writers import Writer
from mcprl.text import stems
from mcprl.types import Scalar

MOST_LETTERS = 240
MOST_SIBLINGS = 3
MARGIN = 0.1
"""By how much a request must fit its own brief better than any sibling: nats per token, where likelihoods tell. Of
210 pairs of written requests that differ in what they ask for 91 % of the right ones pass it and 5 % of the wrong, as a
little model that was taught to write them finds them likely (`recipes/nano/writer.py judge`)."""
_OPPOSITES = (("highest", "lowest"), ("latest", "earliest"), ("higher", "lower"), ("later", "earlier"))
_INVENTED = re.compile(r"\b[A-Z]{1,5}-?\d{2,}\b|\b\d{3,}\b")
"""Codes and numbers, which a request must have from its brief."""


@dataclass(frozen=True)
class Vetted:
    """The request that was chosen for a brief, `None` if none passes, and why the others did not."""

    request: str | None
    refused: tuple[str, ...]


def fault(request: str, brief: Brief) -> str:
    """Why a request cannot stand for its brief, by rule; empty if nothing speaks against it."""
    if not request or len(request) > MOST_LETTERS or "\n" in request:
        return "empty or too long"
    if lacking(request, brief):
        return "lacks a value"
    if leaking(request, brief):
        return "gives something away"
    if brief.kind == "write" and any(_is_bare(name, value, request, brief) for name, value in _written(brief)):
        return "does not say what a value is"
    given = written_for(replace(brief, answer="")) + " ".join(str(value) for value in (*brief.said, *brief.meant))
    if any(code not in given for code in _INVENTED.findall(request)):
        return "a code or number of its own"
    return ""


def _written(brief: Brief) -> Sequence[tuple[str, object]]:
    return [(name, value) for name, value in brief.steps[-1].arguments.items() if value in brief.said]


def _is_bare(name: str, value: object, request: str, brief: Brief) -> bool:
    """Whether a number or a date is written without a word of what it is: neither its parameter's nor its tool's."""
    told = {*stems(request)} & {*stems(name), *stems(brief.steps[-1].tool)}
    return not re.search(r"[^\W\d_]", str(value)) and not told


def siblings(brief: Brief) -> list[Brief]:
    """Briefs that differ from this one in what they ask for: another option of a tool, one field of two, another field
    of the last result, the other extreme."""
    made = [_with_option(brief, value, other) for value, other in brief.instead]
    found = {value for step in brief.steps for _, value in step.found}
    if len(brief.asked) == 2:
        made += [_asking_only(brief, *fact) for fact in brief.asked]
    if len(brief.asked) == 1 and brief.asked[0][1] in found and brief.kind in ("lookup", "chain", "list"):
        made += [_asking(brief, label, value) for label, value in brief.others]
    for one, other in _OPPOSITES:
        for word, opposite in ((one, other), (other, one)):
            if f" {word} " in brief.answer:
                made.append(replace(brief, answer=brief.answer.replace(f" {word} ", f" {opposite} ")))
    return [sibling for sibling in made if written_for(sibling) != written_for(brief)][:MOST_SIBLINGS]


def _with_option(brief: Brief, value: Scalar, other: Scalar) -> Brief:
    """The brief with another option of a tool in place of one."""
    given = [{k: _swapped(v, value, other) for k, v in step.arguments.items()} for step in brief.steps]
    steps = tuple(replace(step, arguments=made) for step, made in zip(brief.steps, given, strict=True))
    return replace(brief, steps=steps, answer=brief.answer.replace(str(value), str(other)))


def _swapped(argument: object, value: Scalar, other: Scalar) -> object:
    if isinstance(argument, list):
        return [_swapped(each, value, other) for each in argument]  # pyright: ignore[reportUnknownVariableType]
    return other if argument == value else argument


def _asking_only(brief: Brief, label: str, value: Scalar) -> Brief:
    """The brief with one of its facts asked for and not the other."""
    dropped = [other for name, other in brief.asked if (name, other) != (label, value)]
    steps = [replace(step, found=tuple(each for each in step.found if each[1] not in dropped)) for step in brief.steps]
    halves = [half for half in brief.answer.rstrip(".").split(" and ") if str(value) in half]
    answer = f"{halves[0][:1].upper()}{halves[0][1:]}." if len(halves) == 1 else f"The {label} is {value}."
    return replace(brief, steps=tuple(steps), asked=((label, value),), answer=answer)


def _asking(brief: Brief, label: str, value: Scalar) -> Brief:
    """The brief with another field asked for in place of its one."""
    name, old = brief.asked[0]
    told = brief.answer.replace(str(name), label).replace(str(old), str(value))
    answer = told if str(name) in brief.answer and str(old) in brief.answer else f"The {label} is {value}."
    steps: list[BriefedCall] = []
    for step in brief.steps:
        found = tuple((label, value) if held == old else (key, held) for key, held in step.found)
        steps.append(replace(step, found=found))
    return replace(brief, steps=tuple(steps), asked=((label, value),), answer=answer)


async def vet(briefs: Sequence[Brief], written: Sequence[Sequence[str]], writer: Writer) -> list[Vetted]:
    """For each brief the best of its requests that passes."""
    reasons: list[list[str]] = [[] for _ in briefs]
    left: list[tuple[int, str]] = []
    for n, (brief, requests) in enumerate(zip(briefs, written, strict=True)):
        for request in dict.fromkeys(requests):
            why = fault(request, brief)
            if why:
                reasons[n].append(why)
            else:
                left.append((n, request))
    contrasts = [(request, [written_for(each) for each in (briefs[n], *siblings(briefs[n]))]) for n, request in left]
    best: dict[int, tuple[float, str]] = {}
    for (n, request), (_, shown), margin in zip(left, contrasts, await writer.margins(contrasts), strict=True):
        if len(shown) > 1 and margin < MARGIN:
            reasons[n].append("fits a sibling as well")
        elif n not in best or margin > best[n][0]:
            best[n] = (margin, request)
    return [Vetted(best[n][1] if n in best else None, tuple(reasons[n])) for n in range(len(briefs))]


def counted_reasons(vetted: Sequence[Vetted]) -> dict[str, int]:
    """How often each reason spoke against a request, the most frequent first."""
    return dict(Counter(reason for each in vetted for reason in each.refused).most_common())
