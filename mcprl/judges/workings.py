"""Values that an answer may state beside the fact, since they show how it follows or are said along with it.

They are the operands of a computed number, the names of what was counted, one or two details in the same sentence, and
the parts of a thing's own name.
"""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from mcprl.judges.mentions import Reading, read
from mcprl.judges.values import Place, kind_of, tokens
from mcprl.types import Fact, Scalar

_COMPUTED = re.compile(
    r"[+*×=÷(]|\b(?:plus|minus|times|each|makes?|total|altogether|together|all|sum|difference|vs|versus|than|left|since|"
    r"normally|usually|regular|originally|off|discount)\b"
)
_MOST_OPERANDS = 12


def welcome(
    reading: Reading, fact: Fact, own: Sequence[Place], stated: Mapping[Scalar, Sequence[Place]], request: str = ""
) -> set[Scalar]:
    """Those of the `stated` values that may stand beside the fact's."""
    numbers = {value for value in stated if not isinstance(value, bool) and kind_of(value) == "number"}
    names = {value for value in stated if kind_of(value) == "word"}
    shown: set[Scalar] = set()
    if isinstance(fact.value, int | float) and not isinstance(fact.value, bool):
        computed = fact.derived or _COMPUTED.search(reading.text)
        operands = works_out(float(fact.value), reading, own, request) if computed else set[float]()
        if operands:
            shown |= {value for value in numbers if _amount(value) in operands}
            shown |= names if len(names) <= max(2, len(operands)) else set()
        named = {tokens(str(name)) for name in names}
        if fact.meaning in ("count", "number") and len(named) == fact.value and _after(own, stated, names):
            shown |= names
    return shown


def works_out(value: float, reading: Reading, own: Sequence[Place], request: str = "") -> set[float]:
    """The other numbers of a text if `value` follows from them by a sum, difference, product, quotient or mean; one of
    them may be the request's. Empty if it does not.
    """
    spots = set(own)
    beside = [number.value for number in reading.numbers if (number.start, number.end) not in spots]
    if not 0 < len(beside) <= _MOST_OPERANDS:
        return set()
    if len(beside) > 1 and _meets(value, (sum(beside), math.prod(beside), sum(beside) / len(beside))):
        return set(beside)
    asked = [number.value for number in read(request).numbers]
    for one, other in (*combinations(beside, 2), *((one, other) for one in beside for other in asked)):
        if _meets(value, follows(one, other)):
            return set(beside) if len(beside) <= 3 else {one, other}
    return set()


def follows(one: float, other: float) -> list[float]:
    """What two numbers give by a sum, difference, product or quotient, and as a percentage off or on top."""
    pairs = ((one, other), (other, one))
    quotients = [a / b for a, b in pairs if b]
    percent = [a * (1 + sign * b / 100) for a, b in pairs for sign in (1, -1) if 0 < b < 100]
    return [one + other, one - other, other - one, one * other, *quotients, *percent]


def names_owner(rival: Scalar, facts: Sequence[Fact]) -> bool:
    """Whether a value is a part of the name of something that the answer is about."""
    part = tokens(str(rival))
    return any(
        part == whole[start : start + len(part)]
        for whole in {tokens(fact.subject) for fact in facts if fact.subject}
        for start in range(len(whole) - len(part) + 1)
    )


def _meets(value: float, results: Sequence[float]) -> bool:
    return any(abs(value - result) <= 0.005 + 1e-9 * abs(value) for result in results)


def _amount(value: Scalar) -> float:
    numbers = read(str(value)).numbers
    return numbers[0].value if len(numbers) == 1 else math.nan


def _after(own: Sequence[Place], stated: Mapping[Scalar, Sequence[Place]], names: set[Scalar]) -> bool:
    return bool(own) and all(any(start >= own[0][1] for start, _ in stated[name]) for name in names)
