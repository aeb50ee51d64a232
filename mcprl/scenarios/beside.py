"""Requests that also name a thing they are not about, as people do: "Leave O-2041 alone. Mark O-2046 as packed.", or
correct themselves: "What does SKU-300 cost? Sorry, I mean SKU-301, not SKU-300."

Whoever takes every value of a request for an argument gets these wrong. The other thing is real, of the same split, and
of the same collection.
"""

import random
import re
from collections.abc import Callable, Iterable, Sequence

from mcprl.scenarios.wording import Worded
from mcprl.types import Scalar

SHARE = 0.3
"""The share of the requests with a code in them that get such a sentence."""
_BEFORE = {
    "beside/done-with": "I'm done with {other}, thank you.",
    "beside/can-wait": "{other} can wait.",
    "beside/sorted-out": "That's {other} sorted, thanks.",
}
_AFTER = {
    "beside/dealt-with": "I've dealt with {other} myself.",
    "beside/leave": "Please leave {other} as it is.",
    "beside/do-not-touch": "Don't touch {other}.",
    "beside/checked": "I've already checked {other}.",
    "beside/no-need": "No need to look at {other}.",
}
_OF_WRITES = frozenset(f"beside/{name}" for name in ("can-wait", "dealt-with", "leave", "do-not-touch"))
_OF_QUESTIONS = frozenset(f"beside/{name}" for name in ("checked", "no-need"))
_CORRECTED = {
    "beside/i-mean": "Sorry, I mean {code}, not {other}.",
    "beside/no-wait": "No, wait, {code}, not {other}.",
    "beside/wrong-number": "{other} is the wrong one, I meant {code}.",
    "beside/mixed-up": "Oops, I mixed them up: {code}, not {other}.",
    "beside/make-that": "Sorry, make that {code}.",
}
"""Behind a request that names the other thing in the place of its own."""
_GREETING = frozenset(("greeting", "casual"))
_THANKFUL = frozenset(("polite", "thanks", "hasty"))
_STORIES = frozenset(("idle", "next", "sorry", "urgent"))
"""Layers that say something beside the request already."""
_LETTERED = re.compile(r"([A-Z]{1,6})([-_#])(\d+)")
HASTY, CAREFUL = 0.6, 0.15
"""The share of the requests whose codes are spelled loosely, of those in small letters and of others."""
_CODE = re.compile(r"(?=[\w-]*\d)[A-Za-z]{1,6}[-_#]?\d[\w-]*")


def with_another(
    worded: Worded,
    entities: Sequence[Scalar],
    collections: Iterable[Iterable[Scalar]],
    rng: random.Random,
    allowed: Callable[[Scalar], bool],
    allowed_form: Callable[[str], bool],
    *,
    writes: bool = True,
) -> tuple[Worded, str]:
    """The request with a sentence about another thing, and that thing's code; unchanged with an empty text if it names
    not exactly one thing by a code, if it has two parts or says something beside already, or if no other thing or
    sentence is `allowed`.
    What is said of the other thing fits whether the request `writes`.
    """
    codes = [str(value) for value in entities if _CODE.fullmatch(str(value)) and str(value) in worded.request]
    layers = {*worded.form.split("+")[1:]}
    if len(codes) != 1 or worded.form.startswith("both/") or _STORIES & layers or rng.random() >= SHARE:
        return worded, ""
    taken = {str(value) for value in entities}
    others = sorted(
        {
            str(value)
            for values in map(list, collections)
            if codes[0] in values
            for value in values
            if _shape(str(value)) == _shape(codes[0]) and str(value) not in taken and allowed(value)
        }
    )
    misplaced = _OF_QUESTIONS if writes else _OF_WRITES
    if len(taken) > 1:  # which of them would be another
        misplaced |= {"beside/make-that"}
    if _GREETING & layers:  # a greeting comes first
        misplaced |= {*_BEFORE}
    if _THANKFUL & layers:  # who thanked has said all
        misplaced |= {*_AFTER, *_CORRECTED}
    sentences = [form for form in (*_BEFORE, *_AFTER, *_CORRECTED) if form not in misplaced and allowed_form(form)]
    if not others or not sentences:
        return worded, ""
    other, form = rng.choice(others), rng.choice(sentences)
    pattern = _BEFORE.get(form) or _AFTER.get(form) or _CORRECTED[form]
    request = worded.request.replace(codes[0], other) if form in _CORRECTED else worded.request
    if request[:1].islower():
        pattern = pattern[:1].lower() + pattern[1:]
    sentence = pattern.replace("{other}", other).replace("{code}", codes[0])
    mark = "" if request.endswith((".", "?", "!")) else "."
    parts = (sentence, request) if form in _BEFORE else (f"{request}{mark}", sentence)
    return Worded(" ".join(parts), f"{worded.form}+{form.partition('/')[2]}"), other


def _shape(code: str) -> str:
    return re.sub(r"\d+", "0", code)


def respelled(worded: Worded, entities: Sequence[Scalar], documented: str, rng: random.Random) -> Worded:
    """The request with its codes as people type them in haste: `sku-321` or `SKU 321` for `SKU-321`.

    Only codes whose form stands in what the tools say of themselves (`documented`): a reader can restore these.
    """
    careless = HASTY if worded.request == worded.request.lower() else CAREFUL
    if rng.random() >= careless:
        return worded
    request, spaced = worded.request, rng.random() < 0.4
    for code in map(str, entities):
        parts = _LETTERED.fullmatch(code)
        if parts and re.search(rf"\b{re.escape(parts[1] + parts[2])}\d", documented):
            request = request.replace(code, f"{parts[1]} {parts[3]}" if spaced else code.lower())
    return Worded(request, worded.form)
