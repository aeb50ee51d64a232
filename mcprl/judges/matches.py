"""Results of matches, which give two facts with owners at once: "Falcons 3-1 Otters", "they won 3-1"; and who won."""

import re
from collections.abc import Callable, Sequence

from mcprl.judges.mentions import Reading
from mcprl.judges.values import Place
from mcprl.types import Fact

_SCORE = re.compile(r"(?<![\w.,/-])(\d{1,3})\s?(?:-|:|\bto\b)\s?(\d{1,3})(?![\w:/-]|[.,]\d)")
_WON = re.compile(r"\b(?:won|wins?|beat|beats|defeated|defeats|winning|beating)\b(?! by\b)")
_LOST = re.compile(r"\b(?:lost|loses?|losing|(?:was|were) (?:beaten|defeated)|went down|fell)\b")
_IN_FAVOUR = re.compile(r"\s*(?:\w+ )?(?:to|for|in favou?r of)(?: the)? $")

_ASKS_WINNER = re.compile(
    r"\b(?:who|which|what)\b(?:\s+\w+){0,3}?\s+(?:won|wins|winning|leads|led|leading|(?:came|finished) first)\b"
)
_BEATEN = re.compile(r"\b(?:ahead of|in front of|beat|beats|beating|defeated|defeats|defeating)(?: the)?\s+[\"']?$")


def beaten(reading: Reading, own: Sequence[Place], others: Sequence[Place], request: str) -> bool:
    """Whether the answer to who won makes the right one the loser: "B won, 23 seconds ahead of A"."""
    if not own or not _ASKS_WINNER.search(request.lower()):
        return False
    told = [bool(_BEATEN.search(reading.text[:start])) for start, _ in own]
    return all(told) and any(end <= own[0][0] for _, end in others)


def score_objection(reading: Reading, facts: Sequence[Fact], named: Callable[[Fact], Sequence[Place]]) -> str | None:
    """What is wrong with the score in an answer that asks for two numbers, empty if nothing; `None` if it has none.

    The first number belongs to the owner who is named first, to the winner after "won" and before "for X"; without
    names the numbers stand in the order of the request.
    """
    score = _SCORE.search(reading.text)
    if len(facts) != 2 or score is None or not all(isinstance(fact.value, int | float) for fact in facts):
        return None
    outside = [n for n in reading.numbers if not score.start() <= n.start < score.end()]
    if any(number.value == fact.value for number in outside for fact in facts):
        return None
    told = [float(score[1]), float(score[2])]
    values = [float(fact.value) for fact in facts]
    if sorted(told) != sorted(values):
        return "not in the answer"
    swapped = "the answer gives the numbers to each other's owners"
    spots = sorted((place, owner) for owner, fact in enumerate(facts) for place in named(fact))
    best = values.index(max(values))
    favoured = [owner for place, owner in spots if _IN_FAVOUR.fullmatch(reading.text[score.end() : place[0]])]
    if favoured and not _LOST.search(reading.text):
        return "" if favoured[0] == best and told[0] == max(told) else swapped
    if not spots:
        return "" if told == values else swapped
    first = spots[0][1]
    if _LOST.search(reading.text):
        return "" if first != best else swapped
    if _WON.search(reading.text):
        return "" if first == best and told[0] == max(told) else swapped
    return "" if told[0] == values[first] else swapped
