"""Who is asking and how: greetings, small letters, typing errors, idle details (`data/personas.toml`)."""

import random
import re

from mcprl.scenarios.wording.grammar import capitalised
from mcprl.scenarios.wording.template import END, data, outside, tidy

PLAIN = "plain"
_QUESTION = re.compile(
    r"(?:(?:to|for|from|in|on|at|of|by|since|with) )?(?:what|which|who|whom|whose|when|where|how|why|is|are|was|were|"
    r"do|does|did|has|have|had|can|could|would|will|may|should|any)(?:'[a-z]+)?\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:please |I need |need |(?:add|append|book|bring|calculate|call|cancel|change|check|clear|close|compare|compute|"
    r"convert|copy|count|create|cross|delete|drop|enter|erase|find|fix|get|give|go|list|look|make|mark|move|name|note|"
    r"open|pick|pull|put|raise|record|remind|remove|rename|reopen|repeat|replace|save|say|search|send|set|show|start|"
    r"store|switch|take|tell|turn|update|work|write) )",
    re.IGNORECASE,
)
_SENTENCES = re.compile(rf'[.?!]["{END}]*\s+\S')
_NOTE = re.compile(r"(?:1|[aA])\)|\S+: ")
_FAVOUR = re.compile(r"(?:can|could|would|will) ", re.IGNORECASE)
_KEPT_CAPITAL = re.compile(r"I\b|[A-Z]{2,}|[A-Z]\d")
_NEIGHBOURS = {
    "a": "s",
    "e": "r",
    "i": "o",
    "o": "p",
    "n": "m",
    "t": "r",
    "s": "d",
    "r": "t",
    "l": "k",
    "u": "i",
    "h": "j",
}


def persona(rng: random.Random) -> str:
    """The id of a persona, by its weight."""
    table = data("personas")
    return rng.choices(list(table), [entry["weight"] for entry in table.values()])[0]


def mood(text: str) -> str:
    """`ask` for a question in one full sentence, `order` for an order in one, else empty: a fragment, or a story."""
    text = text.strip()
    if _SENTENCES.search(text):
        return ""
    if _QUESTION.match(text) and text.endswith("?"):
        return "ask"
    return "order" if _ORDER.match(text) and not text.endswith("?") else ""


def dress(
    name: str, request: str, rng: random.Random, *, writes: bool = False, looks: bool = True, short: bool = False
) -> str | None:
    """A marked request as the persona types it, `None` if it would not.

    `writes` says whether something is to be changed, `looks` whether something is to be looked up, `short` whether the
    request is no sentence.
    """
    text = sentence(request)
    entry = data("personas")[name]
    mark = text[-1] if text[-1] in "?.!" else ""
    kind = mood(text)
    patterns = [*entry.get("short" if short and "short" in entry else "say", ()), *entry.get(kind, ())]
    if kind and (writes or looks):
        patterns += entry.get("act" if writes else "look", ())
    if _FAVOUR.match(text):
        patterns = [pattern for pattern in patterns if "question" not in pattern]
    if not patterns:
        return None
    pattern = rng.choice(patterns)
    if _NOTE.match(text):  # nobody greets in front of a list's number, or is polite in a note
        pattern = "{text}"
    if "please" in pattern.lower() and ("please" in text.lower() or text.startswith("I'm ")):
        pattern = "{text}"
    if ":" in pattern and ":" in text:  # one colon is enough
        pattern = "{text}"
    text = (
        pattern.replace("{text}", text)
        .replace("{low}", small(text))
        .replace("{cut}", text.rstrip("?.!") if mark else text)
        .replace("{mark}", mark or ".")
    )
    text = text if entry.get("lower") else capitalised(text)
    if entry.get("lower"):
        text = "".join(piece.lower() if free else piece for free, piece in outside(text))
    for _ in range(entry.get("typos", 0)):
        text = _with_typo(text, rng)
    return tidy(text)


def sentence(text: str) -> str:
    """Capitals after full stops and question marks."""
    free_text = re.compile(r"(?<=[.?!] )([a-z])")
    text = "".join(free_text.sub(lambda m: m[1].upper(), piece) if free else piece for free, piece in outside(text))
    text = re.sub(rf'([.?!]"?{END})\.', r"\1", text)
    if not re.search(rf'[.?!]"?{END}?$', text):
        text += "."
    return capitalised(text)


def small(text: str) -> str:
    """A sentence with a small first letter, unless its first word keeps its capital."""
    return text if _KEPT_CAPITAL.match(text) else text[:1].lower() + text[1:]


def _with_typo(text: str, rng: random.Random) -> str:
    """A text with two letters swapped, one dropped, doubled or hit beside, in a word of at least five."""
    spots = [
        (i, match.start(), match.end())
        for i, (free, piece) in enumerate(outside(text))
        if free
        for match in re.finditer(r"\b(?!asap\b)[a-z]{5,}\b", piece)
    ]
    if not spots:
        return text
    pieces = [piece for _, piece in outside(text)]
    i, start, end = rng.choice(spots)
    word = pieces[i][start:end]
    at = rng.randrange(1, len(word) - 1)
    ways = (
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
        word[:at] + _NEIGHBOURS.get(word[at], word[at]) + word[at + 1 :],
    )
    pieces[i] = pieces[i][:start] + rng.choice(ways) + pieces[i][end:]
    return "".join(pieces)
